//! What is wrong with a `StatefulsetRollout`, or will block later, beyond what the API server says
//! by itself; and, for `lint`, that as well.

use std::collections::BTreeSet;

use serde_json::Value;

use super::matches::matches;
use super::statefulset::RawStatefulSet;
use crate::finding::{Finding, Severity};
use crate::structural;

/// What the operator that is asked can serve. The default says nothing about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// It has a token for Slack.
    pub channel: bool,
    /// It may call the Bedrock API.
    pub callback: bool,
    /// It has the address of a Consul.
    pub discovery: bool,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self { channel: true, callback: true, discovery: true }
    }
}

const TEMPLATE: &str = "spec.statefulset.spec.template";

/// Everything there is to say about a manifest, errors first, each with its path.
///
/// Takes raw JSON, so that a manifest of the wrong shape gets an answer too.
pub fn validate(rollout: &Value, capabilities: &Capabilities) -> Vec<Finding> {
    let mut findings = structural::check(rollout, super::crd_schema());
    kind(rollout, &mut findings);
    names(rollout, &mut findings);
    strategy(rollout, &mut findings);
    pods(rollout, &mut findings);
    twins(rollout, &mut findings);
    selector(rollout, &mut findings);
    pace(rollout, &mut findings);
    outside(rollout, *capabilities, &mut findings);
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// Fields of a StatefulSet that may not change and would.
///
/// `live` and `desired` are whole StatefulSets; a field that `desired` leaves out stays as it is.
pub fn immutable_changes(live: &Value, desired: &Value) -> Vec<Finding> {
    let name = live.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    ["selector", "serviceName", "podManagementPolicy", "volumeClaimTemplates"]
        .into_iter()
        .filter(|field| {
            let pick =
                |object: &Value| object.get("spec").and_then(|spec| spec.get(*field)).cloned();
            let Some(wanted) = pick(desired) else { return false };
            let found = pick(live).unwrap_or_default();
            let covers = |left: &Value, right: &Value| {
                matches(&serde_json::json!({"spec": left}), &serde_json::json!({"spec": right}))
            };
            // A selector that lost a label changes too; claims have defaults that are not ours.
            !covers(&found, &wanted) || (*field == "selector" && !covers(&wanted, &found))
        })
        .map(|field| {
            Finding::error(
                format!("spec.statefulset.spec.{field}"),
                format!(
                    "differs from StatefulSet {name}, where it may not change; put it back, or \
                     delete the StatefulSet and leave its Pods running (`kubectl delete \
                     statefulset {name} --cascade=orphan`) and then apply this change, with a new \
                     rolloutIdentity if the rollout has it already"
                ),
            )
        })
        .collect()
}

fn at<'a>(rollout: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(rollout, |value, key| value.get(key)).filter(|value| !value.is_null())
}

fn text<'a>(rollout: &'a Value, path: &str) -> Option<&'a str> {
    at(rollout, path).and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn number(rollout: &Value, path: &str) -> Option<i64> {
    at(rollout, path).and_then(Value::as_i64)
}

fn kind(rollout: &Value, out: &mut Vec<Finding>) {
    let wanted = [("apiVersion", "bedrock.operator.slack.com/v1"), ("kind", "StatefulsetRollout")];
    for (field, wanted) in wanted {
        if text(rollout, field) != Some(wanted) {
            let found = rollout.get(field).unwrap_or(&Value::Null);
            out.push(Finding::error(field, format!("is {found}, but must be {wanted}")));
        }
    }
}

