//! The PodDisruptionBudget controller: how many of the selected Pods may go now.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::{Behaviour, Change, Step, View, Write, pod, select};
use crate::json::{Value, json};
use crate::object::{self, BUDGETS, CRDS, Collection, Key, Object, PODS, STATEFULSETS};

const COMPONENT: &str = "controllermanager";
/// How long an evicted Pod is taken for gone before the controller stops believing it.
const DELETION_TIMEOUT: SignedDuration = SignedDuration::from_secs(120);
const REPLICA_SETS: Collection = Collection::known("apps", "replicasets");
const DEPLOYMENTS: Collection = Collection::known("apps", "deployments");

/// The disruption controller of Kubernetes 1.36.
#[derive(Debug, Default)]
pub struct Budgets;

impl Behaviour for Budgets {
    fn name(&self) -> &'static str {
        "disruption-controller"
    }

    fn concerns(&self, view: &dyn View, change: &Change) -> Vec<Key> {
        if change.key.collection == BUDGETS {
            return vec![change.key.clone()];
        }
        let matters = pod::matters(change.before.as_deref(), change.after.as_deref());
        if change.key.collection != PODS || !matters {
            return Vec::new();
        }
        // A change of a set's replicas alone does not bring this controller round: the Pods do.
        // Nor does a Pod whose labels no longer fit: its budget is looked at when another one's change.
        let Some(pod) = change.after.as_ref().or(change.before.as_ref()) else { return Vec::new() };
        let labels = &pod["metadata"]["labels"];
        let selected = |budget: &&Object| select::selects(&budget["spec"]["selector"], labels);
        view.list(&BUDGETS, Some(&change.key.namespace))
            .filter(selected)
            .map(|budget| Key::of(BUDGETS, budget))
            .collect()
    }

    fn step(&self, view: &dyn View, key: &Key, now: Timestamp, _: &mut fastrand::Rng) -> Step {
        match view.get(key) {
            Some(budget) => look(view, key, budget, now),
            None => Step::default(),
        }
    }
}

fn look(view: &dyn View, key: &Key, budget: &Object, now: Timestamp) -> Step {
    let pods: Vec<&Object> =
        view.selected(&PODS, &key.namespace, &budget["spec"]["selector"]).collect();
    let mut step = Step::default();
    let mut say = |type_, reason, message| {
        step.writes.push(Write::event(COMPONENT, key, type_, reason, message));
    };
    if pods.is_empty() {
        say("Normal", "NoPods", "No matching pods found".to_owned());
    }
    let mut next = Value::clone(budget);
    match expected(view, budget, &pods) {
        Ok((expected, desired)) => {
            let (disrupted, recheck) = disrupted(budget, &pods, now);
            let healthy = pods.iter().filter(|pod| is_healthy(pod, &disrupted)).count();
            let healthy = i64::try_from(healthy).unwrap_or(i64::MAX);
            let allowed = if expected > 0 { (healthy - desired).max(0) } else { 0 };
            let conditions = budget["status"].get("conditions").cloned();
            next["status"] = json!({
                "observedGeneration": object::generation(budget), "disruptionsAllowed": allowed,
                "currentHealthy": healthy, "desiredHealthy": desired, "expectedPods": expected,
            });
            if !disrupted.is_empty() {
                next["status"]["disruptedPods"] = json!(disrupted);
            }
            if let Some(conditions) = conditions {
                next["status"]["conditions"] = conditions;
            }
            set_allowed_condition(&mut next, now);
            step.wake = recheck;
        }
        Err(why) => {
            let message = format!("Failed to calculate the number of expected pods: {why}");
            say("Warning", "CalculateExpectedPodCountFailed", message);
            next["status"]["disruptionsAllowed"] = 0.into();
            put_condition(&mut next, false, "SyncFailed", &why, now);
        }
    }
    if next == **budget {
        // Nothing new: nor are the Events said again.
        step.writes.clear();
    } else {
        step.writes.insert(
            0,
            Write::Update { key: key.clone(), subresource: Some("status"), object: next },
        );
    }
    step
}

