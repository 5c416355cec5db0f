//! Kinds with little behind them: ConfigMaps, Secrets, Services, claims, webhooks, Events, Leases.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::causes::{Causes, list, text};
use super::{names, pod_set as set};
use crate::json::{Map, Value, json};
use crate::{body, object};

/// Defaults of a Service, but for what is allocated.
pub(super) fn default_service(object: &mut Value) {
    let spec = &mut object["spec"];
    set(spec, "type", "ClusterIP");
    set(spec, "sessionAffinity", "None");
    if spec["type"] != "ExternalName" {
        set(spec, "internalTrafficPolicy", "Cluster");
    }
    if matches!(spec["type"].as_str(), Some("NodePort" | "LoadBalancer")) {
        set(spec, "externalTrafficPolicy", "Cluster");
    }
    if spec["type"] == "LoadBalancer" {
        set(spec, "allocateLoadBalancerNodePorts", true);
    }
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        set(port, "protocol", "TCP");
        let number = port["port"].clone();
        set(port, "targetPort", number);
    }
}

/// Where the ports of Nodes begin that are given to Services, and how many there are.
const FIRST_PORT: u32 = 30_000;
const PORTS: u32 = 2_768;

/// What the allocator gives a new Service. The address follows from its name, so that a history
/// replays.
pub(super) fn allocate(object: &mut Value) {
    let name = format!("{}/{}", crate::object::namespace(object), crate::object::name(object));
    let spec = &mut object["spec"];
    if spec["type"] == "ExternalName" {
        return;
    }
    let hash = name.bytes().fold(5381_u32, |hash, byte| hash.wrapping_mul(33) ^ u32::from(byte));
    set(spec, "clusterIP", format!("10.0.{}.{}", hash / 254 % 255, hash % 254 + 1));
    let address = spec["clusterIP"].clone();
    set(spec, "clusterIPs", vec![address]);
    set(spec, "ipFamilies", vec!["IPv4"]);
    set(spec, "ipFamilyPolicy", "SingleStack");
    let opens = match spec["type"].as_str() {
        Some("NodePort") => true,
        Some("LoadBalancer") => spec["allocateLoadBalancerNodePorts"] != false,
        _ => false,
    };
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut).filter(|_| opens);
    for (index, port) in (0..).zip(ports.into_iter().flatten()) {
        set(port, "nodePort", FIRST_PORT + (hash.wrapping_add(index)) % PORTS);
    }
}

/// Defaults of a Secret; what is written as text is kept encoded.
pub(super) fn default_secret(object: &mut Value) {
    set(object, "type", "Opaque");
    let Some(texts) = object.as_object_mut().and_then(|map| map.remove("stringData")) else {
        return;
    };
    set(object, "data", Map::new());
    for (key, text) in texts.as_object().into_iter().flatten() {
        let encoded = STANDARD.encode(text.as_str().unwrap_or_default());
        object["data"][key] = json!(encoded);
    }
}

/// Defaults of a webhook configuration.
pub(super) fn default_webhooks(object: &mut Value, mutating: bool) {
    for hook in object.get_mut("webhooks").and_then(Value::as_array_mut).into_iter().flatten() {
        set(hook, "failurePolicy", "Fail");
        set(hook, "matchPolicy", "Equivalent");
        set(hook, "namespaceSelector", Map::new());
        set(hook, "objectSelector", Map::new());
        set(hook, "timeoutSeconds", 10);
        if mutating {
            set(hook, "reinvocationPolicy", "Never");
        }
        for rule in hook.get_mut("rules").and_then(Value::as_array_mut).into_iter().flatten() {
            set(rule, "scope", "*");
        }
        if let Some(service) = hook.pointer_mut("/clientConfig/service").filter(|s| s.is_object()) {
            set(service, "port", 443);
        }
    }
}

/// Defaults of a claim.
pub(super) fn default_claim(object: &mut Value) {
    set(&mut object["spec"], "volumeMode", "Filesystem");
}

/// Keys of a ConfigMap or Secret.
pub(super) fn validate_data(object: &Value, out: &mut Causes) {
    for field in ["data", "binaryData"] {
        let keys = object[field].as_object().into_iter().flatten();
        for (key, _) in keys {
            out.named(format!("{field}[{key}]"), key, names::bad_config_key(key));
            if field == "data" && !object["binaryData"][key].is_null() {
                let why = "duplicate of key present in binaryData";
                out.invalid(format!("data[{key}]"), &json!(key), why);
            }
        }
    }
}

/// What a Secret has to hold by its type.
pub(super) fn validate_secret(object: &Value, out: &mut Causes) {
    validate_data(object, out);
    let has = |key: &str| object["data"].get(key).is_some();
    let mut require = |key: &str| out.required(format!("data[{key}]"), "");
    match text(object, "type") {
        "kubernetes.io/service-account-token" => {
            let name = "kubernetes.io/service-account.name";
            if object::annotation(object, name).is_none_or(str::is_empty) {
                out.required(format!("metadata.annotations[{name}]"), "");
            }
        }
        "kubernetes.io/dockercfg" => docker(object, ".dockercfg", out),
        "kubernetes.io/dockerconfigjson" => docker(object, ".dockerconfigjson", out),
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => {
            require("username");
            require("password");
        }
        "kubernetes.io/ssh-auth" if text(&object["data"], "ssh-privatekey").is_empty() => {
            require("ssh-privatekey");
        }
        "kubernetes.io/tls" => {
            ["tls.crt", "tls.key"].into_iter().filter(|key| !has(key)).for_each(require);
        }
        _ => {}
    }
}

