//! The promises about a release in batches, for each write of the operator.

use simcluster::json::Value;

use super::facts::{Facts, size};
use super::kind::Held;
use crate::pods::{evicted, victim};
use crate::witness::{Verdict, Witness};

/// Looks at a write before it is done; what comes back looks after it.
pub fn judge(witness: &Witness, method: &str, path: &str) -> Option<Verdict> {
    let deed = Deed::of(method, path)?;
    let before = Facts::read(&witness.server);
    Some(Box::new(move |witness| verdict(witness, &deed, &before, &Facts::read(&witness.server))))
}

/// What says how many Pods run a template.
const MOVED: [&str; 5] = ["deployments", "statefulsets", "daemonsets", "clonesets", "replicasets"];

enum Deed {
    /// A Pod is evicted or deleted.
    Evict(String),
    /// Something that says how many Pods may run the template is written.
    Move(String),
}

impl Deed {
    fn of(method: &str, path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        if let Some(name) = victim(method, &parts) {
            return Some(Self::Evict(name.to_owned()));
        }
        match (method, parts.as_slice()) {
            ("PATCH" | "PUT", [.., kind, name]) if MOVED.contains(kind) => {
                Some(Self::Move(format!("{kind}/{name}")))
            }
            ("POST", [.., "replicasets"]) => Some(Self::Move("a new ReplicaSet".to_owned())),
            _ => None,
        }
    }
}

fn verdict(witness: &Witness, deed: &Deed, before: &Facts, after: &Facts) -> Vec<String> {
    let mut broken = Vec::new();
    let what = match deed {
        Deed::Evict(name) => {
            let counts = (after.healthy(), after.desired_healthy());
            let Some(short) = evicted(witness, before.pod(name), name, counts) else {
                return broken;
            };
            broken.extend(short);
            name
        }
        Deed::Move(what) => {
            broken.extend(bounds(what, before, after));
            broken.extend(slice(witness, what, before, after));
            what
        }
    };
    broken.extend(asked_for(witness, what, before, after));
    broken
}

/// What a workload's own controller may replace, asking no budget: no more than the budget lets go.
fn slice(witness: &Witness, what: &str, before: &Facts, after: &Facts) -> Option<String> {
    let exposed = after.exposed();
    if exposed <= before.exposed() || !before.is_in_release() || !witness.calm() {
        return None;
    }
    let desired = after.desired_healthy()?;
    let left = after.healthy().saturating_sub(exposed);
    (left < desired)
        .then(|| format!("budget: {exposed} Pods opened by {what}, {left} left, {desired} wanted"))
}

/// The step, and the pause.
fn asked_for(witness: &Witness, what: &str, before: &Facts, after: &Facts) -> Vec<String> {
    let mut broken = Vec::new();
    let replaced = before.replicas() != after.replicas();
    if !before.is_observed() || !before.is_in_release() || replaced || !witness.calm() {
        return broken;
    }
    let (moved, target) = (after.moved(), after.target());
    if moved <= before.moved() {
        return broken;
    }
    if before.rollout["spec"]["strategy"]["paused"] == true {
        broken.push(format!("pause: {what} moved Pods in a pause: {} to {moved}", before.moved()));
    }
    if moved > target {
        broken.push(format!("target: {moved} Pods moved, {target} asked for, by {what}"));
    }
    broken
}

/// Of a Deployment: `maxSurge` and `maxUnavailable`.
fn bounds(what: &str, before: &Facts, after: &Facts) -> Vec<String> {
    let mut broken = Vec::new();
    if after.kind.held != Held::Sizes || !before.is_in_release() {
        return broken;
    }
    let replicas = after.replicas();
    let (surge, unavailable) = limits(after);
    // With only one ReplicaSet that has Pods, its own controller would keep it at all of them, paused or not:
    // the first new Pod comes before an old one goes.
    let surge = surge.max(u32::from(before.moved() == 0 && after.moved() > 0));
    let (most, least) = (replicas + surge, replicas.saturating_sub(unavailable));
    if after.asked() > most && after.asked() > before.asked() {
        broken.push(format!("surge: {} Pods asked for, {most} may be, by {what}", after.asked()));
    }
    if after.sound() < least && after.sound() < before.sound() {
        broken.push(format!(
            "available: {} Pods are left, {least} have to be, by {what}",
            after.sound()
        ));
    }
    broken
}

/// `maxSurge` and `maxUnavailable` in Pods, as the user wrote them: in the annotation while a release lasts.
fn limits(facts: &Facts) -> (u32, u32) {
    let annotations = &facts.workload["metadata"]["annotations"];
    let kept = annotations["rollouts.kruise.io/deployment-strategy"].as_str().unwrap_or("null");
    let kept: Value = serde_json::from_str(kept).unwrap_or_default();
    let live = &facts.workload["spec"]["strategy"]["rollingUpdate"];
    let rolling = if kept["rollingUpdate"].is_object() { &kept["rollingUpdate"] } else { live };
    let replicas = facts.replicas();
    let surge = match size(&rolling["maxSurge"]) {
        engine::quantity::IntOrPercent::Int(pods) => pods,
        percent => percent.of(replicas),
    };
    let unavailable = size(&rolling["maxUnavailable"]).of_rounded_down(replicas);
    (surge, if surge == 0 { unavailable.max(1) } else { unavailable })
}