/// Ready, not on its way out, and not evicted a moment ago. minReadySeconds plays no part.
fn is_healthy(pod: &Value, disrupted: &BTreeMap<&str, &Value>) -> bool {
    !object::is_terminating(pod) && !disrupted.contains_key(object::name(pod)) && pod::is_ready(pod)
}

/// The evicted Pods, by name, that are still there and not terminating, and when the first of them
/// is given up on. A newborn of the same name is taken for the one that was evicted.
fn disrupted<'a>(
    budget: &'a Value,
    pods: &[&'a Object],
    now: Timestamp,
) -> (BTreeMap<&'a str, &'a Value>, Option<Timestamp>) {
    let mut kept = BTreeMap::new();
    let mut recheck: Option<Timestamp> = None;
    let named = &budget["status"]["disruptedPods"];
    if !named.is_object() {
        return (kept, recheck);
    }
    for pod in pods.iter().filter(|pod| !object::is_terminating(pod)) {
        let Some(since) = named.get(object::name(pod)) else { continue };
        let Some(until) = pod::time(since).and_then(|at| at.checked_add(DELETION_TIMEOUT).ok())
        else {
            continue;
        };
        if until <= now {
            continue;
        }
        kept.insert(object::name(pod), since);
        recheck = Some(recheck.map_or(until, |at| at.min(until)));
    }
    (kept, recheck)
}

/// How many Pods there ought to be, and how many of them healthy. Percentages of both kinds round
/// up; an integer `minAvailable` counts the Pods, everything else the scale of their controllers.
fn expected(view: &dyn View, budget: &Value, pods: &[&Object]) -> Result<(i64, i64), String> {
    let spec = &budget["spec"];
    if let Some(most) = spec.get("maxUnavailable") {
        let expected = scale(view, budget, pods)?;
        return Ok((expected, (expected - amount(most, expected)?).max(0)));
    }
    let least = spec.get("minAvailable").unwrap_or(&Value::Null);
    if let Some(least) = least.as_i64() {
        return Ok((i64::try_from(pods.len()).unwrap_or(i64::MAX), least));
    }
    if least.is_null() {
        return Ok((0, 0));
    }
    let expected = scale(view, budget, pods)?;
    Ok((expected, amount(least, expected)?))
}

fn amount(value: &Value, of: i64) -> Result<i64, String> {
    if let Some(count) = value.as_i64() {
        return Ok(count);
    }
    let text = value.as_str().unwrap_or_default();
    let percent: Option<i64> = text.strip_suffix('%').and_then(|digits| digits.parse().ok());
    let percent = percent.ok_or_else(|| {
        format!("invalid value for IntOrString: invalid type: string is not a percentage: {text}")
    })?;
    Ok((percent * of + 99).div_euclid(100))
}

/// The summed scale of the Pods' controllers. Pods without one count for nothing.
fn scale(view: &dyn View, budget: &Value, pods: &[&Object]) -> Result<i64, String> {
    let namespace = object::namespace(budget);
    let mut seen = BTreeSet::new();
    let mut sum = 0;
    // Most Pods have the owner of the Pod before them.
    let mut last = "";
    for pod in pods {
        let Some(owner) = object::controller(pod) else { continue };
        let uid = owner["uid"].as_str().unwrap_or_default();
        if uid == last || !seen.insert(uid) {
            continue;
        }
        last = uid;
        match controller_scale(view, namespace, owner)? {
            Some((uid, replicas)) => {
                // Several ReplicaSets may lead to one Deployment.
                if *uid == owner["uid"] || seen.insert(uid.as_str().unwrap_or_default()) {
                    sum += replicas;
                }
            }
            None => return Err(format!("found no controllers for pod \"{}\"", object::name(pod))),
        }
    }
    Ok(sum)
}

