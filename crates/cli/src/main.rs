//! The `sluice` binary: flags → one command per file → exit code.

mod command;
mod demo;
mod embedded;
mod exit;
mod facts;
#[cfg(test)]
mod far_side;
mod find;
mod locate;
mod look;
mod name;
mod out;
mod screen;
mod session;
mod show;
mod standing;
mod webhook;
mod writes;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    // Wrong usage ends here with code 2, help and version with 0.
    let line = command::Line::parse();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return exit::conclude(&Err(error.into())),
    };
    let outcome = runtime.block_on(line.run(&mut out::Out::standard()));
    // What still runs beside (an idle connection, a server) is not waited for.
    runtime.shutdown_background();
    exit::conclude(&outcome)
}
