//! The tasks of a developer: test, floors, generate, simulate, cluster.

mod check;
mod controlplane;
mod floors;
mod go;
mod guard;
mod interrupt;
mod real;
mod run;
mod stage;
mod suite;
mod tally;
mod workspace;

use anyhow::{Context, bail};
use std::ffi::OsString;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask TASK
  test [--skip STAGE] [--only STAGE] [--faults]
                       everything that must hold: format, floors, clippy, tests, doc tests, and on a real
                       control plane, where Go is: facts, scenarios (`real`), faults, and the embedded
                       cluster beside the real one (`differential`); --skip leaves a stage out, as in
                       `--skip real`, and --only all others, both by the beginning of a name and as often
                       as you like; --faults plays all faults
  floors [--write]     which crate may use which; --write draws the picture in ARCHITECTURE.md
  generate             write the files that are made from code (CRDs, manifests); tests compare them
  simulate ARGS...     the seeded simulation; `cargo xtask simulate --help` lists its flags
  cluster up [ARGS...] a real control plane in target/controlplane/dev, for kubectl; ARGS as in `up -h` of
                       tests/controlplane
  cluster down         ends it";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let outcome = match arguments.as_slice() {
        // Not for people: this program runs itself.
        [task, words @ ..] if task == guard::TASK => guard::keep(words),
        [task, words @ ..] if task == real::TASK => real::task(words).map(|()| ExitCode::SUCCESS),
        all => run(all),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[OsString]) -> anyhow::Result<ExitCode> {
    let words: Option<Vec<&str>> = arguments.iter().map(|word| word.to_str()).collect();
    let words = words.context("arguments have to be text")?;
    match words.as_slice() {
        ["test", flags @ ..] => return check::chosen(flags),
        ["simulate", rest @ ..] => return stage::forward(&["simulation"], rest),
        ["cluster", "up", flags @ ..] => controlplane::up(flags)?,
        ["cluster", "down"] => controlplane::down()?,
        ["floors"] => {
            floors::check()?;
            println!("the floors hold");
        }
        ["floors", "--write"] => floors::write()?,
        ["generate"] => return stage::forward(&["operator", "--example", "generate"], &[]),
        ["help" | "--help" | "-h"] => println!("{USAGE}"),
        [] => bail!("{USAGE}"),
        [unknown, ..] => bail!("no such task or flag: {unknown}\n{USAGE}"),
    }
    Ok(ExitCode::SUCCESS)
}
