//! The allowed differences: what two runs of the same real server would not share either.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use crate::allowed::compared;
use crate::quoted;

/// Compares two bodies after making both normal; one line for each path that differs.
pub fn differences(expected: &Value, found: &Value) -> Vec<String> {
    let mut out = Vec::new();
    if expected.get("(cut)").is_some() {
        // The recording kept only a length of it.
        return out;
    }
    if expected["kind"] == "APIResourceList"
        || expected["kind"] == "APIGroupList"
        || expected["kind"] == "APIGroupDiscoveryList"
    {
        // Fewer kinds are served; those that are have to be told alike.
        subset("", expected, found, &mut out);
        return out;
    }
    let (mut expected, mut found) = (expected.clone(), found.clone());
    for value in [&mut expected, &mut found] {
        normal("", value);
    }
    walk("", &expected, &found, &mut out);
    out
}

/// A body in which everything that two runs would not share is taken out.
pub fn form(body: &Value) -> Value {
    let mut out = body.clone();
    normal("", &mut out);
    out
}

/// What is replaced in every text, in order.
static REPLACED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let uid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
    [
        (r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$", "<time>"),
        (uid, "<uid>"),
        (r"\bgen-[a-z0-9]{5}\b", "gen-<random>"),
        (r"\bweb-[a-z0-9]{8,10}\b", "web-<hash>"),
        (r#""ip":"[0-9.]+""#, "<ip>"),
        (r"^\d+[smhd]$", "<age>"),
        (r"^\d{1,3}(\.\d{1,3}){3}$", "<ip>"),
        (r"^node-\d+$", "<node>"),
        (r"(current: |record \()\d+", "$1<version>"),
        (r#"conflict with "(kube-controller-manager|[a-z]+-controller)""#, "conflict with \"cp\""),
    ]
    .into_iter()
    .map(|(pattern, with)| (Regex::new(pattern).expect("a constant"), with))
    .collect()
});

/// What a Table's cell says of another run: how long ago, at which address, on which Node.
static CELL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(\d+[smhdy]){1,2}$|^\d+(\.\d+){3}$|^node-\d+$").expect("a constant")
});

fn normal(key: &str, value: &mut Value) {
    match value {
        Value::Object(map) => {
            // The recorded control plane runs in one process, "cp"; the live one's controllers are
            // "kube-controller-manager"; in the embedded cluster each writes under its own name.
            // The recorded kubelet stand-in gave no name.
            if let Some(Value::String(manager)) = map.get_mut("manager") {
                *manager = match manager.as_str() {
                    "kubelet" => "unknown".to_owned(),
                    other
                        if matches!(other, "kube-apiserver" | "kube-controller-manager")
                            || other.ends_with("-controller") =>
                    {
                        "cp".to_owned()
                    }
                    other => other.to_owned(),
                };
            }
            // Why a Pod fits nowhere is counted over all Nodes, in words of the scheduler's plugins.
            if map.get("reason").is_some_and(|reason| reason == "Unschedulable") {
                map.remove("message");
            }
            // Columns are described in words of our own, or not at all.
            if map.contains_key("priority") && map.contains_key("format") {
                map.remove("description");
            }
            // The recorded kubelet stand-in runs nothing: it has no host and an image of its own.
            for field in ["hostIP", "hostIPs", "f:hostIP", "f:hostIPs", "imageID", "containerID"] {
                map.remove(field);
            }
            // The real server walks the properties of a schema in no order.
            if map.get("details").is_some_and(is_custom) {
                if let Some(Value::String(message)) = map.get_mut("message") {
                    *message = sorted_words(message);
                }
                if let Some(causes) = map["details"]["causes"].as_array_mut() {
                    causes.sort_by_key(Value::to_string);
                }
            }
            let keys: Vec<String> = map.keys().cloned().collect();
            for key in keys {
                let mut child = map.remove(&key).unwrap_or_default();
                normal(&key, &mut child);
                map.insert(names(&key), child);
            }
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| normal(key, item));
            match key {
                "managedFields" => one_entry_each(items),
                // The real server walks a map of managers.
                "causes" if items.iter().all(|one| one["reason"] == "FieldManagerConflict") => {
                    items.sort_by_key(Value::to_string);
                }
                // The recorded kubelet stand-in patches its conditions in front of the others.
                "conditions" => items.sort_by_key(|one| one["type"].to_string()),
                _ => {}
            }
        }
        Value::String(text) => {
            *value = match key {
                "cells" => json!(CELL.replace(text, "…")),
                "resourceVersion" | "continue" if !text.is_empty() => json!("…"),
                "serverAddress" | "reportingInstance" => json!("…"),
                "controller.kubernetes.io/hash" => json!("…"),
                "message" => {
                    let text = quoted::form(text, |managers| normal("managedFields", managers));
                    json!(names(compared(&text)))
                }
                _ => json!(names(text)),
            };
        }
        _ => {}
    }
}

