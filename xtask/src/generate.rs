//! `cargo xtask generate`: the files that are made from code and checked in.

use crate::workspace;
use anyhow::{Context, bail};

/// All of them: (path relative to the repository, contents).
fn files() -> impl Iterator<Item = (String, String)> {
    api::generated_files().into_iter().chain(operator::manifests::generated_files())
}

/// Writes every generated file that differs.
pub(crate) fn write() -> anyhow::Result<()> {
    for (path, content) in files() {
        if is_current(&path, &content)? {
            continue;
        }
        let at = workspace::root().join(&path);
        if let Some(folder) = at.parent() {
            std::fs::create_dir_all(folder).with_context(|| path.clone())?;
        }
        std::fs::write(&at, content).with_context(|| path.clone())?;
        println!("wrote {path}");
    }
    Ok(())
}

/// Fails with the names of all stale files.
pub(crate) fn check() -> anyhow::Result<()> {
    let mut stale = Vec::new();
    for (path, content) in files() {
        if !is_current(&path, &content)? {
            stale.push(path);
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    bail!("stale: {}; run `cargo xtask generate`", stale.join(", "))
}

fn is_current(path: &str, content: &str) -> anyhow::Result<bool> {
    match std::fs::read_to_string(workspace::root().join(path)) {
        Ok(found) => Ok(found == content),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| path.to_owned()),
    }
}
