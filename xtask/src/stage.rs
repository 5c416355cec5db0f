//! Running one command of a stage, under a guard, with its output held back unless it fails, or shown.

use crate::guard::Guarded;
use crate::tally::{self, Tally};
use anyhow::Context;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// A silent stage says once in this time what it is at.
pub(crate) const SIGN_OF_LIFE: Duration = Duration::from_secs(20);

/// What becomes of what a command prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// A line for each test binary, and a sign of life.
    Held,
    /// The same from a command that runs beside others: its signs of life begin with a name.
    Beside(&'static str),
    /// Every line but those of libtest that count.
    Shown,
}

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

/// A line of progress inside a stage.
pub(crate) fn say(since: Instant, words: &str) {
    println!("       {:>7}  {words}", elapsed(since));
}

/// The cargo that runs this task, from the root of the workspace.
pub(crate) fn cargo() -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.current_dir(crate::workspace::root()).env("CARGO_TERM_COLOR", "never");
    // What `cargo run` tells this program about itself is news to build scripts that look at it, as
    // ring's does: ring, and all that uses it, would be built anew in each turn.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    command
}

/// Runs a command, and counts the tests of libtest or of Go that it tells of.
pub(crate) fn run(command: &Command, shown: Output) -> anyhow::Result<Outcome> {
    let named = || format!("{command:?}");
    let (reader, writer) = std::io::pipe().context("pipe for the output of a command")?;
    // One pipe for both, so that the lines keep their order.
    let both = writer.try_clone().context("pipe for the output of a command")?;
    // Our ends of it go with the start; with one left, reading would never end.
    let child = Guarded::start(command, both, writer)?;

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
        let result = Tally::of(&line);
        tally.take(&line);
        if shown == Output::Shown {
            if result.is_none() && !line.trim().is_empty() {
                println!("{}", line.trim_end());
            }
        } else if let Some(name) = tally::binary(&line) {
            current = name;
        } else if let Some(Tally { passed, failed }) = result {
            if passed + failed > 0 {
                say(begun, &format!("{passed} ok, {failed} not: {current}"));
                spoke = watch();
            }
        } else if spoke.elapsed() > SIGN_OF_LIFE {
            match shown {
                Output::Beside(name) => say(begun, &format!("{name}: {}", line.trim())),
                _ => say(begun, line.trim()),
            }
            spoke = watch();
        }
    }
    let success = child.wait().with_context(named)?.success();
    Ok(Outcome { success, output, tally })
}

/// Hands everything to another program of the workspace, its package and what tells it from others there,
/// and takes over its exit code.
pub(crate) fn forward(program: &[&str], arguments: &[&str]) -> anyhow::Result<ExitCode> {
    let status = cargo()
        .args(["run", "--quiet", "--package"])
        .args(program)
        .arg("--")
        .args(arguments)
        .status()
        .with_context(|| format!("cargo run --package {}", program.join(" ")))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}