fn controller_scale<'a>(
    view: &'a dyn View,
    namespace: &str,
    owner: &'a Value,
) -> Result<Option<(&'a Value, i64)>, String> {
    let kind = owner["kind"].as_str().unwrap_or_default();
    let name = owner["name"].as_str().unwrap_or_default();
    let version = owner["apiVersion"].as_str().unwrap_or_default();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let find = |collection: Collection, owner: &Value| {
        let found = view.get(&Key::new(collection, namespace, owner["name"].as_str()?))?;
        (found["metadata"]["uid"] == owner["uid"]).then_some(found)
    };
    let replicas = |found: &'a Object| {
        (&found["metadata"]["uid"], found["spec"]["replicas"].as_i64().unwrap_or(1))
    };
    match (group, kind) {
        ("apps", "StatefulSet") => Ok(find(STATEFULSETS, owner).map(replicas)),
        ("apps", "Deployment") => Ok(find(DEPLOYMENTS, owner).map(replicas)),
        ("apps", "ReplicaSet") => {
            let Some(set) = find(REPLICA_SETS, owner) else { return Ok(None) };
            let above = object::controller(set).filter(|above| above["kind"] == "Deployment");
            Ok(match above.and_then(|above| find(DEPLOYMENTS, above)) {
                Some(deployment) => Some(replicas(deployment)),
                None => Some(replicas(set)),
            })
        }
        ("apps", "DaemonSet") => {
            Err("daemonsets.apps does not implement the scale subresource".to_owned())
        }
        _ => custom_scale(view, namespace, group, kind, name),
    }
}

/// Any custom resource with `/scale`.
fn custom_scale<'a>(
    view: &'a dyn View,
    namespace: &str,
    group: &str,
    kind: &str,
    name: &str,
) -> Result<Option<(&'a Value, i64)>, String> {
    let crd = view
        .list(&CRDS, None)
        .find(|crd| crd["spec"]["group"] == group && crd["spec"]["names"]["kind"] == kind);
    let Some(crd) = crd else { return Ok(None) };
    let plural = crd["spec"]["names"]["plural"].as_str().unwrap_or_default();
    let versions = crd["spec"]["versions"].as_array();
    let path = versions
        .into_iter()
        .flatten()
        .find_map(|version| version["subresources"]["scale"]["specReplicasPath"].as_str());
    let Some(path) = path else {
        return Err(format!("{plural}.{group} does not implement the scale subresource"));
    };
    let collection =
        Collection { group: group.to_owned().into(), plural: plural.to_owned().into() };
    let Some(found) = view.get(&Key::new(collection, namespace, name)) else { return Ok(None) };
    let replicas = found.pointer(&path.replace('.', "/")).and_then(Value::as_i64).unwrap_or(0);
    Ok(Some((&found["metadata"]["uid"], replicas)))
}

/// Brings the DisruptionAllowed condition in line with `status.disruptionsAllowed`.
pub fn set_allowed_condition(budget: &mut Value, now: Timestamp) {
    let allowed = budget["status"]["disruptionsAllowed"].as_i64().unwrap_or(0) > 0;
    let reason = if allowed { "SufficientPods" } else { "InsufficientPods" };
    put_condition(budget, allowed, reason, "", now);
}

fn put_condition(budget: &mut Value, allowed: bool, reason: &str, message: &str, now: Timestamp) {
    let status = if allowed { "True" } else { "False" };
    let since = match pod::condition(budget, "DisruptionAllowed") {
        Some(before) if before["status"] == status => before["lastTransitionTime"].clone(),
        _ => pod::stamp(now).into(),
    };
    let observed = budget["status"]["observedGeneration"].as_i64().unwrap_or(0);
    let condition = json!({
        "type": "DisruptionAllowed", "status": status, "observedGeneration": observed,
        "lastTransitionTime": since, "reason": reason, "message": message,
    });
    pod::put_condition(budget, condition);
}

#[cfg(test)]
mod tests;
