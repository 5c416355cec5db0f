//! The row of a Node.

use jiff::Timestamp;

use super::age::since;
use crate::json::{Value, json};

pub(super) fn cells(node: &Value, now: Timestamp) -> Vec<Value> {
    let info = &node["status"]["nodeInfo"];
    let text = |field: &str, absent: &str| {
        json!(info[field].as_str().filter(|text| !text.is_empty()).unwrap_or(absent))
    };
    vec![
        node["metadata"]["name"].clone(),
        json!(state(node)),
        json!(roles(node)),
        json!(since(&node["metadata"]["creationTimestamp"], now)),
        text("kubeletVersion", ""),
        json!(address(node, "InternalIP")),
        json!(address(node, "ExternalIP")),
        text("osImage", "<unknown>"),
        json!(kernel(info)),
        text("containerRuntimeVersion", "<unknown>"),
    ]
}

/// The kernel, and what it runs on.
fn kernel(info: &Value) -> String {
    let text = |field: &str| info[field].as_str().unwrap_or_default();
    match (text("kernelVersion"), text("architecture")) {
        ("", _) => "<unknown>".to_owned(),
        (kernel, "") => kernel.to_owned(),
        (kernel, architecture) => format!("{kernel} ({architecture})"),
    }
}

fn state(node: &Value) -> String {
    let conditions = node["status"]["conditions"].as_array().into_iter().flatten();
    let ready = conditions.into_iter().find(|condition| condition["type"] == "Ready");
    let mut words = vec![match ready {
        Some(ready) if ready["status"] == "True" => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }];
    if node["spec"]["unschedulable"] == true {
        words.push("SchedulingDisabled");
    }
    words.join(",")
}

fn roles(node: &Value) -> String {
    let labels = node["metadata"]["labels"].as_object().into_iter().flatten();
    let roles: Vec<&str> = labels
        .filter_map(|(key, _)| key.strip_prefix("node-role.kubernetes.io/"))
        .filter(|role| !role.is_empty())
        .collect();
    if roles.is_empty() { "<none>".to_owned() } else { roles.join(",") }
}

fn address<'a>(node: &'a Value, of: &str) -> &'a str {
    let addresses = node["status"]["addresses"].as_array().into_iter().flatten();
    addresses
        .into_iter()
        .find(|address| address["type"] == of)
        .and_then(|address| address["address"].as_str())
        .unwrap_or("<none>")
}
