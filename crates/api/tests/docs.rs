//! The docs speak of every field of the resources, their index of every page; the examples are sound.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use api::bedrock::{Capabilities, validate};
use api::{Severity, batches, crds, parse};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_index_leads_to_every_page() {
    let index = fs::read_to_string(root().join("docs/README.md")).expect("the index");
    let mut missing = Vec::new();
    for entry in fs::read_dir(root().join("docs")).expect("the pages") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        let written = entry.metadata().is_ok_and(|file| file.len() > 0);
        if written && name != "README.md" && !index.contains(&format!("]({name})")) {
            missing.push(name);
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

/// The names of a schema's properties, and one level further down where there is one of our own.
fn fields(schema: &Value) -> Vec<String> {
    let mut names = Vec::new();
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        names.push(name.clone());
        // The StatefulSet is described by Kubernetes, a condition by its convention.
        if name != "statefulset" && name != "conditions" {
            names.extend(fields(inner));
            names.extend(fields(&inner["items"]));
        }
    }
    names
}

/// Fields of the CRDs of a group of kinds that no piece of code on the page names.
fn untold(page: &str, kinds: &[&str], at_least: usize) -> Vec<String> {
    let page = fs::read_to_string(root().join("docs").join(page)).expect("the page");
    let code: Vec<&str> = page.split('`').skip(1).step_by(2).collect();
    let told = |name: &String| {
        code.iter().any(|words| words.split(|c: char| !c.is_alphanumeric()).any(|w| w == name))
    };
    let mut all = Vec::new();
    for crd in crds() {
        let crd = serde_json::to_value(&crd).expect("a CRD is JSON");
        let kind = crd["spec"]["names"]["kind"].as_str().expect("a kind").to_owned();
        if kinds.contains(&kind.as_str()) {
            for version in crd["spec"]["versions"].as_array().expect("versions") {
                let properties = &version["schema"]["openAPIV3Schema"]["properties"];
                all.extend(fields(&properties["spec"]));
                all.extend(fields(&properties["status"]));
            }
        }
    }
    assert!(all.len() > at_least, "{} fields are not all", all.len());
    all.sort();
    all.dedup();
    all.into_iter().filter(|name| !told(name)).collect()
}

#[test]
fn every_field_of_the_resources_is_in_the_docs() {
    let none = Vec::<String>::new();
    assert_eq!(untold("statefulsetrollout.md", &["StatefulsetRollout"], 50), none);
    assert_eq!(untold("rollout.md", &["Rollout", "BatchRelease"], 100), none);
}

#[test]
fn the_examples_have_no_error() {
    let mut kinds = BTreeSet::new();
    for entry in fs::read_dir(root().join("examples")).expect("the examples") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("an example");
        let objects = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for object in objects {
            let kind = object["kind"].as_str().unwrap_or_default();
            let findings = match kind {
                "StatefulsetRollout" => validate(&object, &Capabilities::default()),
                "Rollout" => batches::validate(&object, &batches::Context::default()),
                _ => continue,
            };
            let leads = object["spec"]["workloadRef"]["kind"].as_str().unwrap_or_default();
            kinds.insert(format!("{kind} {leads}"));
            let errors: Vec<_> =
                findings.iter().filter(|one| one.severity == Severity::Error).collect();
            assert!(errors.is_empty(), "{}: {errors:?}", path.display());
        }
    }
    let all = [
        "Rollout CloneSet",
        "Rollout DaemonSet",
        "Rollout Deployment",
        "Rollout StatefulSet",
        "StatefulsetRollout ",
    ];
    assert_eq!(kinds, all.map(str::to_owned).into());
}
