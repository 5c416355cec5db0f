//! Running one stage: a command with its output held back unless it fails.

use crate::tally::{self, Tally};
use anyhow::Context;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// A silent stage says once in this time what it is at.
const SIGN_OF_LIFE: Duration = Duration::from_secs(20);

/// What a command printed, and whether it succeeded.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) success: bool,
    pub(crate) output: String,
    pub(crate) tally: Tally,
}

/// The time of a developer's watch; tasks are the one place that no virtual clock drives.
#[expect(clippy::disallowed_methods, reason = "a task measures how long a person waits")]
pub(crate) fn watch() -> Instant {
    Instant::now()
}

/// A rest between two looks at another process.
#[expect(
    clippy::disallowed_methods,
    reason = "a task may block; other processes have clocks of their own"
)]
pub(crate) fn rest(time: Duration) {
    std::thread::sleep(time);
}

/// Elapsed time for a progress line: `0.4 s`, `75.1 s`.
pub(crate) fn elapsed(since: Instant) -> String {
    format!("{:.1} s", since.elapsed().as_secs_f64())
}

/// The cargo that runs this task, from the root of the workspace.
pub(crate) fn cargo() -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.current_dir(crate::workspace::root());
    command
}

/// Runs cargo with its output held back; prints a line per test binary and a sign of life.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<Outcome> {
    let named = || format!("cargo {}", arguments.join(" "));
    let (reader, writer) = std::io::pipe().context("pipe for the output of cargo")?;
    let mut command = cargo();
    command.args(arguments).env("CARGO_TERM_COLOR", "never");
    // One pipe for both, so that the lines keep their order.
    command.stdout(writer.try_clone().context("pipe for the output of cargo")?).stderr(writer);
    let mut child = command.spawn().with_context(named)?;
    // The command holds our ends of the pipe; without them gone the reader never ends.
    drop(command);

    let begun = watch();
    let mut spoke = begun;
    let mut output = String::new();
    let mut tally = Tally::default();
    let mut current = String::new();
    let mut reader = BufReader::new(reader);
    let mut raw = Vec::new();
    while reader.read_until(b'\n', &mut raw).with_context(named)? > 0 {
        let line = String::from_utf8_lossy(&raw).into_owned();
        raw.clear();
        output.push_str(&line);
        tally.take(&line);
        if let Some(name) = tally::binary(&line) {
            current = name;
        } else if let Some(result) = Tally::of(&line) {
            if result != Tally::default() {
                let Tally { passed, failed } = result;
                println!("       {:>7}  {passed} ok, {failed} not: {current}", elapsed(begun));
                spoke = watch();
            }
        } else if spoke.elapsed() > SIGN_OF_LIFE {
            println!("       {:>7}  {}", elapsed(begun), line.trim());
            spoke = watch();
        }
    }
    let status = child.wait().with_context(named)?;
    Ok(Outcome { success: status.success(), output, tally })
}

/// Hands everything to another program of the workspace and takes over its exit code.
pub(crate) fn forward(package: &str, arguments: &[&str]) -> anyhow::Result<ExitCode> {
    let status = cargo()
        .args(["run", "--quiet", "--package", package, "--"])
        .args(arguments)
        .status()
        .with_context(|| format!("cargo run --package {package}"))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_a_stage_is_kept_whole_with_its_errors() {
        let good = run(&["--version"]).unwrap();
        assert!(good.success && good.output.starts_with("cargo "), "{}", good.output);
        let bad = run(&["no-such-task-of-cargo"]).unwrap();
        assert!(!bad.success && bad.output.contains("no-such-task-of-cargo"), "{}", bad.output);
    }
}
