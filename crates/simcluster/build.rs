//! Packs the schemas that Kubernetes publishes, which are long and say most things more than once.

use std::path::Path;

#[path = "src/openapi/packed/pack.rs"]
mod pack;

const PUBLISHED: &str = "src/openapi/published.txt";

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed={PUBLISHED}");
    println!("cargo::rerun-if-changed=src/openapi/packed/pack.rs");
    let out = std::env::var_os("OUT_DIR").expect("cargo says where to");
    std::fs::write(Path::new(&out).join("published.packed"), pack::pack(&std::fs::read(PUBLISHED)?))
}
