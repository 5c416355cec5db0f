//! Stages that are one program of tests on a control plane of its own.

use crate::run::{Ending, Run};
use crate::stage::{self, Outcome, Output};
use crate::workspace;
use std::path::Path;
use std::process::Command;

/// What is played of the faults when not all of them are asked for.
/// Those whose moments depend least on how busy the machine is.
pub(crate) const SOME_FAULTS: &str = "killed,cut";

/// The stage 'faults': parts of the cluster and the operator fail.
pub(crate) fn faults(run: &mut Run) -> Result<Ending, String> {
    on_control_plane(run, "faults", |run, program, directory| {
        let built = run.built()?.clone();
        let mut test = at_home(&built.faults, "tests/scenarios");
        test.arg("--nocapture")
            .env("SLUICE_CONTROLPLANE", program)
            .env("SLUICE_BIN", &built.sluice)
            .env("TMPDIR", directory);
        if !run.all_faults && std::env::var_os("SLUICE_FAULTS_ONLY").is_none() {
            test.env("SLUICE_FAULTS_ONLY", SOME_FAULTS);
        }
        Ok((test, Output::Shown))
    })
}

/// The stage 'differential': the embedded cluster beside a real one.
pub(crate) fn differential(run: &mut Run) -> Result<Ending, String> {
    for (index, part) in ["requests", "workloads", "kubectl"].into_iter().enumerate() {
        let name = format!("differential-{part}");
        let ending = on_control_plane(run, &name, |run, program, directory| {
            let mut test = at_home(&run.built()?.beside[index], "tests/differential");
            test.arg("--nocapture").env("SLUICE_CONTROLPLANE", program).env("TMPDIR", directory);
            Ok((test, Output::Held))
        })?;
        if matches!(ending, Ending::LeftOut(_)) {
            return Ok(ending);
        }
    }
    Ok(Ending::Passed)
}

/// A program of tests as cargo runs it.
fn at_home(program: &Path, package: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(workspace::root().join(package));
    command
}

/// Runs what `command` makes of the control plane's program and a new directory.
pub(crate) fn on_control_plane(
    run: &mut Run,
    name: &str,
    command: impl FnOnce(&mut Run, &Path, &Path) -> Result<(Command, Output), String>,
) -> Result<Ending, String> {
    let program = match run.control_plane()? {
        Ok(program) => program,
        Err(why) => return Ok(Ending::LeftOut(why)),
    };
    run.built()?;
    let directory = run.directory(name)?;
    let (command, shown) = command(run, &program, &directory)?;
    let outcome = stage::run(&command, shown).map_err(|error| format!("{error:#}"))?;
    let Outcome { success, output, tally } = outcome;
    run.tally.passed += tally.passed;
    run.tally.failed += tally.failed;
    if success {
        // Without its setting such a program passes, and has tried nothing.
        let verdict = |line: &str| line.trim_start().starts_with("ok ");
        let tried = name != "faults" || output.lines().any(verdict);
        let nothing = || format!("{name}: nothing was tried:\n{output}");
        return if tried { Ok(Ending::Passed) } else { Err(nothing()) };
    }
    // What was shown as it came is not shown again.
    Err(if shown == Output::Shown { String::new() } else { output })
}