fn is_custom(details: &Value) -> bool {
    details["group"].as_str().is_some_and(|group| group.ends_with(".example.com"))
}

/// The parts of `x is invalid: [a, b, c]`.
fn sorted_words(message: &str) -> String {
    let Some((head, list)) = message.split_once(" is invalid: [") else {
        return message.to_owned();
    };
    let mut parts: Vec<&str> = list.trim_end_matches(']').split(", ").collect();
    parts.sort_unstable();
    format!("{head} is invalid: [{}]", parts.join(", "))
}

/// Components that were one process have one entry; entries of one second are ordered by manager.
fn one_entry_each(entries: &mut Vec<Value>) {
    let mut merged: Vec<Value> = Vec::new();
    // Whether the mark of a Pod that fitted nowhere outlives its binding is a matter of moments.
    entries.retain(|entry| entry["manager"] != "kube-scheduler");
    for entry in entries.drain(..) {
        let same = |known: &&mut Value| {
            ["manager", "operation", "subresource", "apiVersion"]
                .iter()
                .all(|&part| known[part] == entry[part])
        };
        match merged.iter_mut().find(same) {
            Some(known) => merge(&mut known["fieldsV1"], &entry["fieldsV1"]),
            None => merged.push(entry),
        }
    }
    merged.sort_by_key(Value::to_string);
    *entries = merged;
}

fn merge(into: &mut Value, from: &Value) {
    if let (Some(map), Some(other)) = (into.as_object_mut(), from.as_object()) {
        for (key, value) in other {
            merge(map.entry(key.clone()).or_insert_with(|| json!({})), value);
        }
    }
}

/// UIDs, times, random and hashed names, addresses and versions inside messages.
fn names(text: &str) -> String {
    REPLACED.iter().fold(text.to_owned(), |text, (pattern, with)| {
        pattern.replace_all(&text, *with).into_owned()
    })
}

fn walk(path: &str, expected: &Value, found: &Value, out: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in a {
                match b.get(key) {
                    Some(other) => walk(&format!("{path}.{key}"), value, other, out),
                    None => out.push(format!("{path}.{key}: missing, expected {}", short(value))),
                }
            }
            for (key, value) in b.iter().filter(|(key, _)| !a.contains_key(*key)) {
                out.push(format!("{path}.{key}: not expected, found {}", short(value)));
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (value, other)) in a.iter().zip(b).enumerate() {
                walk(&format!("{path}[{index}]"), value, other, out);
            }
        }
        (a, b) if a == b => {}
        (Value::Array(a), Value::Array(b)) => {
            out.push(format!("{path}: {} items expected, {} found", a.len(), b.len()));
            for (index, (value, other)) in a.iter().zip(b).enumerate() {
                walk(&format!("{path}[{index}]"), value, other, out);
            }
        }
        (a, b) => out.push(format!("{path}: expected {}\n      found {}", short(a), short(b))),
    }
}

/// Everything found has to be in what was expected, entries of lists by their name.
fn subset(path: &str, expected: &Value, found: &Value, out: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(a), Value::Object(b)) => {
            // The hash is opaque, and made of more than what clients see.
            for (key, value) in b.iter().filter(|(key, _)| *key != "storageVersionHash") {
                match a.get(key) {
                    Some(other) => subset(&format!("{path}.{key}"), other, value, out),
                    None => out.push(format!("{path}.{key}: not expected")),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            for value in b {
                let id = |value: &Value| {
                    ["name", "resource", "subresource", "version", "groupVersion"]
                        .iter()
                        .find_map(|key| value.get(key).and_then(Value::as_str).map(str::to_owned))
                        .or_else(|| value["metadata"]["name"].as_str().map(str::to_owned))
                };
                let other = a.iter().find(|other| {
                    if value.is_string() { *other == value } else { id(other) == id(value) }
                });
                match other {
                    Some(other) => {
                        subset(
                            &format!("{path}[{}]", id(value).unwrap_or_default()),
                            other,
                            value,
                            out,
                        );
                    }
                    None => out.push(format!("{path}: {} not expected", short(value))),
                }
            }
        }
        (a, b) if a == b => {}
        (a, b) => out.push(format!("{path}: expected {} found {}", short(a), short(b))),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 300 {
        text.chars().take(300).collect::<String>() + " …"
    } else {
        text
    }
}
