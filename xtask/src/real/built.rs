//! The programs that the stage runs, as the stage of the tests built them.

use crate::stage;
use anyhow::{Context, bail};
use serde_json::Value;
use std::path::PathBuf;

/// Both are built with the features of the tests, so that nothing is built twice.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Built {
    /// The `sluice` binary.
    pub(super) sluice: PathBuf,
    /// The scenario suite for a cluster that a kubeconfig names.
    pub(super) scenarios: PathBuf,
}

/// Builds what is not there yet and finds both.
pub(super) fn programs() -> anyhow::Result<Built> {
    let output = stage::cargo()
        .args(["test", "--workspace", "--lib", "--bins", "--tests", "--locked", "--no-run"])
        .args(["--message-format", "json-render-diagnostics"])
        .output()
        .context("cargo test --no-run")?;
    if !output.status.success() {
        bail!("cargo test --no-run: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    found(&String::from_utf8_lossy(&output.stdout))
}

/// Reads cargo's messages, one JSON object a line.
fn found(messages: &str) -> anyhow::Result<Built> {
    let (mut sluice, mut scenarios) = (None, None);
    for line in messages.lines() {
        let message: Value = serde_json::from_str(line).context("a message of cargo")?;
        let Some(executable) = message["executable"].as_str() else { continue };
        let target = &message["target"];
        let is = |name: &str, kind: &str| target["name"] == name && target["kind"][0] == kind;
        if is("sluice", "bin") && message["profile"]["test"] == false {
            sluice = Some(PathBuf::from(executable));
        } else if is("real", "test") {
            scenarios = Some(PathBuf::from(executable));
        }
    }
    Ok(Built {
        sluice: sluice.context("cargo built no binary `sluice`")?,
        scenarios: scenarios.context("cargo built no test `real`")?,
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
            r#"{"target":{"kind":["test"],"name":"real"},"profile":{"test":true},"executable":"/t/real-2"}"#,
            r#"{"reason":"build-finished","success":true}"#,
        ];
        let expect = Built { sluice: "/t/sluice".into(), scenarios: "/t/real-2".into() };
        assert_eq!(found(&messages.join("\n")).unwrap(), expect);
    }

    #[test]
    fn a_program_that_was_not_built_is_named() {
        let error = found(r#"{"reason":"build-finished","success":true}"#).unwrap_err();
        assert_eq!(error.to_string(), "cargo built no binary `sluice`");
    }
}