fn names(rollout: &Value, out: &mut Vec<Finding>) {
    let own = text(rollout, "metadata.name");
    if own.is_none() && text(rollout, "metadata.generateName").is_none() {
        out.push(Finding::error("metadata.name", "is missing; give the rollout a name"));
    }
    let embedded = at(rollout, "spec.statefulset").cloned().map(RawStatefulSet).unwrap_or_default();
    if let Some(asked) = embedded.namespace() {
        // Without a namespace the manifest takes the one that it is applied to.
        match text(rollout, "metadata.namespace") {
            Some(namespace) if namespace != asked => out.push(Finding::error(
                "spec.statefulset.metadata.namespace",
                format!("is {asked:?}, but the rollout is in {namespace:?}; leave it out"),
            )),
            Some(_) => {}
            None => out.push(Finding::warning(
                "metadata.namespace",
                format!("is missing while the StatefulSet names {asked:?}; write it here as well"),
            )),
        }
    }
    let (path, name) = match (embedded.name(), own) {
        (Some(name), _) => ("spec.statefulset.metadata.name", name),
        (None, Some(name)) => ("metadata.name", name),
        (None, None) => return,
    };
    if name.len() > 52 {
        out.push(Finding::error(
            path,
            format!(
                "has {} characters, a StatefulSet's name may have at most 52: with a revision's \
                 hash it becomes a label value of at most 63",
                name.len()
            ),
        ));
    }
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.chars().all(inner) || name.starts_with('-') || name.ends_with('-') {
        out.push(Finding::error(
            path,
            format!("{name:?} is no DNS label: use lower-case letters, digits and inner dashes"),
        ));
    }
}

fn strategy(rollout: &Value, out: &mut Vec<Finding>) {
    let path = "spec.statefulset.spec.updateStrategy";
    let prevent = text(rollout, "spec.versionLeak") == Some("Prevent");
    let kind = text(rollout, "spec.statefulset.spec.updateStrategy.type");
    let rolling = at(rollout, "spec.statefulset.spec.updateStrategy.rollingUpdate");
    match kind {
        Some("OnDelete") if rolling.is_some() => out.push(Finding::error(
            format!("{path}.rollingUpdate"),
            "goes with type RollingUpdate only; leave it out",
        )),
        Some("RollingUpdate") if !prevent => out.push(Finding::warning(
            format!("{path}.type"),
            "RollingUpdate is not used: Sluice sets OnDelete and evicts the Pods itself; with \
             `versionLeak: Prevent` it uses RollingUpdate with a partition of its own",
        )),
        Some("OnDelete") if prevent => out.push(Finding::warning(
            format!("{path}.type"),
            "OnDelete is not used: with `versionLeak: Prevent` Sluice sets RollingUpdate with a \
             partition of its own",
        )),
        _ => {}
    }
    for field in ["partition", "maxUnavailable"] {
        if rolling.is_some_and(|rolling| !rolling[field].is_null()) {
            out.push(Finding::warning(
                format!("{path}.rollingUpdate.{field}"),
                "is not used: how far is up to spec.percent, how many at once to the \
                 PodDisruptionBudget",
            ));
        }
    }
    if prevent && number(rollout, "spec.statefulset.spec.replicas") == Some(0) {
        out.push(Finding::warning(
            "spec.statefulset.spec.replicas",
            "0 loses the hold of `versionLeak: Prevent`: Pods that come later all run the newest \
             revision",
        ));
    }
}

fn pods(rollout: &Value, out: &mut Vec<Finding>) {
    let spec = format!("{TEMPLATE}.spec");
    let Some(found) = at(rollout, TEMPLATE) else { return };
    match found.pointer("/spec/containers") {
        None | Some(Value::Null) => out.push(Finding::error(
            format!("{spec}.containers"),
            "is missing; a Pod needs at least one container",
        )),
        Some(Value::Array(containers)) => {
            let mut names = BTreeSet::new();
            for (index, container) in containers.iter().enumerate() {
                let name = container.get("name").and_then(Value::as_str).unwrap_or_default();
                if !name.is_empty() && !names.insert(name) {
                    out.push(Finding::error(
                        format!("{spec}.containers[{index}].name"),
                        format!("{name:?} is the name of another container already"),
                    ));
                }
                let image = container.get("image").and_then(Value::as_str).unwrap_or_default();
                if image.is_empty() {
                    out.push(Finding::error(
                        format!("{spec}.containers[{index}].image"),
                        "is missing; name the image to run",
                    ));
                }
            }
        }
        // Of the wrong shape: said already.
        Some(_) => {}
    }
    if let Some(policy) = text(rollout, &format!("{spec}.restartPolicy"))
        && policy != "Always"
    {
        out.push(Finding::error(
            format!("{spec}.restartPolicy"),
            format!("is {policy:?}, but a StatefulSet takes Always only; leave it out"),
        ));
    }
    if number(rollout, &format!("{spec}.terminationGracePeriodSeconds")) == Some(0) {
        out.push(Finding::warning(
            format!("{spec}.terminationGracePeriodSeconds"),
            "0 lets a successor start while its predecessor may still write to the same volume",
        ));
    }
}

