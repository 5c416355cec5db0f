//! Validation of one container.

use std::collections::BTreeSet;

use crate::builtin::causes::{Causes, list, text};
use crate::builtin::names;
use crate::json::{Value, json};
use crate::types::Quantity;

const PORT_RANGE: &str = "must be between 1 and 65535, inclusive";

/// One container; `volumes` are the names that it may mount.
pub(super) fn validate(container: &Value, path: &str, volumes: &BTreeSet<&str>, out: &mut Causes) {
    let name = text(container, "name");
    if name.is_empty() {
        out.required(format!("{path}.name"), "");
    } else {
        out.named(format!("{path}.name"), name, names::bad_label(name));
    }
    let image = text(container, "image");
    if image.is_empty() {
        out.required(format!("{path}.image"), "");
    } else if image.trim() != image {
        let why = "must not have leading or trailing whitespace";
        out.invalid(format!("{path}.image"), &container["image"], why);
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        validate_probe(&container[probe], &format!("{path}.{probe}"), out);
    }
    ports(container, path, out);
    env(container, path, out);
    mounts(container, path, volumes, out);
    let policy = text(container, "imagePullPolicy");
    if !matches!(policy, "" | "Always" | "IfNotPresent" | "Never") {
        let known = &["Always", "IfNotPresent", "Never"];
        out.not_supported(format!("{path}.imagePullPolicy"), &container["imagePullPolicy"], known);
    }
    resources(&container["resources"], &format!("{path}.resources"), out);
}

fn ports(container: &Value, path: &str, out: &mut Causes) {
    let mut seen = BTreeSet::new();
    for (index, port) in list(container, "ports").iter().enumerate() {
        let path = format!("{path}.ports[{index}]");
        let name = text(port, "name");
        if !name.is_empty() {
            let wrong = names::bad_port_name(name);
            for why in &wrong {
                out.invalid(format!("{path}.name"), &port["name"], why);
            }
            if wrong.is_empty() && !seen.insert(name) {
                out.duplicate(format!("{path}.name"), &port["name"]);
            }
        }
        match port["containerPort"].as_i64().unwrap_or_default() {
            0 => out.required(format!("{path}.containerPort"), ""),
            1..=65535 => {}
            _ => out.invalid(format!("{path}.containerPort"), &port["containerPort"], PORT_RANGE),
        }
        if port["hostPort"].as_i64().is_some_and(|number| !(1..=65535).contains(&number)) {
            out.invalid(format!("{path}.hostPort"), &port["hostPort"], PORT_RANGE);
        }
        let protocol = text(port, "protocol");
        if protocol.is_empty() {
            out.required(format!("{path}.protocol"), "");
        } else if !matches!(protocol, "TCP" | "UDP" | "SCTP") {
            let known = &["SCTP", "TCP", "UDP"];
            out.not_supported(format!("{path}.protocol"), &port["protocol"], known);
        }
    }
}

fn env(container: &Value, path: &str, out: &mut Causes) {
    for (index, variable) in list(container, "env").iter().enumerate() {
        let path = format!("{path}.env[{index}]");
        let name = text(variable, "name");
        if name.is_empty() {
            out.required(format!("{path}.name"), "");
        } else {
            out.named(format!("{path}.name"), name, names::bad_env_name(name));
        }
        let Some(source) = variable["valueFrom"].as_object() else { continue };
        if source.is_empty() {
            let why = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, \
                       `secretKeyRef` or `fileKeyRef`";
            out.invalid(format!("{path}.valueFrom"), &json!(""), why);
        } else if !text(variable, "value").is_empty() {
            let why = "may not be specified when `value` is not empty";
            out.invalid(format!("{path}.valueFrom"), &json!(""), why);
        } else if source.len() > 1 {
            let why = "may not have more than one field specified at a time";
            out.invalid(format!("{path}.valueFrom"), &json!(""), why);
        }
    }
}

fn mounts(container: &Value, path: &str, volumes: &BTreeSet<&str>, out: &mut Causes) {
    let mut seen = BTreeSet::new();
    for (index, mount) in list(container, "volumeMounts").iter().enumerate() {
        let path = format!("{path}.volumeMounts[{index}]");
        let (name, place) = (text(mount, "name"), text(mount, "mountPath"));
        if name.is_empty() {
            out.required(format!("{path}.name"), "");
        }
        if !volumes.contains(name) {
            out.not_found(format!("{path}.name"), &json!(name));
        }
        if place.is_empty() {
            out.required(format!("{path}.mountPath"), "");
        }
        if !seen.insert(place) {
            out.invalid(format!("{path}.mountPath"), &mount["mountPath"], "must be unique");
        }
    }
}

fn validate_probe(probe: &Value, path: &str, out: &mut Causes) {
    if probe.is_null() {
        return;
    }
    let handlers: Vec<&str> = ["exec", "httpGet", "tcpSocket", "grpc"]
        .into_iter()
        .filter(|handler| !probe[handler].is_null())
        .collect();
    match handlers.as_slice() {
        [] => out.required(path, "must specify a handler type"),
        [_] => {}
        [_, second, ..] => {
            let why = "may not specify more than 1 handler type";
            out.forbidden(format!("{path}.{second}"), why);
        }
    }
    for field in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        out.not_negative(format!("{path}.{field}"), &probe[field]);
    }
    if !path.ends_with("readinessProbe")
        && probe["successThreshold"].as_i64().is_some_and(|number| number != 1)
    {
        out.invalid(format!("{path}.successThreshold"), &probe["successThreshold"], "must be 1");
    }
}

fn resources(resources: &Value, path: &str, out: &mut Causes) {
    let Some(requests) = resources["requests"].as_object() else { return };
    for (name, request) in requests {
        let parse = |value: &Value| value.as_str().and_then(Quantity::parse);
        let Some(asked) = parse(request) else { continue };
        if asked.is_negative() {
            let why = "must be greater than or equal to 0";
            out.invalid(format!("{path}.requests.{name}"), request, why);
        }
        let limit = &resources["limits"][name];
        if parse(limit).is_some_and(|limit| asked > limit) {
            let limit = limit.as_str().unwrap_or_default();
            let why = format!("must be less than or equal to {name} limit of {limit}");
            out.invalid(format!("{path}.requests"), request, &why);
        }
    }
}
