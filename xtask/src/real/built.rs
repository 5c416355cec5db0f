//! The programs that stages on a real control plane run, as the stage of the tests built them.

use crate::stage::{self, Outcome, Output};
use anyhow::{Context, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// All are built with the features of the tests, so that nothing is built twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Built {
    /// The `sluice` binary.
    pub(crate) sluice: PathBuf,
    /// The scenario suite for a cluster that a kubeconfig names.
    pub(crate) scenarios: PathBuf,
    /// Faults on a real control plane.
    pub(crate) faults: PathBuf,
    /// The embedded cluster beside a real one: requests, workloads, sessions of `kubectl`.
    pub(crate) beside: [PathBuf; 3],
}

/// Exactly what the stage of the tests builds.
fn build(format: &[&str]) -> Command {
    let mut cargo = stage::cargo();
    cargo.args(["test", "--workspace", "--lib", "--bins", "--tests", "--locked", "--no-run"]);
    cargo.args(format);
    cargo
}

/// Builds what is not there yet and finds them; the error is all that cargo says.
pub(crate) fn programs() -> Result<Built, String> {
    let words = |error: anyhow::Error| format!("{error:#}");
    let Outcome { success, output, .. } = stage::run(&build(&[]), Output::Held).map_err(words)?;
    if !success {
        return Err(output);
    }
    names().map_err(words)
}

fn names() -> anyhow::Result<Built> {
    let mut cargo = build(&["--message-format", "json-render-diagnostics"]);
    let output = cargo.output().context("cargo test --no-run")?;
    if !output.status.success() {
        bail!("cargo test --no-run: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    found(&String::from_utf8_lossy(&output.stdout))
}

/// Reads cargo's messages, one JSON object a line.
fn found(messages: &str) -> anyhow::Result<Built> {
    let mut binary = None;
    let mut tests = BTreeMap::new();
    for line in messages.lines() {
        let message: Value = serde_json::from_str(line).context("a message of cargo")?;
        let Some(executable) = message["executable"].as_str() else { continue };
        let target = &message["target"];
        if target["name"] == "sluice" && message["profile"]["test"] == false {
            binary = Some(PathBuf::from(executable));
        } else if target["kind"][0] == "test" {
            // By the source: names are there more than once in the workspace.
            let source = target["src_path"].as_str().unwrap_or_default();
            tests.insert(source.to_owned(), PathBuf::from(executable));
        }
    }
    let test = |source: &str| {
        let found = tests.iter().find(|(path, _)| path.ends_with(source));
        found.map(|(_, file)| file.clone()).with_context(|| format!("cargo built no {source}"))
    };
    Ok(Built {
        sluice: binary.context("cargo built no binary `sluice`")?,
        scenarios: test("tests/scenarios/tests/real.rs")?,
        faults: test("tests/scenarios/tests/faults/main.rs")?,
        beside: [
            test("tests/differential/tests/live.rs")?,
            test("tests/differential/tests/workloads.rs")?,
            test("tests/differential/tests/kubectl.rs")?,
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_is_told_from_its_own_tests() {
        let messages = [
            r#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"api"},"executable":null}"#,
            r#"{"target":{"kind":["bin"],"name":"sluice"},"profile":{"test":false},"executable":"/t/sluice"}"#,
            r#"{"target":{"kind":["bin"],"name":"sluice"},"profile":{"test":true},"executable":"/t/sluice-1"}"#,
            r#"{"target":{"kind":["test"],"name":"real","src_path":"/w/tests/scenarios/tests/real.rs"},"profile":{"test":true},"executable":"/t/real-2"}"#,
            r#"{"target":{"kind":["test"],"name":"faults","src_path":"/w/tests/scenarios/tests/faults/main.rs"},"profile":{"test":true},"executable":"/t/faults-3"}"#,
            r#"{"target":{"kind":["test"],"name":"live","src_path":"/w/tests/differential/tests/live.rs"},"profile":{"test":true},"executable":"/t/live-4"}"#,
            r#"{"target":{"kind":["test"],"name":"workloads","src_path":"/w/tests/differential/tests/workloads.rs"},"profile":{"test":true},"executable":"/t/workloads-5"}"#,
            r#"{"target":{"kind":["test"],"name":"kubectl","src_path":"/w/tests/differential/tests/kubectl.rs"},"profile":{"test":true},"executable":"/t/kubectl-6"}"#,
            r#"{"target":{"kind":["test"],"name":"faults","src_path":"/w/crates/simcluster/tests/faults.rs"},"profile":{"test":true},"executable":"/t/faults-6"}"#,
            r#"{"target":{"kind":["test"],"name":"wire","src_path":"/w/crates/cluster/tests/wire/main.rs"},"profile":{"test":true},"executable":"/t/wire-5"}"#,
            r#"{"reason":"build-finished","success":true}"#,
        ];
        let expect = Built {
            sluice: "/t/sluice".into(),
            scenarios: "/t/real-2".into(),
            faults: "/t/faults-3".into(),
            beside: ["/t/live-4".into(), "/t/workloads-5".into(), "/t/kubectl-6".into()],
        };
        assert_eq!(found(&messages.join("\n")).unwrap(), expect);
    }

    #[test]
    fn a_program_that_was_not_built_is_named() {
        let error = found(r#"{"reason":"build-finished","success":true}"#).unwrap_err();
        assert_eq!(error.to_string(), "cargo built no binary `sluice`");
    }
}