/// Entries of one name in a list that server-side apply merges by it. A plain update takes them with a
/// warning, an apply does not take them at all.
fn twins(rollout: &Value, out: &mut Vec<Finding>) {
    let path = format!("{TEMPLATE}.spec");
    let Some(spec) = at(rollout, &path) else { return };
    for (list, keys) in [("volumes", &["name"][..]), ("imagePullSecrets", &["name"])] {
        twins_of(&spec[list], keys, &format!("{path}.{list}"), out);
    }
    for kind in ["containers", "initContainers"] {
        let containers = spec[kind].as_array().into_iter().flatten().enumerate();
        for (index, container) in containers {
            for (list, keys) in [
                ("env", &["name"][..]),
                ("ports", &["containerPort", "protocol"]),
                ("volumeMounts", &["mountPath"]),
                ("volumeDevices", &["devicePath"]),
            ] {
                let path = format!("{path}.{kind}[{index}].{list}");
                twins_of(&container[list], keys, &path, out);
            }
        }
    }
}

fn twins_of(list: &Value, keys: &[&str], path: &str, out: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    for (index, item) in list.as_array().into_iter().flatten().enumerate() {
        let part = |key: &&str| match &item[*key] {
            Value::Null if *key == "protocol" => Some("TCP".to_owned()),
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let Some(parts) = keys.iter().map(part).collect::<Option<Vec<String>>>() else { continue };
        let name = parts.join("/");
        if !seen.insert(name.clone()) {
            out.push(Finding::error(
                format!("{path}[{index}]"),
                format!(
                    "is the second entry for {name}, and server-side apply takes only one; keep the \
                     one that is to count"
                ),
            ));
        }
    }
}

fn selector(rollout: &Value, out: &mut Vec<Finding>) {
    let path = "spec.statefulset.spec.selector";
    let Some(selector) = at(rollout, path) else { return };
    let none = serde_json::Map::new();
    let labels = at(rollout, TEMPLATE)
        .and_then(|template| template.pointer("/metadata/labels"))
        .and_then(Value::as_object)
        .unwrap_or(&none);
    let wanted = selector.get("matchLabels").and_then(Value::as_object).unwrap_or(&none);
    for (key, value) in wanted.iter().filter(|(key, value)| labels.get(*key) != Some(*value)) {
        out.push(Finding::error(
            format!("{path}.matchLabels"),
            format!("{key}: {value} is not among the labels of {TEMPLATE}.metadata"),
        ));
    }
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    for (index, expression) in expressions.into_iter().flatten().enumerate() {
        let key = expression["key"].as_str().unwrap_or_default();
        let listed = |value: &Value| {
            expression["values"].as_array().is_some_and(|values| values.contains(value))
        };
        let label = labels.get(key);
        let holds = match expression["operator"].as_str() {
            Some("In") => label.is_some_and(listed),
            Some("NotIn") => !label.is_some_and(listed),
            Some("Exists") => label.is_some(),
            Some("DoesNotExist") => label.is_none(),
            _ => continue,
        };
        if !holds {
            out.push(Finding::error(
                format!("{path}.matchExpressions[{index}]"),
                format!("does not hold for the labels of {TEMPLATE}.metadata"),
            ));
        }
    }
    if wanted.is_empty() && expressions.is_none_or(Vec::is_empty) {
        out.push(Finding::error(path, "is empty and would match every Pod; name a label"));
    }
}

fn pace(rollout: &Value, out: &mut Vec<Finding>) {
    let set = "spec.statefulset.spec";
    let replicas = number(rollout, &format!("{set}.replicas"));
    let percent = number(rollout, "spec.percent").unwrap_or(100);
    if replicas.is_none() {
        out.push(Finding::warning(
            format!("{set}.replicas"),
            "is absent, so Sluice never writes it: an autoscaler or `kubectl scale` owns it, and a \
             new StatefulSet starts with one Pod",
        ));
    }
    if replicas == Some(1) && (1..100).contains(&percent) {
        out.push(Finding::warning(
            "spec.percent",
            format!("{percent} of one replica is that replica: the whole set moves"),
        ));
    }
    let policy = text(rollout, &format!("{set}.podManagementPolicy"));
    if policy.unwrap_or("OrderedReady") == "OrderedReady" && replicas.is_none_or(|count| count > 1)
    {
        out.push(Finding::warning(
            format!("{set}.podManagementPolicy"),
            "OrderedReady (the default) brings Pods back one after another, so Sluice evicts one at \
             a time whatever the budget allows; Parallel lets it use the budget, but can only be \
             set when the StatefulSet is created",
        ));
    }
    let deadline = number(rollout, "spec.progressDeadlineSeconds").unwrap_or(600);
    let min_ready = number(rollout, &format!("{set}.minReadySeconds")).unwrap_or(0);
    if min_ready >= deadline {
        out.push(Finding::warning(
            "spec.progressDeadlineSeconds",
            format!(
                "{deadline} s pass before a Pod can be available, which takes minReadySeconds \
                 ({min_ready} s): every rollout would fail"
            ),
        ));
    }
    let names_services = at(rollout, "spec.serviceDiscovery.serviceNames")
        .and_then(Value::as_array)
        .is_some_and(|names| !names.is_empty());
    if text(rollout, &format!("{set}.serviceName")).is_none() && !names_services {
        out.push(Finding::warning(
            format!("{set}.serviceName"),
            "is absent and no service discovery is named: the Pods have no stable DNS names",
        ));
    }
}

fn outside(rollout: &Value, capabilities: Capabilities, out: &mut Vec<Finding>) {
    let url = text(rollout, "spec.bapi.bapiUrl");
    let stage = text(rollout, "spec.bapi.stageId");
    if url.is_some() != stage.is_some() {
        out.push(Finding::error("spec.bapi", "needs both bapiUrl and stageId, or neither"));
    }
    if let Some(url) = url {
        let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
        match rest {
            None => out.push(Finding::error(
                "spec.bapi.bapiUrl",
                format!("{url:?} must begin with http:// or https://"),
            )),
            Some(host) if host.starts_with("169.254.") || host.starts_with("[fe80") => {
                out.push(Finding::warning(
                    "spec.bapi.bapiUrl",
                    "is a link-local address, which is never called",
                ));
            }
            Some(_) => {}
        }
        if !capabilities.callback {
            out.push(Finding::warning(
                "spec.bapi",
                "this operator sends no callbacks; the release platform will not hear of the result",
            ));
        }
    }
    if text(rollout, "spec.channel").is_some() && !capabilities.channel {
        out.push(Finding::warning(
            "spec.channel",
            "this operator has no Slack token; nothing is posted",
        ));
    }
    let names = at(rollout, "spec.serviceDiscovery.serviceNames").and_then(Value::as_array);
    if names.is_some_and(|names| !names.is_empty()) && !capabilities.discovery {
        out.push(Finding::warning(
            "spec.serviceDiscovery",
            "this operator has no address of a Consul; Pods count as soon as Kubernetes has them \
             ready",
        ));
    }
}

/// Whether any finding forbids the object.
pub fn denies(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}
