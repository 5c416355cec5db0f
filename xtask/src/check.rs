//! `cargo xtask test`: every stage in turn, the first failure ends it.

use crate::tally::Tally;
use crate::{floors, generate, stage};
use std::process::ExitCode;

/// What a stage does: cargo with arguments, or a check of this program.
enum Work {
    Cargo(&'static [&'static str]),
    Own(fn() -> anyhow::Result<()>),
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
];

/// Runs all stages. The last line printed is `N passed, N failed`, alone; a stage that fails
/// without a failed test (a format slip, a crate that doesn't compile) counts as one failure.
pub(crate) fn everything() -> anyhow::Result<ExitCode> {
    let begun = stage::watch();
    let mut tally = Tally::default();
    for (number, (name, work)) in STAGES.iter().enumerate() {
        println!("[{}/{}]  {:>7}  {name}", number + 1, STAGES.len(), stage::elapsed(begun));
        if let Err(output) = one(work, &mut tally) {
            println!("{}", output.trim_end());
            println!("{name} failed after {}", stage::elapsed(begun));
            tally.failed = tally.failed.max(1);
            close(tally);
            return Ok(ExitCode::FAILURE);
        }
    }
    println!("all {} stages passed after {}", STAGES.len(), stage::elapsed(begun));
    close(tally);
    Ok(ExitCode::SUCCESS)
}

/// One stage; the error is all that it printed.
fn one(work: &Work, tally: &mut Tally) -> Result<(), String> {
    match work {
        Work::Own(check) => check().map_err(|error| format!("{error:#}")),
        Work::Cargo(arguments) => {
            let outcome = stage::run(arguments).map_err(|error| format!("{error:#}"))?;
            tally.passed += outcome.tally.passed;
            tally.failed += outcome.tally.failed;
            if outcome.success { Ok(()) } else { Err(outcome.output) }
        }
    }
}

fn close(tally: Tally) {
    println!("{} passed, {} failed", tally.passed, tally.failed);
}
