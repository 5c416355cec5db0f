//! `cargo xtask test`: every stage in turn, the first failure ends it.

use crate::run::{Ending, Run};
use crate::stage::{Outcome, Output};
use crate::{floors, go, interrupt, real, stage, suite};
use anyhow::bail;
use std::process::ExitCode;

/// What a stage does: cargo with arguments, a check of this program, or something of its own.
enum Work {
    Cargo(&'static [&'static str]),
    Own(fn() -> anyhow::Result<()>),
    With(fn(&mut Run) -> Result<Ending, String>),
}

/// Cheap ones first, so that a slip shows in seconds.
const STAGES: &[(&str, Work)] = &[
    ("format", Work::Cargo(&["fmt", "--all", "--", "--check", "--color", "never"])),
    ("floors", Work::Own(floors::check)),
    (
        "clippy",
        Work::Cargo(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "--deny",
            "warnings",
        ]),
    ),
    ("build", Work::With(build)),
    ("tests", Work::Cargo(&["test", "--workspace", "--lib", "--bins", "--tests", "--locked"])),
    ("doc tests", Work::Cargo(&["test", "--workspace", "--doc", "--locked"])),
    ("go", Work::With(go::own_tests)),
    ("facts", Work::With(go::facts)),
    ("real", Work::With(real::stage)),
    ("faults", Work::With(suite::faults)),
    ("differential", Work::With(suite::differential)),
];

/// Those that begin with a program in Go, which is built beside whatever comes first.
const ON_CONTROL_PLANE: &[&str] = &["build", "go", "facts", "real", "faults", "differential"];

/// Everything is built before anything is run, so that tests have the machine to themselves.
fn build(run: &mut Run) -> Result<Ending, String> {
    run.built()?;
    // Why there may be none is told where it is wanted.
    let _ = run.control_plane()?;
    Ok(Ending::Passed)
}

/// Which stages run.
#[derive(Debug, Default, PartialEq, Eq)]
struct Choice<'a> {
    skip: Vec<&'a str>,
    only: Vec<&'a str>,
    all_faults: bool,
}

impl<'a> Choice<'a> {
    /// By the flags of the command: `--skip` and `--only`, each with the beginning of a name.
    fn read(flags: &[&'a str]) -> anyhow::Result<Self> {
        let mut choice = Self::default();
        let mut rest = flags;
        while let [flag, after @ ..] = rest {
            rest = after;
            if *flag == "--faults" {
                choice.all_faults = true;
                continue;
            }
            let ([name, after @ ..], true) = (after, matches!(*flag, "--skip" | "--only")) else {
                bail!("test takes --skip STAGE, --only STAGE and --faults, not {flag:?}");
            };
            rest = after;
            if !STAGES.iter().any(|(stage, _)| stage.starts_with(name)) {
                let names: Vec<&str> = STAGES.iter().map(|(stage, _)| *stage).collect();
                bail!("no stage begins with {name:?}; there are: {}", names.join(", "));
            }
            if *flag == "--skip" {
                choice.skip.push(name);
            } else {
                choice.only.push(name);
            }
        }
        Ok(choice)
    }

    fn runs(&self, stage: &str) -> bool {
        let named = |list: &[&str]| list.iter().any(|name| stage.starts_with(name));
        !named(&self.skip) && (self.only.is_empty() || named(&self.only))
    }
}

/// Runs the stages that the flags leave.
pub(crate) fn chosen(flags: &[&str]) -> anyhow::Result<ExitCode> {
    let choice = Choice::read(flags)?;
    interrupt::listen()?;
    let mut run = Run::new(choice.all_faults);
    let code = stages(&choice, &mut run);
    run.stop();
    let Run { tally, .. } = run;
    println!("{} passed, {} failed", tally.passed, tally.failed);
    Ok(interrupt::code().unwrap_or(code))
}

/// Runs them. The last line printed after this is `N passed, N failed`, alone; a stage that fails
/// without a failed test (a format slip, a crate that doesn't compile) counts as one failure. A stage
/// that is left out counts nothing, and is named at the end.
fn stages(choice: &Choice<'_>, run: &mut Run) -> ExitCode {
    let begun = stage::watch();
    let (mut asked, mut missing) = (Vec::new(), Vec::new());
    if ON_CONTROL_PLANE.iter().any(|stage| choice.runs(stage)) {
        run.build_control_plane();
    }
    for (number, (name, work)) in STAGES.iter().enumerate() {
        if !choice.runs(name) {
            asked.push(*name);
            continue;
        }
        println!("[{}/{}]  {:>7}  {name}", number + 1, STAGES.len(), stage::elapsed(begun));
        match one(work, run) {
            Ok(Ending::Passed) => run.forget(name),
            Ok(Ending::LeftOut(why)) => missing.push(format!("left out: {name}, {why}")),
            Err(output) => {
                if interrupt::code().is_none() {
                    println!("{}", output.trim_end());
                }
                println!("{name} failed after {}", stage::elapsed(begun));
                if let Some(logs) = run.logs() {
                    println!("its logs, and the state of the cluster, are in {}", logs.display());
                }
                run.tally.failed = run.tally.failed.max(1);
                return ExitCode::FAILURE;
            }
        }
    }
    if !asked.is_empty() {
        println!("left out: {}", asked.join(", "));
    }
    for line in &missing {
        println!("{line}");
    }
    let ran = STAGES.len() - asked.len() - missing.len();
    println!("{ran} of {} stages passed after {}", STAGES.len(), stage::elapsed(begun));
    ExitCode::SUCCESS
}

/// One stage; the error is all that it printed.
fn one(work: &Work, run: &mut Run) -> Result<Ending, String> {
    let words = |error: anyhow::Error| format!("{error:#}");
    interrupt::refuse().map_err(words)?;
    match work {
        Work::Own(check) => check().map_err(words)?,
        Work::Cargo(arguments) => {
            let outcome = stage::run(stage::cargo().args(*arguments), Output::Held);
            let Outcome { success, output, tally } = outcome.map_err(words)?;
            run.tally.passed += tally.passed;
            run.tally.failed += tally.failed;
            if !success {
                return Err(output);
            }
        }
        Work::With(work) => return work(run),
    }
    Ok(Ending::Passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_pick_the_stages_that_run() {
        fn check(flags: &[&str], expect: &[&str]) {
            let choice = Choice::read(flags).unwrap();
            let runs = STAGES.iter().map(|(name, _)| *name).filter(|name| choice.runs(name));
            assert_eq!(runs.collect::<Vec<_>>(), expect, "{flags:?}");
        }
        let all = [
            "format",
            "floors",
            "clippy",
            "build",
            "tests",
            "doc tests",
            "go",
            "facts",
            "real",
            "faults",
            "differential",
        ];
        check(&[], &all);
        check(&["--faults"], &all);
        check(&["--only", "real", "--only", "facts"], &["facts", "real"]);
        check(&["--only", "diff"], &["differential"]);
        check(&["--skip", "f", "--only", "fa"], &[]);
    }

    #[test]
    fn a_stage_that_there_is_not_is_named() {
        let error = Choice::read(&["--only", "reel"]).unwrap_err().to_string();
        assert!(error.starts_with("no stage begins with \"reel\""), "{error}");
        let error = Choice::read(&["--fast"]).unwrap_err().to_string();
        assert!(error.ends_with("not \"--fast\""), "{error}");
    }
}
