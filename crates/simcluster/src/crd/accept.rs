//! Whether a CustomResourceDefinition may be created, and its own defaults.

use super::rules;
use super::validate::validate;
use crate::builtin::FieldErrors;
use crate::error::Cause;
use crate::json::{Value, json};
use crate::object;

/// Fills in names, list kind and conversion.
pub fn default_definition(crd: &mut Value) {
    let kind = crd["spec"]["names"]["kind"].as_str().unwrap_or_default().to_owned();
    if let Some(names) = crd["spec"]["names"].as_object_mut() {
        names.entry("singular").or_insert_with(|| json!(kind.to_lowercase()));
        names.entry("listKind").or_insert_with(|| json!(format!("{kind}List")));
    }
    if let Some(spec) = crd["spec"].as_object_mut() {
        let conversion = spec.entry("conversion").or_insert_with(|| json!({"strategy": "None"}));
        if let Some(service) =
            conversion.pointer_mut("/webhook/clientConfig/service").and_then(Value::as_object_mut)
        {
            service.entry("port").or_insert_with(|| json!(443));
        }
    }
}

/// What is wrong with a definition: names, versions, and that each schema is structural.
pub fn check(crd: &Value) -> Vec<Cause> {
    let mut out = FieldErrors::default();
    let spec = &crd["spec"];
    let (plural, group) = (&spec["names"]["plural"], &spec["group"]);
    let wanted =
        format!("{}.{}", plural.as_str().unwrap_or_default(), group.as_str().unwrap_or_default());
    if object::name(crd) != wanted {
        let why = "must be spec.names.plural+\".\"+spec.group";
        out.invalid("metadata.name", &json!(object::name(crd)), why);
    }
    for (path, value) in [
        ("spec.group", group),
        ("spec.scope", &spec["scope"]),
        ("spec.names.plural", plural),
        ("spec.names.kind", &spec["names"]["kind"]),
    ] {
        if value.as_str().is_none_or(str::is_empty) {
            out.required(path, "");
        }
    }
    if spec["scope"].is_string() && spec["scope"] != "Cluster" && spec["scope"] != "Namespaced" {
        out.not_supported("spec.scope", &spec["scope"], &["Cluster", "Namespaced"]);
    }
    let versions = spec["versions"].as_array().map_or(&[][..], Vec::as_slice);
    if versions.iter().filter(|version| version["storage"] == true).count() != 1 {
        let why = "must have exactly one version marked as storage version";
        let shown = spec.get("versions").cloned().unwrap_or_else(|| json!([]));
        out.invalid("spec.versions", &shown, why);
    }
    if !versions.iter().any(|version| version["storage"] == true) {
        let why = "must have at least one stored version";
        out.invalid("status.storedVersions", &Value::Null, why);
    }
    for (index, version) in versions.iter().enumerate() {
        // One schema for all versions is shown where it once stood.
        let path = if versions.len() == 1 {
            "spec.validation.openAPIV3Schema".to_owned()
        } else {
            format!("spec.versions[{index}].schema.openAPIV3Schema")
        };
        let schema = &version["schema"]["openAPIV3Schema"];
        if schema.is_object() {
            root(schema, &path, &mut out);
        } else {
            let path = format!("spec.versions[{index}].schema.openAPIV3Schema");
            out.required(path, "schemas are required");
        }
    }
    out.into_vec()
}

fn root(schema: &Value, path: &str, out: &mut FieldErrors) {
    structural(schema, path, out);
    match schema["type"].as_str() {
        None => out.required(format!("{path}.type"), "must not be empty at the root"),
        Some("object") => {}
        Some(_) => {
            out.invalid(format!("{path}.type"), &schema["type"], "must be object at the root");
        }
    }
}

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

fn structural(schema: &Value, path: &str, out: &mut FieldErrors) {
    if let Some(name) = schema["type"].as_str()
        && !TYPES.contains(&name)
    {
        out.not_supported(format!("{path}.type"), &schema["type"], &TYPES);
    }
    if let Some(rules_of) = schema["x-kubernetes-validations"].as_array() {
        for (index, rule) in rules_of.iter().enumerate() {
            let path = format!("{path}.x-kubernetes-validations[{index}].rule");
            let alone = json!({"type": schema["type"], "x-kubernetes-validations": [rule]});
            if let Some(why) = rules::broken(&alone) {
                // The library names the rule first.
                let why = why
                    .split_once("\": ERROR: ")
                    .map_or(why.clone(), |(_, rest)| format!("ERROR: {rest}"));
                let why = format!("compilation failed: {}", why.replace("\n|", "\n |"));
                out.push_text(&path, &rule_in_go(rule), &why);
            }
        }
    }
    if let Some(default) = schema.get("default") {
        let path = format!("{path}.default");
        out.extend(validate(schema, default, None).into_iter().map(|mut cause| {
            let separator = if cause.field.is_empty() { "" } else { "." };
            cause.field = format!("{path}{separator}{}", cause.field);
            cause
        }));
    }
    list_map(schema, path, out);
    let properties = schema["properties"].as_object().into_iter().flatten();
    for (key, child) in properties {
        let path = format!("{path}.properties[{key}]");
        structural(child, &path, out);
        typed(child, &path, "must not be empty for specified object fields", out);
    }
    let items = &schema["items"];
    if items.is_object() {
        let path = format!("{path}.items");
        structural(items, &path, out);
        typed(items, &path, "must not be empty for specified array items", out);
    } else if schema["type"] == "array" {
        out.required(format!("{path}.items"), "must be specified");
    }
    let more = &schema["additionalProperties"];
    if more.is_object() {
        let path = format!("{path}.additionalProperties");
        structural(more, &path, out);
        typed(more, &path, "must not be empty for specified object fields", out);
    }
}

/// A rule as the server's own struct is written.
fn rule_in_go(rule: &Value) -> String {
    let text = |field: &str| rule.get(field).cloned().unwrap_or_else(|| json!(""));
    format!(
        "{{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{},\"FieldPath\":{},\
         \"OptionalOldSelf\":{}}}",
        text("rule"),
        text("message"),
        text("messageExpression"),
        rule["reason"],
        text("fieldPath"),
        rule["optionalOldSelf"],
    )
}

fn typed(schema: &Value, path: &str, why: &str, out: &mut FieldErrors) {
    let free = schema["x-kubernetes-int-or-string"] == true
        || schema["x-kubernetes-preserve-unknown-fields"] == true;
    if !free && schema["type"].as_str().is_none_or(str::is_empty) {
        out.required(format!("{path}.type"), why);
    }
}

fn list_map(schema: &Value, path: &str, out: &mut FieldErrors) {
    if schema["x-kubernetes-list-type"] != "map" {
        return;
    }
    let keys = schema["x-kubernetes-list-map-keys"].as_array().map_or(&[][..], Vec::as_slice);
    if keys.is_empty() {
        let path = format!("{path}.x-kubernetes-list-map-keys");
        out.required(path, "must not be empty if x-kubernetes-list-type is map");
    }
    let items = &schema["items"];
    for key in keys.iter().filter_map(Value::as_str) {
        let required = items["required"].as_array().into_iter().flatten().any(|name| name == key);
        if !required && items["properties"][key].get("default").is_none() {
            out.required(
                format!("{path}.items.properties[{key}].default"),
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be \
                 a required property",
            );
        }
    }
}
