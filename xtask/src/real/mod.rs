//! The stage 'real control plane': the scenario suite on a Kubernetes of its own, with the operator
//! under exactly the rights that `sluice install` gives it.

mod built;
mod far_side;
mod rights;

use crate::tally::Tally;
use crate::{controlplane, stage};
use anyhow::Context;
use far_side::{Operator, Plane, tail};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// What holds for the suite unless the caller's environment says otherwise: most scenarios wait most
/// of the time, and two busy cores make everything a few times slower than it is alone.
const SETTINGS: [(&str, &str); 2] =
    [("SLUICE_SCENARIOS_AT_ONCE", "24"), ("SLUICE_SCENARIOS_PATIENCE", "4")];

/// How the stage ended, if nothing failed.
pub(crate) enum Ending {
    Passed,
    /// Nothing ran; the words say why, and what to add.
    LeftOut(&'static str),
}

/// Runs it. The error is all there is to say; then its directory stays, with every log.
pub(crate) fn run(tally: &mut Tally) -> Result<Ending, String> {
    let program = match controlplane::program() {
        Ok(Some(program)) => program,
        Ok(None) => return Ok(Ending::LeftOut(controlplane::WITHOUT_GO)),
        Err(error) => return Err(format!("{error:#}")),
    };
    let directory = fresh().map_err(|error| format!("{error:#}"))?;
    let outcome = in_directory(&program, &directory, tally);
    if outcome.is_ok() {
        // What is left of it is only a nuisance.
        let _ = std::fs::remove_dir_all(&directory);
        return Ok(Ending::Passed);
    }
    outcome.map(|()| Ending::Passed).map_err(|error| {
        format!("{error:#}\nall logs, and the state of the cluster, are in {}", directory.display())
    })
}

/// A new directory that only this user can read: private keys are going to lie there.
fn fresh() -> anyhow::Result<PathBuf> {
    let path = std::env::temp_dir().join(format!("sluice-real-{}", std::process::id()));
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&path).with_context(|| path.display().to_string())?;
    Ok(path)
}

/// Everything that was started is down again when this returns.
fn in_directory(program: &Path, directory: &Path, tally: &mut Tally) -> anyhow::Result<()> {
    let begun = stage::watch();
    let built = built::programs()?;
    println!("       {:>7}  the operator and the scenarios are built", stage::elapsed(begun));
    let plane = Plane::up(program, directory)?;
    plane.install(&built.sluice)?;
    let mut operator = Operator::start(&built, &plane, directory)?;
    let suite = suite(&built.scenarios, &plane.directory.join("kubeconfig"), tally);
    let outcome = suite.and_then(|()| operator.still_runs()).and_then(|()| {
        let audit = plane.directory.join("audit.jsonl");
        let log = File::open(&audit).with_context(|| audit.display().to_string())?;
        rights::suffice(BufReader::new(log))
    });
    outcome.with_context(|| format!("the operator's last words:\n{}", tail(&operator.log)))
}

/// The scenarios, each of which is counted; the error is what those said that failed.
fn suite(program: &Path, kubeconfig: &Path, tally: &mut Tally) -> anyhow::Result<()> {
    let mut command = Command::new(program);
    for (name, value) in SETTINGS {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    let mut child = command
        .env("SLUICE_SCENARIOS_KUBECONFIG", kubeconfig)
        .env("SLUICE_SCENARIOS_ADMISSION", "true")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| program.display().to_string())?;
    let begun = stage::watch();
    let mut spoke = begun;
    let (mut held, mut said) = (0, Vec::new());
    let stdout = child.stdout.take().expect("it was piped a moment ago");
    for line in BufReader::new(stdout).lines() {
        let line = line.context("output of the scenarios")?;
        tally.take(&line);
        if line.starts_with("ok ") {
            held += 1;
        } else {
            println!("       {:>7}  {line}", stage::elapsed(begun));
            said.push(line);
            spoke = stage::watch();
        }
        if spoke.elapsed() > Duration::from_secs(20) {
            println!("       {:>7}  {held} scenarios hold so far", stage::elapsed(begun));
            spoke = stage::watch();
        }
    }
    let status = child.wait().context("the scenarios")?;
    anyhow::ensure!(status.success(), "the scenarios ended with {status}:\n{}", said.join("\n"));
    anyhow::ensure!(held > 0, "no scenario ran");
    Ok(())
}
