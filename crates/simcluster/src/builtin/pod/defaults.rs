//! Defaults of a Pod and of a Pod template.

use crate::json::{Map, Value, json};

/// Sets a field unless it is there.
pub(in crate::builtin) fn set(object: &mut Value, field: &str, value: impl Into<Value>) {
    if object.is_null() {
        *object = json!({});
    }
    if let Some(map) = object.as_object_mut()
        && map.get(field).is_none_or(Value::is_null)
    {
        map.insert(field.to_owned(), value.into());
    }
}

fn each(object: &mut Value, list: &str, mut step: impl FnMut(&mut Value)) {
    if let Some(list) = object.get_mut(list).and_then(Value::as_array_mut) {
        list.iter_mut().for_each(&mut step);
    }
}

fn within(object: &mut Value, path: &[&str], step: impl FnOnce(&mut Value)) {
    let mut at = object;
    for field in path {
        match at.get_mut(*field) {
            Some(next) if !next.is_null() => at = next,
            _ => return,
        }
    }
    step(at);
}

/// Defaults of a Pod template.
pub(crate) fn default_template(template: &mut Value) {
    if let Some(spec) = template.get_mut("spec") {
        default_spec(spec);
    }
}

/// Defaults of a Pod.
pub(crate) fn default_pod(pod: &mut Value) {
    let Some(spec) = pod.get_mut("spec") else { return };
    for list in ["containers", "initContainers"] {
        each(spec, list, requests_from_limits);
    }
    set(spec, "enableServiceLinks", true);
    default_spec(spec);
}

/// What the admission plugins of a stock server add to a new Pod.
pub(crate) fn admit(pod: &mut Value) {
    let Some(spec) = pod.get_mut("spec") else { return };
    set(spec, "priority", 0);
    set(spec, "preemptionPolicy", "PreemptLowerPriority");
    set(spec, "tolerations", json!([]));
    if let Some(tolerations) = spec["tolerations"].as_array_mut() {
        for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
            let known = |toleration: &Value| {
                (toleration["key"] == key || toleration.get("key").is_none())
                    && (toleration["effect"] == "NoExecute" || toleration.get("effect").is_none())
            };
            if !tolerations.iter().any(known) {
                tolerations.push(json!({"key": key, "operator": "Exists", "effect": "NoExecute",
                                        "tolerationSeconds": 300}));
            }
        }
    }
}

fn requests_from_limits(container: &mut Value) {
    let limits = container["resources"]["limits"].as_object().cloned().unwrap_or_default();
    if limits.is_empty() {
        return;
    }
    set(&mut container["resources"], "requests", Map::new());
    for (resource, limit) in limits {
        set(&mut container["resources"]["requests"], &resource, limit);
    }
}

fn default_spec(spec: &mut Value) {
    let host_network = spec["hostNetwork"] == true;
    set(spec, "restartPolicy", "Always");
    set(spec, "terminationGracePeriodSeconds", 30);
    set(spec, "dnsPolicy", "ClusterFirst");
    set(spec, "securityContext", Map::new());
    set(spec, "schedulerName", "default-scheduler");
    // The old name of the field is kept in step with the new one.
    let account = ["serviceAccountName", "serviceAccount"]
        .into_iter()
        .find_map(|field| spec[field].as_str().filter(|name| !name.is_empty()).map(str::to_owned));
    if let Some(account) = account {
        spec["serviceAccountName"] = json!(account);
        spec["serviceAccount"] = json!(account);
    }
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        each(spec, list, |container| default_container(container, host_network));
    }
    each(spec, "volumes", default_volume);
    each(spec, "topologySpreadConstraints", |constraint| {
        set(constraint, "whenUnsatisfiable", "DoNotSchedule");
    });
}

fn default_container(container: &mut Value, host_network: bool) {
    set(container, "terminationMessagePath", "/dev/termination-log");
    set(container, "terminationMessagePolicy", "File");
    set(container, "resources", Map::new());
    let policy = pull_policy(container["image"].as_str().unwrap_or_default());
    set(container, "imagePullPolicy", policy);
    each(container, "ports", |port| {
        set(port, "protocol", "TCP");
        if host_network {
            let number = port["containerPort"].clone();
            set(port, "hostPort", number);
        }
    });
    each(container, "env", |variable| {
        within(variable, &["valueFrom", "fieldRef"], |field| set(field, "apiVersion", "v1"));
        within(variable, &["valueFrom", "resourceFieldRef"], |field| set(field, "divisor", "0"));
    });
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        within(container, &[probe], default_probe);
    }
    for hook in ["postStart", "preStop"] {
        within(container, &["lifecycle", hook, "httpGet"], default_http);
    }
}

