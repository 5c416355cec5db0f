//! Which Pods of a ReplicaSet go first when there are too many.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use crate::behaviour::pod;
use crate::object::{self, Object};

const COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Puts the Pods that go first in front. `crowd` says how many active Pods of the same controller
/// are on each node.
pub fn sort(pods: &mut [Object], crowd: &BTreeMap<String, usize>, now: Timestamp) {
    pods.sort_by(|a, b| order(a, b, crowd, now));
}

fn order(a: &Value, b: &Value, crowd: &BTreeMap<String, usize>, now: Timestamp) -> Ordering {
    let unassigned = |pod: &Value| node(pod).is_empty();
    let crowded = |pod: &Value| crowd.get(node(pod)).copied().unwrap_or(0);
    unassigned(b)
        .cmp(&unassigned(a))
        .then_with(|| stage(a).cmp(&stage(b)))
        .then_with(|| pod::is_ready(a).cmp(&pod::is_ready(b)))
        .then_with(|| cost(a).cmp(&cost(b)))
        .then_with(|| crowded(b).cmp(&crowded(a)))
        .then_with(|| younger(ready_since(a), ready_since(b), a, b, now))
        .then_with(|| restarts(b).cmp(&restarts(a)))
        .then_with(|| younger(created(a), created(b), a, b, now))
}

fn node(pod: &Value) -> &str {
    pod["spec"]["nodeName"].as_str().unwrap_or_default()
}

fn stage(pod: &Value) -> u8 {
    match pod::phase(pod) {
        "Pending" | "" => 0,
        "Unknown" => 1,
        _ => 2,
    }
}

fn cost(pod: &Value) -> i32 {
    object::annotation(pod, COST).and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn ready_since(pod: &Value) -> Option<Timestamp> {
    let ready = pod::condition(pod, "Ready").filter(|ready| ready["status"] == "True")?;
    pod::time(&ready["lastTransitionTime"])
}

fn created(pod: &Value) -> Option<Timestamp> {
    pod::time(&pod["metadata"]["creationTimestamp"])
}

fn restarts(pod: &Value) -> i64 {
    let statuses = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
    statuses.filter_map(|status| status["restartCount"].as_i64()).max().unwrap_or(0)
}

/// By powers of two of the age, so that of Pods about as old any one may go: the UID decides.
fn younger(
    of_a: Option<Timestamp>,
    of_b: Option<Timestamp>,
    a: &Value,
    b: &Value,
    now: Timestamp,
) -> Ordering {
    let (Some(of_a), Some(of_b)) = (of_a, of_b) else { return Ordering::Equal };
    if of_a == of_b {
        return Ordering::Equal;
    }
    let age = |since: Timestamp| {
        let nanos = now.duration_since(since).as_nanos();
        u128::try_from(nanos).ok().and_then(u128::checked_ilog2).map_or(-1, i64::from)
    };
    age(of_a).cmp(&age(of_b)).then_with(|| object::uid(a).cmp(object::uid(b)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(edit: impl FnOnce(&mut Value)) -> Value {
        let mut pod = json!({
            "metadata": {"uid": "m", "creationTimestamp": "2026-01-01T00:00:00Z", "annotations": {}},
            "spec": {"nodeName": "node-1"},
            "status": {"phase": "Running", "conditions": [{
                "type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:10Z",
            }]},
        });
        edit(&mut pod);
        pod
    }

    /// The edited Pod goes before an ordinary one.
    #[track_caller]
    fn check_first(edit: impl FnOnce(&mut Value)) {
        let now = "2026-01-01T01:00:00Z".parse().unwrap();
        let crowd = BTreeMap::from([("node-1".to_owned(), 1), ("node-2".to_owned(), 2)]);
        let (first, ordinary) = (pod(edit), pod(|_| {}));
        assert_eq!(order(&first, &ordinary, &crowd, now), Ordering::Less);
        assert_eq!(order(&ordinary, &first, &crowd, now), Ordering::Greater);
    }

    #[test]
    fn pods_go_in_the_order_of_what_they_are_worth() {
        check_first(|pod| {
            pod["spec"].as_object_mut().unwrap().remove("nodeName");
        });
        check_first(|pod| pod["status"]["phase"] = "Pending".into());
        check_first(|pod| pod["status"]["conditions"][0]["status"] = "False".into());
        check_first(|pod| pod["metadata"]["annotations"][COST] = "-1".into());
        check_first(|pod| pod["spec"]["nodeName"] = "node-2".into());
        check_first(|pod| {
            pod["status"]["conditions"][0]["lastTransitionTime"] = "2026-01-01T00:59:00Z".into();
        });
        check_first(|pod| pod["status"]["containerStatuses"] = json!([{"restartCount": 1}]));
        check_first(|pod| pod["metadata"]["creationTimestamp"] = "2026-01-01T00:59:00Z".into());
    }

    #[test]
    fn of_pods_about_as_old_the_uid_decides() {
        check_first(|pod| {
            pod["status"]["conditions"][0]["lastTransitionTime"] = "2026-01-01T00:00:09Z".into();
            pod["metadata"]["uid"] = "a".into();
        });
        check_first(|pod| {
            pod["status"]["conditions"][0]["lastTransitionTime"] = "2026-01-01T00:00:11Z".into();
            pod["metadata"]["uid"] = "a".into();
        });
    }

    #[test]
    fn a_reason_before_outweighs_all_after_it() {
        check_first(|pod| {
            pod["metadata"]["annotations"][COST] = "-1".into();
            pod["spec"]["nodeName"] = "node-3".into();
            pod["status"]["conditions"][0]["lastTransitionTime"] = "2025-01-01T00:00:00Z".into();
        });
    }
}
