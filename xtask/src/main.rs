//! The tasks of a developer: test, floors, generate, simulate.

mod check;
mod floors;
mod generate;
mod stage;
mod tally;
mod workspace;

use anyhow::bail;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask TASK
  test                 everything that must hold: format, clippy, floors, generated files, tests
  floors [--write]     which crate may use which; --write draws the picture in ARCHITECTURE.md
  generate [--check]   write the generated files (CRDs, manifests); --check only compares them
  simulate ARGS...     the seeded simulation; `cargo xtask simulate --help` lists its flags";

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
        ["test"] => return check::everything(),
        ["simulate", rest @ ..] => return stage::forward("simulation", rest),
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
