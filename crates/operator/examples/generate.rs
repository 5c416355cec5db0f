//! Writes the files that are made from code and checked in: `cargo xtask generate`.
//!
//! That they are current is held by tests, of `api` and of `operator`.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (path, content) in
        api::generated_files().into_iter().chain(operator::manifests::generated_files())
    {
        let at = root.join(&path);
        if std::fs::read_to_string(&at).is_ok_and(|found| found == content) {
            continue;
        }
        if let Some(folder) = at.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&at, content)?;
        println!("wrote {path}");
    }
    Ok(())
}
