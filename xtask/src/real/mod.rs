//! The stage 'real': the scenario suite on a Kubernetes of its own, with the operator under exactly
//! the rights that `sluice install` gives it; then a part of it once more with operators that have
//! rights in one namespace alone.
//!
//! What runs is a task of this program of its own, under a guard, so that nothing of it is left
//! whatever becomes of the run.

pub(crate) mod built;
mod confined;
mod far_side;
mod rights;

use crate::guard;
use crate::run::{Ending, Run};
use crate::stage::{self, Output};
use anyhow::{Context, bail};
use far_side::{Operator, Plane, Serves, tail};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// What holds for the suite unless the caller's environment says otherwise: most scenarios wait most
/// of the time, and two busy cores make everything a few times slower than it is alone.
const SETTINGS: [(&str, &str); 2] =
    [("SLUICE_SCENARIOS_AT_ONCE", "24"), ("SLUICE_SCENARIOS_PATIENCE", "4")];

/// The task of this program that is the stage.
pub(crate) const TASK: &str = "on-a-real-control-plane";

/// Runs the stage.
pub(crate) fn stage(run: &mut Run) -> Result<Ending, String> {
    crate::suite::on_control_plane(run, "real", |run, program, directory| {
        let built = run.built()?.clone();
        let this = guard::this_program().map_err(|error| format!("{error:#}"))?;
        let mut task = Command::new(this);
        task.arg(TASK).arg(program).arg(directory).arg(built.sluice).arg(built.scenarios);
        Ok((task, Output::Shown))
    })
}

/// What the stage runs with.
struct Given {
    /// The control plane's program.
    program: PathBuf,
    /// All that is written goes there.
    directory: PathBuf,
    sluice: PathBuf,
    scenarios: PathBuf,
}

/// The task itself.
pub(crate) fn task(words: &[OsString]) -> anyhow::Result<()> {
    let [program, directory, sluice, scenarios] = words else {
        bail!("{TASK} takes a control plane's program, a directory, `sluice` and the scenarios");
    };
    let path = |word: &OsString| PathBuf::from(word);
    let given = Given {
        program: path(program),
        directory: path(directory),
        sluice: path(sluice),
        scenarios: path(scenarios),
    };
    let plane = Plane::up(&given, confined::users())?;
    let whole = Serves::everything();
    plane.install(&given.sluice, &whole)?;
    let mut operator = Operator::start(&given, &plane, &whole)?;
    let outcome = suite(&given, &plane, &[("SLUICE_SCENARIOS_ADMISSION", "true")]);
    outcome
        .and_then(|()| operator.still_runs())
        .with_context(|| format!("the operator's last words:\n{}", tail(&operator.log)))?;
    let mut accounts = vec![whole.account()];
    if std::env::var_os("SLUICE_SCENARIOS_ONLY").is_none() {
        // Otherwise there would be two for one rollout.
        drop(operator);
        plane.uninstall(&given.sluice)?;
        accounts.extend(confined::run(&given, &plane)?);
    }
    let audit = plane.directory.join("audit.jsonl");
    let log = File::open(&audit).with_context(|| audit.display().to_string())?;
    rights::suffice(BufReader::new(log), &accounts)
}

/// Runs scenarios; libtest's closing line goes through, by which they are counted.
fn suite(given: &Given, plane: &Plane, settings: &[(&str, &str)]) -> anyhow::Result<()> {
    let mut command = Command::new(&given.scenarios);
    for (name, value) in SETTINGS {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    let mut child = command
        .env("SLUICE_SCENARIOS_KUBECONFIG", plane.directory.join("kubeconfig"))
        .envs(settings.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| given.scenarios.display().to_string())?;
    let begun = stage::watch();
    let mut spoke = begun;
    let (mut held, mut said) = (0, Vec::new());
    let stdout = child.stdout.take().expect("it was piped a moment ago");
    for line in BufReader::new(stdout).lines() {
        let line = line.context("output of the scenarios")?;
        if line.starts_with("ok ") {
            held += 1;
        } else if line.starts_with("test result: ") {
            println!("{line}");
        } else if !line.is_empty() {
            stage::say(begun, &line);
            said.push(line);
            spoke = stage::watch();
        }
        if spoke.elapsed() > Duration::from_secs(20) {
            stage::say(begun, &format!("{held} scenarios hold so far"));
            spoke = stage::watch();
        }
    }
    let status = child.wait().context("the scenarios")?;
    anyhow::ensure!(status.success(), "the scenarios ended with {status}:\n{}", said.join("\n"));
    anyhow::ensure!(held > 0, "no scenario ran");
    stage::say(begun, &format!("{held} scenarios hold"));
    Ok(())
}
