//! The workspace as cargo sees it: its crates, what each uses, its source files.

use crate::stage;
use anyhow::{Context, bail};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// One crate of the workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Member {
    /// Folder, relative to the root, with forward slashes.
    pub(crate) folder: String,
    /// Direct dependencies of the crate itself.
    pub(crate) uses: BTreeSet<String>,
    /// Direct dependencies of its tests alone.
    pub(crate) tests_use: BTreeSet<String>,
}

/// The root of the workspace: the folder above `xtask`.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// All crates of the workspace by name.
pub(crate) fn members() -> anyhow::Result<BTreeMap<String, Member>> {
    let text = quiet(&["metadata", "--format-version", "1", "--no-deps"])?;
    let metadata = serde_json::from_str(&text).context("answer of cargo metadata")?;
    parse(&metadata)
}

fn parse(metadata: &Value) -> anyhow::Result<BTreeMap<String, Member>> {
    let root = text(metadata, "workspace_root")?;
    let mut members = BTreeMap::new();
    for package in list(metadata, "packages") {
        let manifest = text(package, "manifest_path")?;
        let folder = Path::new(manifest)
            .parent()
            .and_then(|folder| folder.strip_prefix(root).ok())
            .with_context(|| format!("{manifest} lies outside of {root}"))?;
        let mut member = Member {
            folder: folder.to_string_lossy().replace('\\', "/"),
            uses: BTreeSet::new(),
            tests_use: BTreeSet::new(),
        };
        for dependency in list(package, "dependencies") {
            let name = text(dependency, "name")?.to_owned();
            match dependency["kind"].as_str() {
                Some("dev") => member.tests_use.insert(name),
                _ => member.uses.insert(name),
            };
        }
        members.insert(text(package, "name")?.to_owned(), member);
    }
    Ok(members)
}

fn text<'a>(value: &'a Value, field: &str) -> anyhow::Result<&'a str> {
    value[field].as_str().with_context(|| format!("cargo metadata has no {field}"))
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

/// Everything that lands in a build of one crate alone, with the features that it asks for itself
/// (the features of the whole workspace would blame it for what others switch on).
pub(crate) fn reaches(name: &str) -> anyhow::Result<BTreeSet<String>> {
    let lines = quiet(&[
        "tree",
        "--package",
        name,
        "--edges",
        "normal,no-proc-macro",
        "--prefix",
        "none",
        "--format",
        "{p}",
    ])?;
    Ok(lines
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|found| *found != name)
        .map(str::to_owned)
        .collect())
}

/// Cargo's standard output; all that it said when it fails.
fn quiet(arguments: &[&str]) -> anyhow::Result<String> {
    let output = stage::cargo()
        .args(arguments)
        .output()
        .with_context(|| format!("cargo {}", arguments.join(" ")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        bail!("cargo {}: {}", arguments.join(" "), said.trim());
    }
    String::from_utf8(output.stdout).context("output of cargo")
}

/// The `.rs` files under a folder of the workspace, sorted, as paths relative to the root.
pub(crate) fn sources(folder: &str) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::from(folder)];
    while let Some(folder) = open.pop() {
        let at = root().join(&folder);
        for entry in std::fs::read_dir(&at).with_context(|| at.display().to_string())? {
            let entry = entry.with_context(|| at.display().to_string())?;
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                if entry.file_name() != "target" {
                    open.push(path);
                }
            } else if path.extension().is_some_and(|end| end == "rs") {
                found.push(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The text of a file of the workspace.
pub(crate) fn read(path: &str) -> anyhow::Result<String> {
    std::fs::read_to_string(root().join(path)).with_context(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_only_tests_use_is_kept_apart() {
        let metadata = json!({
            "workspace_root": "/home/me/sluice",
            "packages": [{
                "name": "api",
                "manifest_path": "/home/me/sluice/crates/api/Cargo.toml",
                "dependencies": [
                    {"name": "engine", "kind": null},
                    {"name": "serde-saphyr", "kind": "dev"},
                    {"name": "cc", "kind": "build"},
                ],
            }],
        });
        let members = parse(&metadata).unwrap();
        assert_eq!(
            members["api"],
            Member {
                folder: "crates/api".to_owned(),
                uses: ["cc", "engine"].map(str::to_owned).into(),
                tests_use: ["serde-saphyr"].map(str::to_owned).into(),
            }
        );
    }

    #[test]
    fn metadata_without_packages_names_the_missing_field() {
        let error = parse(&json!({"packages": []})).unwrap_err();
        assert_eq!(error.to_string(), "cargo metadata has no workspace_root");
    }
}
