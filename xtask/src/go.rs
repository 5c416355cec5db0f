//! The Go module `tests/controlplane`: its toolchain, its modules, and its own tests.

use crate::run::{Ending, Run};
use crate::stage::{self, Outcome, Output};
use crate::tally::{self, Tally};
use crate::{interrupt, workspace};
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const FOLDER: &str = "tests/controlplane";

/// Packages that are compiled in seconds. The others link Kubernetes: a look at all that they use
/// would take minutes, and the build says already whether they compile.
const LIGHT: [&str; 4] =
    ["./internal/audit", "./internal/kubelet", "./internal/pki", "./internal/plane"];

/// What go says of a network that isn't there, of a proxy that has a bad day, or of a release of
/// itself that it can't get: like the lack of a toolchain, no fault of what is tested.
const UNREACHABLE: &[&str] = &[
    "dial tcp",
    "no such host",
    "connection refused",
    "connection reset",
    "timeout",
    "proxyconnect",
    "unexpected EOF",
    "GOPROXY=off",
    "toolchain not available",
    "requires go >=",
    "Too Many Requests",
    "Internal Server Error",
    "Bad Gateway",
    "Service Unavailable",
    "Gateway Timeout",
];

/// How often modules are asked for.
const TRIES: u32 = 3;

/// A command of go in the module. Neither go.mod nor go.sum is written.
fn go(arguments: &[&str]) -> Command {
    let mut command = Command::new("go");
    command.args(arguments).current_dir(workspace::root().join(FOLDER));
    command
}

/// Whether there is a toolchain at all.
pub(crate) fn is_there() -> Result<bool, String> {
    // Outside of the module, so that no other release is fetched.
    let asked = Command::new("go").arg("version").stdout(Stdio::null()).status();
    match asked {
        Ok(status) => Ok(status.success()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(format!("go version: {error}")),
    }
}

/// Fetches what the module needs, and isn't there. `Some` says why that can't be had here.
pub(crate) fn fetch() -> Result<Option<String>, String> {
    let list = go(&["list", "-mod=readonly", "-deps", "-test", "-f", "{{/* nothing */}}", "./..."]);
    for round in 1.. {
        let Outcome { success, output, .. } = quietly(&list, Output::Beside("Go modules"))?;
        if success {
            break;
        }
        let Some(why) = unreachable(&output) else { return Err(output) };
        if round == TRIES {
            return Ok(Some(format!("Go can't fetch what the module needs: {why}")));
        }
        stage::rest(Duration::from_secs(5) * round);
    }
    Ok(None)
}

/// The line that speaks of an unreachable network, if that is all that is wrong.
fn unreachable(output: &str) -> Option<&str> {
    let wrong = ["checksum mismatch", "SECURITY ERROR", "go.sum entry", "updates to go.mod"];
    if wrong.iter().any(|words| output.contains(words)) {
        return None;
    }
    let mut lines = output.lines();
    lines.find(|line| UNREACHABLE.iter().any(|words| line.contains(words))).map(str::trim)
}

/// The stage 'go': format, vet, and the tests that need no control plane.
pub(crate) fn own_tests(run: &mut Run) -> Result<Ending, String> {
    if let Some(why) = run.without_go()? {
        return Ok(Ending::LeftOut(why));
    }
    // The one that comes with this very toolchain.
    let root = quietly(&go(&["env", "GOROOT"]), Output::Held)?;
    let mut look = Command::new(Path::new(root.output.trim()).join("bin/gofmt"));
    look.args(["-l", "."]).current_dir(workspace::root().join(FOLDER));
    let look = quietly(&look, Output::Held)?;
    if !look.success || !look.output.trim().is_empty() {
        return Err(format!("not formatted (gofmt -l in {FOLDER}):\n{}", look.output));
    }
    let vet = quietly(&go(&[&["vet", "-mod=readonly"], &LIGHT[..]].concat()), Output::Held)?;
    if !vet.success {
        return Err(vet.output);
    }
    let tests = [&["test", "-mod=readonly", "-vet=off", "-count=1", "-v"], &LIGHT[..]].concat();
    let outcome = quietly(&go(&tests), Output::Held)?;
    counted(run, outcome)
}

/// The stage 'facts': what `docs/kubernetes-facts.md` says, replayed on a control plane, and that a
/// control plane keeps what scenarios lean on.
pub(crate) fn facts(run: &mut Run) -> Result<Ending, String> {
    if let Some(why) = run.without_go()? {
        return Ok(Ending::LeftOut(why));
    }
    let program = match run.control_plane()? {
        Ok(program) => program,
        Err(why) => return Ok(Ending::LeftOut(why)),
    };
    let directory = run.directory("facts")?;
    let tests = |only: &str| {
        let mut tests =
            go(&["test", "-mod=readonly", "-vet=off", "-count=1", "-v", "-timeout=20m"]);
        tests.args(["-run", only, "./internal/whole"]);
        tests.env("CONTROLPLANE", &program).env("TMPDIR", &directory);
        tests
    };
    let first = quietly(&tests("."), Output::Held)?;
    let failed = tally::failed_of_go(&first.output);
    if first.success || failed.is_empty() || interrupt::refuse().is_err() {
        return counted(run, first);
    }
    // These say something of Kubernetes and of the machine, nothing of Sluice: once is bad luck.
    println!("{}", first.output.trim_end());
    println!("second try: {}", failed.join(", "));
    run.tally.passed += Tally::of_go(&first.output).passed;
    let again = quietly(&tests(&format!("^({})$", failed.join("|"))), Output::Held)?;
    counted(run, again)
}

fn counted(run: &mut Run, outcome: Outcome) -> Result<Ending, String> {
    let Outcome { success, output, .. } = outcome;
    let tally = Tally::of_go(&output);
    run.tally.passed += tally.passed;
    run.tally.failed += tally.failed;
    if !success {
        return Err(output);
    }
    // A pattern that fits nothing passes with go.
    if tally.passed == 0 {
        return Err(format!("no test ran:\n{output}"));
    }
    Ok(Ending::Passed)
}

fn quietly(command: &Command, shown: Output) -> Result<Outcome, String> {
    stage::run(command, shown).map_err(|error| format!("{error:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_that_is_not_there_is_told_from_a_fault() {
        fn check(output: &str, expect: Option<&str>) {
            assert_eq!(unreachable(output), expect, "{output}");
        }
        let away = "go: k8s.io/api@v0.36.3: Get \"https://proxy.golang.org/k8s.io/api\": dial tcp: lookup proxy.golang.org: no such host";
        check(&format!("go: downloading k8s.io/api v0.36.3\n{away}\n"), Some(away));
        check("main.go:3:1: syntax error", None);
        let other = "go: x: dial tcp\nverifying k8s.io/api@v0.36.3: checksum mismatch";
        check(other, None);
    }
}
