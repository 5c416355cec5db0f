//! What a Pod's writer is warned of, though it is taken.

use std::collections::BTreeSet;

use crate::builtin::causes::{list, text};
use crate::json::Value;

/// What is worth a warning in a Pod's spec; `path` names it.
pub(crate) fn warnings(spec: &Value, path: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (index, secret) in list(spec, "imagePullSecrets").iter().enumerate() {
        let name = text(secret, "name");
        if name.is_empty() {
            out.push(format!("{path}.imagePullSecrets[{index}].name: invalid empty name {name:?}"));
        }
    }
    for kind in ["initContainers", "containers"] {
        for (index, container) in list(spec, kind).iter().enumerate() {
            let path = format!("{path}.{kind}[{index}]");
            variables(container, &path, &mut out);
            ports(container, &path, &mut out);
        }
    }
    out
}

/// Variables that take the place of one before, unless they are made of it.
fn variables(container: &Value, path: &str, out: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for (index, variable) in list(container, "env").iter().enumerate() {
        let (name, value) = (text(variable, "name"), text(variable, "value"));
        let itself = format!("$({name})");
        let made_of_it = value.contains(&itself) && value != itself;
        if !seen.insert(name) && (!made_of_it || variable.get("valueFrom").is_some()) {
            out.push(format!(
                "{path}.env[{index}]: hides previous definition of {name:?}, which may be dropped \
                 when using apply"
            ));
        }
    }
}

fn ports(container: &Value, path: &str, out: &mut Vec<String>) {
    let ports = list(container, "ports");
    let same = |a: &Value, b: &Value| {
        a["containerPort"] == b["containerPort"] && a["protocol"] == b["protocol"]
    };
    for (index, port) in ports.iter().enumerate() {
        if let Some(first) = ports[..index].iter().position(|other| same(other, port)) {
            out.push(format!(
                "{path}.ports[{index}]: duplicate port definition with {path}.ports[{first}]"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    #[test]
    fn what_hides_something_is_warned_of() {
        fn check(container: &Value, expect: &[&str]) {
            assert_eq!(warnings(&json!({"containers": [container]}), "spec"), expect);
        }
        let env = |name: &str, value: &str| json!({"name": name, "value": value});
        check(&json!({"env": [env("A", "1"), env("B", "1")]}), &[]);
        check(
            &json!({"env": [env("A", "1"), env("B", "1"), env("A", "2")]}),
            &[
                "spec.containers[0].env[2]: hides previous definition of \"A\", which may be dropped \
               when using apply",
            ],
        );
        check(&json!({"env": [env("A", "1"), env("A", "$(A)2")]}), &[]);
        check(
            &json!({"ports": [{"containerPort": 1}, {"containerPort": 2}, {"containerPort": 1}]}),
            &["spec.containers[0].ports[2]: duplicate port definition with \
               spec.containers[0].ports[0]"],
        );
    }
}