/// `latest`, given or meant, is always pulled.
fn pull_policy(image: &str) -> &'static str {
    let (name, digest) = image.split_once('@').map_or((image, None), |(n, d)| (n, Some(d)));
    let last = name.rsplit('/').next().unwrap_or(name);
    let tag = last.split_once(':').map(|(_, tag)| tag);
    match (tag, digest) {
        (Some("latest"), _) | (None, None) => "Always",
        _ => "IfNotPresent",
    }
}

fn default_probe(probe: &mut Value) {
    for (field, value) in [
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ] {
        set(probe, field, value);
    }
    within(probe, &["httpGet"], default_http);
    within(probe, &["grpc"], |grpc| set(grpc, "service", ""));
}

fn default_http(http: &mut Value) {
    set(http, "path", "/");
    set(http, "scheme", "HTTP");
}

fn default_volume(volume: &mut Value) {
    if volume.as_object().is_some_and(|map| map.len() == 1 && map.contains_key("name")) {
        volume["emptyDir"] = json!({});
    }
    for source in ["secret", "configMap", "downwardAPI", "projected"] {
        within(volume, &[source], |source| set(source, "defaultMode", 420));
    }
    within(volume, &["hostPath"], |path| set(path, "type", ""));
    within(volume, &["downwardAPI"], |source| each(source, "items", default_item));
    within(volume, &["projected"], |projected| {
        each(projected, "sources", |source| {
            within(source, &["serviceAccountToken"], |t| set(t, "expirationSeconds", 3600));
            within(source, &["downwardAPI"], |source| each(source, "items", default_item));
        });
    });
    within(volume, &["ephemeral", "volumeClaimTemplate", "spec"], |claim| {
        set(claim, "volumeMode", "Filesystem");
    });
}

fn default_item(item: &mut Value) {
    within(item, &["fieldRef"], |field| set(field, "apiVersion", "v1"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_follows_the_tag() {
        for (image, policy) in [
            ("app:v1", "IfNotPresent"),
            ("app", "Always"),
            ("reg.example:5000/app", "Always"),
            ("reg.example:5000/app:latest", "Always"),
            ("app@sha256:00", "IfNotPresent"),
        ] {
            assert_eq!(pull_policy(image), policy, "{image}");
        }
    }

    #[test]
    fn a_probe_and_a_volume_get_their_defaults() {
        let mut template = json!({"spec": {
            "serviceAccountName": "web",
            "containers": [{"name": "a", "image": "x:1", "readinessProbe": {"httpGet": {"port": 80}}}],
            "volumes": [{"name": "v"}, {"name": "c", "configMap": {"name": "cm"}}]}});
        default_template(&mut template);
        let spec = &template["spec"];
        assert_eq!(
            spec["containers"][0]["readinessProbe"],
            json!({"httpGet": {"port": 80, "path": "/", "scheme": "HTTP"}, "timeoutSeconds": 1,
                   "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3})
        );
        assert_eq!(spec["volumes"][0], json!({"name": "v", "emptyDir": {}}));
        assert_eq!(spec["volumes"][1]["configMap"]["defaultMode"], 420);
        assert_eq!(spec["serviceAccount"], "web");
        assert!(spec.get("enableServiceLinks").is_none());
    }

    #[test]
    fn a_pod_is_given_what_admission_gives_it() {
        let mut pod = json!({"spec": {"containers": [{"name": "a", "image": "x:1",
            "resources": {"limits": {"cpu": "1"}}}]}});
        default_pod(&mut pod);
        admit(&mut pod);
        admit(&mut pod);
        let spec = &pod["spec"];
        assert_eq!(spec["containers"][0]["resources"]["requests"], json!({"cpu": "1"}));
        assert_eq!(spec["enableServiceLinks"], true);
        assert_eq!(spec["priority"], 0);
        assert_eq!(spec["tolerations"].as_array().map(Vec::len), Some(2));
    }
}
