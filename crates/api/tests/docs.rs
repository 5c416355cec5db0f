//! The docs speak of every field of the resource, their index of every page; the examples are sound.

use std::fs;
use std::path::{Path, PathBuf};

use api::bedrock::{Capabilities, validate};
use api::{Severity, crds, parse};
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

#[test]
fn every_field_of_the_resource_is_in_the_docs() {
    let page = fs::read_to_string(root().join("docs/statefulsetrollout.md")).expect("the page");
    let crd = serde_json::to_value(&crds()[0]).expect("a CRD is JSON");
    let properties = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
    let all = [fields(&properties["spec"]), fields(&properties["status"])].concat();
    assert!(all.len() > 50, "{} fields are not all", all.len());
    let code: Vec<&str> = page.split('`').skip(1).step_by(2).collect();
    let told = |name: &String| {
        code.iter().any(|words| words.split(|c: char| !c.is_alphanumeric()).any(|w| w == name))
    };
    let missing: Vec<String> = all.into_iter().filter(|name| !told(name)).collect();
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn the_examples_have_no_error() {
    let mut rollouts = 0;
    for entry in fs::read_dir(root().join("examples")).expect("the examples") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("an example");
        let objects = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for object in objects.iter().filter(|one| one["kind"] == "StatefulsetRollout") {
            rollouts += 1;
            let findings = validate(object, &Capabilities::default());
            let errors: Vec<_> =
                findings.iter().filter(|one| one.severity == Severity::Error).collect();
            assert!(errors.is_empty(), "{}: {errors:?}", path.display());
        }
    }
    assert!(rollouts > 0, "an example of a rollout");
}
