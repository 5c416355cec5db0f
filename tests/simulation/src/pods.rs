//! What Pods and their budget say in the cluster's store, and what both judges hold against an eviction.

use simcluster::json::Value;
use simcluster::object::Object;

use crate::witness::Witness;

/// The namespace that simulations play in.
pub const NAMESPACE: &str = "default";
/// The name of the rollout, its workload and its budget.
pub const NAME: &str = "web";

/// Ready, and not on its way out.
pub fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    let mut ready = conditions.filter(|it| it["type"] == "Ready" && it["status"] == "True");
    ready.next().is_some() && is_standing(pod)
}

/// Not on its way out.
pub fn is_standing(pod: &Value) -> bool {
    pod["metadata"]["deletionTimestamp"].is_null()
}

/// The number at the end of its name.
pub fn ordinal(pod: &Value) -> u32 {
    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
    name.rsplit('-').next().and_then(|n| n.parse().ok()).unwrap_or(u32::MAX)
}

/// How many.
pub fn count<'a>(pods: impl Iterator<Item = &'a Object>) -> u32 {
    u32::try_from(pods.count()).expect("few Pods")
}

/// A field that is a number of Pods; 0 where there is none.
pub fn number(value: &Value) -> u32 {
    value.as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
}

/// How many of these a budget counts as healthy.
pub fn healthy(pods: &[Object]) -> u32 {
    count(pods.iter().filter(|pod| is_ready(pod)))
}

/// How many of so many Pods the budget wants healthy, when its controller has caught up.
pub fn desired_healthy(budget: &Value, replicas: u32) -> Option<u32> {
    let status = &budget["status"];
    let current = status["observedGeneration"] == budget["metadata"]["generation"]
        && number(&status["expectedPods"]) == replicas;
    current.then(|| number(&status["desiredHealthy"]))
}

/// The one of this name.
pub fn named<'a>(pods: &'a [Object], name: &str) -> Option<&'a Value> {
    pods.iter().find(|pod| pod["metadata"]["name"] == name).map(|pod| &**pod)
}

/// The name of the Pod that a request takes away, if it does.
pub fn victim<'a>(method: &str, path: &[&'a str]) -> Option<&'a str> {
    match (method, path) {
        ("POST", [.., "pods", name, "eviction"]) | ("DELETE", [.., "pods", name]) => Some(*name),
        _ => None,
    }
}

/// Notes that a Pod was taken away by the operator. What promises that broke, or `None` where it was going
/// already.
pub fn evicted(
    witness: &Witness,
    victim: Option<&Value>,
    name: &str,
    (healthy, desired): (u32, Option<u32>),
) -> Option<Vec<String>> {
    let victim = victim.filter(|pod| is_standing(pod))?;
    let uid = victim["metadata"]["uid"].to_string();
    *witness.seen().evicted.entry(uid).or_default() += 1;
    let short = desired.filter(|desired| is_ready(victim) && healthy < *desired);
    let broken = short.map(|desired| {
        format!("budget: {healthy} healthy after evicting {name}, {desired} wanted")
    });
    Some(broken.into_iter().collect())
}
