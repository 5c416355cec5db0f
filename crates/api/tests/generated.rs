//! Generated files in the repository are current.

use std::fs;
use std::path::Path;

#[test]
fn the_generated_files_in_the_repository_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (path, contents) in api::generated_files() {
        let file = root.join(&path);
        let found = fs::read_to_string(&file).unwrap_or_default();
        assert!(found == contents, "{path} is stale: run `cargo xtask generate`");
    }
}
