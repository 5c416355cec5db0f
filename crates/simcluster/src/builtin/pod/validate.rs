//! Validation of Pod specs: what users get wrong most.

use std::collections::BTreeSet;

use super::container;
use crate::builtin::causes::{Causes, list, text, texts};
use crate::builtin::{meta, names};
use crate::json::Value;

/// A Pod template; `path` names it (`spec.template`). `claims` are volumes that come from elsewhere,
/// as the claim templates of a StatefulSet do.
pub(crate) fn validate_template(template: &Value, path: &str, claims: &[&str], out: &mut Causes) {
    let metadata = &template["metadata"];
    meta::labels(metadata, &format!("{path}.labels"), out);
    meta::annotations(metadata, &format!("{path}.annotations"), out);
    validate_spec(&template["spec"], &format!("{path}.spec"), claims, out);
}

/// A Pod's spec; `path` names it.
pub(crate) fn validate_spec(spec: &Value, path: &str, claims: &[&str], out: &mut Causes) {
    let mut volumes = volumes(spec, path, out);
    volumes.extend(claims);
    let containers = list(spec, "containers");
    if containers.is_empty() {
        out.required(format!("{path}.containers"), "");
    }
    let mut seen = BTreeSet::new();
    for kind in ["containers", "initContainers"] {
        for (index, container) in list(spec, kind).iter().enumerate() {
            let path = format!("{path}.{kind}[{index}]");
            container::validate(container, &path, &volumes, out);
            let name = text(container, "name");
            if !name.is_empty() && !seen.insert(name) {
                out.duplicate(format!("{path}.name"), &container["name"]);
            }
        }
    }
    let one_of = |field: &str, known: &[&str], out: &mut Causes| {
        let value = text(spec, field);
        if value.is_empty() {
            out.required(format!("{path}.{field}"), "");
        } else if !known.contains(&value) {
            out.not_supported(format!("{path}.{field}"), &spec[field], known);
        }
    };
    one_of("restartPolicy", &["Always", "Never", "OnFailure"], out);
    one_of("dnsPolicy", &["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"], out);
    for (key, value) in texts(spec, "nodeSelector") {
        let path = format!("{path}.nodeSelector");
        out.named(path.clone(), key, names::bad_label_key(key));
        out.named(path, value, names::bad_label_value(value));
    }
    for field in ["nodeName", "serviceAccountName", "priorityClassName"] {
        let name = text(spec, field);
        if !name.is_empty() {
            out.named(format!("{path}.{field}"), name, names::bad_subdomain(name));
        }
    }
    for (index, alias) in list(spec, "hostAliases").iter().enumerate() {
        if text(alias, "ip").parse::<std::net::IpAddr>().is_err() {
            let shown = Value::from(text(alias, "ip"));
            let why = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
            out.invalid(format!("{path}.hostAliases[{index}].ip"), &shown, why);
        }
    }
    for field in ["hostname", "subdomain"] {
        let name = text(spec, field);
        if !name.is_empty() {
            out.named(format!("{path}.{field}"), name, names::bad_label(name));
        }
    }
    out.not_negative(
        format!("{path}.terminationGracePeriodSeconds"),
        &spec["terminationGracePeriodSeconds"],
    );
    tolerations(spec, path, out);
}

fn volumes<'a>(spec: &'a Value, path: &str, out: &mut Causes) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    for (index, volume) in list(spec, "volumes").iter().enumerate() {
        let path = format!("{path}.volumes[{index}]");
        let sources = volume.as_object().map_or(0, |map| map.len().saturating_sub(1));
        match sources {
            0 => out.required(path.clone(), "must specify a volume type"),
            1 => {}
            _ => out.forbidden(path.clone(), "may not specify more than 1 volume type"),
        }
        let name = text(volume, "name");
        if name.is_empty() {
            out.required(format!("{path}.name"), "");
        } else if !names::bad_label(name).is_empty() {
            out.named(format!("{path}.name"), name, names::bad_label(name));
        } else if !seen.insert(name) {
            out.duplicate(format!("{path}.name"), &volume["name"]);
        }
    }
    seen
}

fn tolerations(spec: &Value, path: &str, out: &mut Causes) {
    for (index, toleration) in list(spec, "tolerations").iter().enumerate() {
        let path = format!("{path}.tolerations[{index}]");
        let (key, effect) = (text(toleration, "key"), text(toleration, "effect"));
        if !key.is_empty() {
            out.named(format!("{path}.key"), key, names::bad_label_key(key));
        }
        let operator = text(toleration, "operator");
        if !matches!(operator, "" | "Equal" | "Exists") {
            let known = &["Equal", "Exists"];
            out.not_supported(format!("{path}.operator"), &toleration["operator"], known);
        } else if key.is_empty() && operator != "Exists" {
            let why = "operator must be Exists when `key` is empty, which means \"match all values \
                       and all keys\"";
            out.invalid(format!("{path}.operator"), &Value::from(operator), why);
        }
        if !matches!(effect, "" | "NoSchedule" | "PreferNoSchedule" | "NoExecute") {
            let known = &["NoExecute", "NoSchedule", "PreferNoSchedule"];
            out.not_supported(format!("{path}.effect"), &toleration["effect"], known);
        }
    }
}