fn docker(object: &Value, key: &str, out: &mut Causes) {
    let path = format!("data[{key}]");
    let Some(encoded) = object["data"][key].as_str() else { return out.required(path, "") };
    let content = STANDARD.decode(encoded).unwrap_or_default().into();
    let why = match body::json(&content, false) {
        Ok(body) if body.value.is_object() || body.value.is_null() => return,
        Ok(body) => format!(
            "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            body::go_kind(&body.value)
        ),
        Err(broken) => broken.to_string(),
    };
    out.invalid(path, &json!("<secret contents redacted>"), &why);
}

/// What the writer of a certificate is warned of, as far as it is looked at here.
pub(super) fn warning(object: &Value) -> Option<String> {
    if object["type"] != "kubernetes.io/tls" {
        return None;
    }
    let is_pem = |key: &str| {
        let content = STANDARD.decode(text(&object["data"], key)).unwrap_or_default();
        String::from_utf8_lossy(&content).contains("-----BEGIN ")
    };
    let parts = [("tls.crt", "certificate"), ("tls.key", "key")];
    let (_, part) = parts.into_iter().find(|(key, _)| !is_pem(key))?;
    Some(format!("tls: failed to find any PEM data in {part} input"))
}

/// That a Secret keeps its type.
pub(super) fn update_secret(new: &Value, old: &Value, out: &mut Causes) {
    if new["type"] != old["type"] {
        out.invalid("type", &new["type"], "field is immutable");
    }
}

/// That an immutable ConfigMap or Secret stays as it is.
pub(super) fn update_data(new: &Value, old: &Value, out: &mut Causes) {
    if old["immutable"] != true {
        return;
    }
    if new["immutable"] != true {
        out.forbidden("immutable", "field is immutable when `immutable` is set");
    }
    for field in ["data", "binaryData"] {
        if new[field] != old[field] {
            out.forbidden(field, "field is immutable when `immutable` is set");
        }
    }
}

/// Ports of a Service.
pub(super) fn validate_service(object: &Value, out: &mut Causes) {
    let spec = &object["spec"];
    let ports = list(spec, "ports");
    if ports.is_empty() && spec["clusterIP"] != "None" && spec["type"] != "ExternalName" {
        out.required("spec.ports", "");
    }
    for (index, port) in ports.iter().enumerate() {
        let path = format!("spec.ports[{index}]");
        if ports.len() > 1 && text(port, "name").is_empty() {
            out.required(format!("{path}.name"), "");
        }
        if !port["port"].as_i64().is_some_and(|number| (1..=65535).contains(&number)) {
            let given = if port["port"].is_null() { json!(0) } else { port["port"].clone() };
            out.invalid(format!("{path}.port"), &given, "must be between 1 and 65535, inclusive");
        }
    }
    let address = text(spec, "clusterIP");
    if !matches!(address, "" | "None") && address.parse::<std::net::IpAddr>().is_err() {
        let why = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
        out.invalid("spec.clusterIPs[0]", &spec["clusterIP"], why);
    }
    let kind = text(spec, "type");
    if !matches!(kind, "ClusterIP" | "ExternalName" | "LoadBalancer" | "NodePort") {
        let known = &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
        out.not_supported("spec.type", &spec["type"], known);
    }
}

/// An Event of the core group: it lives where the object is that it is about.
pub(super) fn validate_core_event(object: &Value, out: &mut Causes) {
    let namespace = crate::object::namespace(object);
    let about = text(&object["involvedObject"], "namespace");
    if about != namespace && !(about.is_empty() && matches!(namespace, "default" | "")) {
        let why = "does not match event.namespace";
        out.invalid("involvedObject.namespace", &json!(about), why);
    }
}

/// An Event of the new group.
pub(super) fn validate_event(object: &Value, out: &mut Causes) {
    let namespace = crate::object::namespace(object);
    let about = text(&object["regarding"], "namespace");
    if about != namespace && !(about.is_empty() && namespace == "default") {
        let why = "does not match event.namespace";
        out.invalid("involvedObject.namespace", &json!(about), why);
    }
    if object["eventTime"].is_null() {
        out.required("eventTime", "");
    } else {
        for (field, name) in [
            ("reportingController", "reportingController"),
            ("reportingInstance", "reportingInstance"),
            ("action", "action"),
            ("reason", "reason"),
        ] {
            if text(object, field).is_empty() {
                out.required(name, "");
            }
        }
    }
    let kind = text(object, "type");
    if !matches!(kind, "Normal" | "Warning") {
        out.invalid("type", &json!(kind), &format!("has invalid value: {kind}"));
    }
}

/// Takes out what the gate for coordinated elections, off in 1.36, keeps out of a Lease.
pub(super) fn drop_gated(object: &mut Value) {
    if let Some(spec) = object["spec"].as_object_mut() {
        spec.retain(|field, _| !matches!(field.as_str(), "strategy" | "preferredHolder"));
    }
}

/// The spec of a Lease.
pub(super) fn validate_lease(object: &Value, out: &mut Causes) {
    let spec = &object["spec"];
    if spec["leaseDurationSeconds"].as_i64().is_some_and(|seconds| seconds <= 0) {
        let why = "must be greater than 0";
        out.invalid("spec.leaseDurationSeconds", &spec["leaseDurationSeconds"], why);
    }
    out.not_negative("spec.leaseTransitions", &spec["leaseTransitions"]);
}
