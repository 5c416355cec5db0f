//! `cargo xtask test`: every stage in turn, the first failure ends it.

use crate::real::{self, Ending};
use crate::tally::Tally;
use crate::{floors, generate, stage};
use anyhow::bail;
use std::process::ExitCode;

/// What a stage does: cargo with arguments, a check of this program, or the suite on a real cluster.
enum Work {
    Cargo(&'static [&'static str]),
    Own(fn() -> anyhow::Result<()>),
    Real,
}

/// Cheap ones first, so that a slip shows in seconds.
const STAGES: &[(&str, Work)] = &[
    ("format", Work::Cargo(&["fmt", "--all", "--", "--check", "--color", "never"])),
    ("floors", Work::Own(floors::check)),
    ("generated files", Work::Own(generate::check)),
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
    ("tests", Work::Cargo(&["test", "--workspace", "--lib", "--bins", "--tests", "--locked"])),
    ("doc tests", Work::Cargo(&["test", "--workspace", "--doc", "--locked"])),
    (REAL, Work::Real),
];

/// The stage that is left out unless it is asked for.
const REAL: &str = "real control plane";

/// Runs the stages that the flags leave: `--skip` and `--only`, each with the beginning of a name.
pub(crate) fn chosen(flags: &[&str]) -> anyhow::Result<ExitCode> {
    let (mut skip, mut only) = (Vec::new(), Vec::new());
    let mut whole = false;
    let mut rest = flags;
    while let [flag, after @ ..] = rest {
        if *flag == "--real" {
            whole = true;
            rest = after;
            continue;
        }
        let ([name, after @ ..], true) = (after, matches!(*flag, "--skip" | "--only")) else {
            bail!("test takes --real, --skip STAGE and --only STAGE, not {flag:?}");
        };
        if !STAGES.iter().any(|(stage, _)| stage.starts_with(name)) {
            let names: Vec<&str> = STAGES.iter().map(|(stage, _)| *stage).collect();
            bail!("no stage begins with {name:?}; there are: {}", names.join(", "));
        }
        if *flag == "--skip" {
            skip.push(*name);
        } else {
            only.push(*name);
        }
        rest = after;
    }
    let named = |list: &[&str], stage: &str| list.iter().any(|name| stage.starts_with(name));
    // Minutes more, and Go: asked for by name.
    let may = |stage: &str| stage != REAL || whole || named(&only, stage);
    let runs = |stage: &str| {
        may(stage) && !named(&skip, stage) && (only.is_empty() || named(&only, stage))
    };
    Ok(stages(runs))
}

/// Runs them. The last line printed is `N passed, N failed`, alone; a stage that fails without a
/// failed test (a format slip, a crate that doesn't compile) counts as one failure. A stage that is
/// left out counts nothing, and is named at the end.
fn stages(runs: impl Fn(&str) -> bool) -> ExitCode {
    let begun = stage::watch();
    let mut tally = Tally::default();
    let (mut asked, mut missing) = (Vec::new(), Vec::new());
    for (number, (name, work)) in STAGES.iter().enumerate() {
        if !runs(name) {
            asked.push(*name);
            continue;
        }
        println!("[{}/{}]  {:>7}  {name}", number + 1, STAGES.len(), stage::elapsed(begun));
        match one(work, &mut tally) {
            Ok(Ending::Passed) => {}
            Ok(Ending::LeftOut(why)) => missing.push(format!("left out: {name}, {why}")),
            Err(output) => {
                println!("{}", output.trim_end());
                println!("{name} failed after {}", stage::elapsed(begun));
                tally.failed = tally.failed.max(1);
                close(tally);
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
    close(tally);
    ExitCode::SUCCESS
}

/// One stage; the error is all that it printed.
fn one(work: &Work, tally: &mut Tally) -> Result<Ending, String> {
    match work {
        Work::Own(check) => check().map_err(|error| format!("{error:#}"))?,
        Work::Cargo(arguments) => {
            let outcome = stage::run(arguments).map_err(|error| format!("{error:#}"))?;
            tally.passed += outcome.tally.passed;
            tally.failed += outcome.tally.failed;
            if !outcome.success {
                return Err(outcome.output);
            }
        }
        Work::Real => return real::run(tally),
    }
    Ok(Ending::Passed)
}

fn close(tally: Tally) {
    println!("{} passed, {} failed", tally.passed, tally.failed);
}
