//! The tasks of a developer: test, floors, generate, simulate, cluster.

mod check;
mod controlplane;
mod floors;
mod generate;
mod real;
mod stage;
mod tally;
mod workspace;

use anyhow::bail;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask TASK
  test [--skip STAGE]  everything that must hold: format, floors, generated files, clippy, tests, doc tests,
                       and the scenarios on a real control plane; --skip leaves a stage out, as in
                       `--skip real`, and --only all others; both may be given again
  floors [--write]     which crate may use which; --write draws the picture in ARCHITECTURE.md
  generate [--check]   write the generated files (CRDs, manifests); --check only compares them
  simulate ARGS...     the seeded simulation; `cargo xtask simulate --help` lists its flags
  cluster up [ARGS...] a real control plane in target/controlplane/dev, for kubectl; ARGS as in `up -h` of
                       tests/controlplane
  cluster down         ends it";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["test", flags @ ..] => return check::chosen(flags),
        ["simulate", rest @ ..] => return stage::forward("simulation", rest),
        ["cluster", "up", flags @ ..] => controlplane::up(flags)?,
        ["cluster", "down"] => controlplane::down()?,
        ["floors"] => {
            floors::check()?;
            println!("the floors hold");
        }
        ["floors", "--write"] => floors::write()?,
        ["generate"] => generate::write()?,
        ["generate", "--check"] => generate::check()?,
        ["help" | "--help" | "-h"] => println!("{USAGE}"),
        [] => bail!("{USAGE}"),
        [unknown, ..] => bail!("no such task or flag: {unknown}\n{USAGE}"),
    }
    Ok(ExitCode::SUCCESS)
}
