//! Operations, as far as a client asks about them.

use super::{mark, place, published};
use crate::json::{Map, Value, json};
use crate::kind::Kind;

/// Adds the paths of one kind.
pub(super) fn add(kind: &Kind, paths: &mut Map) {
    let root = format!("/{}", place(&kind.group, &kind.version));
    let scope = if kind.namespaced { "/namespaces/{namespace}" } else { "" };
    let all = format!("{root}{scope}/{}", kind.plural);
    let one = format!("{all}/{{name}}");
    paths.insert(
        all,
        json!({
            "get": operation(kind, "list", &[]),
            "post": operation(kind, "post", &["dryRun", "fieldManager", "fieldValidation"]),
        }),
    );
    let mut patch =
        operation(kind, "patch", &["dryRun", "fieldManager", "fieldValidation", "force"]);
    let body = json!({"schema": published::reference(published::PATCH)});
    let mut content = Map::new();
    for form in ["json-patch+json", "merge-patch+json", "apply-patch+yaml"] {
        content.insert(format!("application/{form}"), body.clone());
    }
    if kind.custom.is_none() {
        content.insert("application/strategic-merge-patch+json".to_owned(), body);
    }
    patch["requestBody"] = json!({"content": content, "required": true});
    let put = ["dryRun", "fieldManager", "fieldValidation"];
    paths.insert(
        one,
        json!({
            "get": operation(kind, "get", &[]),
            "put": operation(kind, "put", &put),
            "delete": operation(kind, "delete", &["dryRun"]),
            "patch": patch,
        }),
    );
}

fn operation(kind: &Kind, action: &str, parameters: &[&str]) -> Value {
    let parameters: Vec<Value> = parameters
        .iter()
        .map(|name| {
            let of_type = if *name == "force" { "boolean" } else { "string" };
            json!({"name": name, "in": "query",
                   "schema": {"type": of_type, "uniqueItems": true}})
        })
        .collect();
    json!({
        "operationId": format!("{action}{}{}", kind.version, kind.kind),
        "parameters": parameters,
        "responses": {"200": {"description": "OK", "content": {"application/json": {
            "schema": published::reference(&published::key_of(kind))}}}},
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": mark(kind),
    })
}
