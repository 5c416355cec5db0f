//! All CustomResourceDefinitions, as values and as the files that are checked in.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;
use serde::Serialize;
use serde_json::Value;

use crate::batches;
use crate::bedrock::StatefulsetRollout;

/// Where the checked-in CRDs send conversions: `sluice-webhook` in `sluice-system`, as
/// `sluice install` has it unless told otherwise.
const WEBHOOK: (&str, &str) = ("sluice-system", "sluice-webhook");

/// Every CRD that Sluice serves, in the order in which they are installed.
pub fn crds() -> Vec<CustomResourceDefinition> {
    crds_converted_by(WEBHOOK)
}

/// The same, with the namespace and the name of the Service that leads to the webhook.
pub fn crds_converted_by(service: (&str, &str)) -> Vec<CustomResourceDefinition> {
    let mut crds = vec![StatefulsetRollout::crd()];
    crds.extend(batches::crds(service));
    crds
}

/// One YAML document with a final newline.
///
/// # Panics
/// If the value cannot be written as YAML at all (maps with compound keys), which no Kubernetes
/// object is.
pub fn to_yaml<T: Serialize>(value: &T) -> String {
    let mut json = serde_json::to_value(value).expect("Kubernetes objects are JSON");
    whole_numbers(&mut json);
    let mut text = serde_saphyr::to_string(&json).expect("JSON is YAML");
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Files that are generated from this crate: (path relative to the repository, contents).
pub fn generated_files() -> Vec<(String, String)> {
    crds()
        .iter()
        .map(|crd| {
            let path = format!("deploy/crds/{}.yaml", crd.spec.names.plural);
            (path, format!("# Made by `cargo xtask generate`; do not edit.\n{}", to_yaml(crd)))
        })
        .collect()
}

/// Limits in a schema are floats in the typed CRD; `minimum: 0` reads better than `0.0`.
fn whole_numbers(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(whole_numbers),
        Value::Object(map) => map.values_mut().for_each(whole_numbers),
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().unwrap_or_default();
            if float.fract() == 0.0 && float.abs() < 1e15 {
                #[allow(clippy::cast_possible_truncation)]
                let whole = float as i64;
                *value = Value::from(whole);
            }
        }
        _ => {}
    }
}
