//! Packs the schemas that Kubernetes publishes: as text they would be a fifth of what this crate weighs.

use std::path::Path;

const PUBLISHED: &str = "src/openapi/published.txt";

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed={PUBLISHED}");
    let out = std::env::var_os("OUT_DIR").expect("cargo says where to");
    let packed = miniz_oxide::deflate::compress_to_vec(&std::fs::read(PUBLISHED)?, 9);
    std::fs::write(Path::new(&out).join("published.packed"), packed)
}
