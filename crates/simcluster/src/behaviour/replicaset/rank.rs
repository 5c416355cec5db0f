//! Which Pods of a ReplicaSet go first when there are too many.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::behaviour::pod;
use crate::json::Value;
use crate::object::{self, Object};

const COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Puts the Pods that go first in front. `crowd` says how many active Pods of the same controller
/// are on each node.
pub fn sort(pods: &mut [Object], crowd: &BTreeMap<String, usize>, now: Timestamp) {
    let (ready, born) = (Ages::of(pods, ready_since, now), Ages::of(pods, created, now));
    pods.sort_by_cached_key(|pod| {
        let crowded = crowd.get(node(pod)).copied().unwrap_or(0);
        (
            Reverse(node(pod).is_empty()),
            stage(pod),
            pod::is_ready(pod),
            cost(pod),
            Reverse(crowded),
            ready.of_pod(ready_since(pod)),
            Reverse(restarts(pod)),
            born.of_pod(created(pod)),
        )
    });
}

/// Ages by powers of two, so that of Pods about as old any one may go: the UID decides, and where the times
/// are the same to the nanosecond what comes after does. The real one compares two Pods at a time, by which
/// three may go round in a circle; here all of one time stand where the first UID among them does.
struct Ages {
    first: BTreeMap<Timestamp, String>,
    now: Timestamp,
}

impl Ages {
    fn of(pods: &[Object], time: fn(&Value) -> Option<Timestamp>, now: Timestamp) -> Self {
        let mut first: BTreeMap<Timestamp, String> = BTreeMap::new();
        for pod in pods {
            let Some(at) = time(pod) else { continue };
            let uid = object::uid(pod);
            let known = first.entry(at).or_insert_with(|| uid.to_owned());
            if uid < known.as_str() {
                uid.clone_into(known);
            }
        }
        Self { first, now }
    }

    fn of_pod(&self, since: Option<Timestamp>) -> Option<(i64, String)> {
        let since = since?;
        let nanos = u128::try_from(self.now.duration_since(since).as_nanos()).ok();
        let age = nanos.and_then(u128::checked_ilog2).map_or(-1, i64::from);
        Some((age, self.first.get(&since).cloned().unwrap_or_default()))
    }
}

/// The node that a Pod is on, empty for none.
pub fn node(pod: &Value) -> &str {
    pod["spec"]["nodeName"].as_str().unwrap_or_default()
}

/// How far a Pod is: 0 not running yet, 1 unknown, 2 beyond.
pub fn stage(pod: &Value) -> u8 {
    match pod::phase(pod) {
        "Pending" | "" => 0,
        "Unknown" => 1,
        _ => 2,
    }
}

/// What the user says that deleting a Pod costs.
pub fn cost(pod: &Value) -> i32 {
    object::annotation(pod, COST).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Since when a Pod has been ready.
pub fn ready_since(pod: &Value) -> Option<Timestamp> {
    let ready = pod::condition(pod, "Ready").filter(|ready| ready["status"] == "True")?;
    pod::time(&ready["lastTransitionTime"])
}

/// When a Pod was made.
pub fn created(pod: &Value) -> Option<Timestamp> {
    pod::time(&pod["metadata"]["creationTimestamp"])
}

/// How often the container of a Pod that was restarted most has been.
pub fn restarts(pod: &Value) -> i64 {
    let statuses = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
    statuses.filter_map(|status| status["restartCount"].as_i64()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

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
        let (first, ordinary) = (Object::new(pod(edit)), Object::new(pod(|_| {})));
        for mut both in [[first.clone(), ordinary.clone()], [ordinary, first.clone()]] {
            sort(&mut both, &crowd, now);
            assert_eq!(both[0], first);
        }
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
    fn three_that_would_go_round_in_a_circle_are_put_in_an_order() {
        // By two at a time: a before b by its restarts, b before c and c before a by their UIDs.
        let of = |uid: &str, second: u32, restarts: u32| {
            Object::new(pod(|pod| {
                pod["metadata"]["uid"] = uid.into();
                let at = format!("2026-01-01T00:00:{second}Z");
                pod["status"]["conditions"][0]["lastTransitionTime"] = at.into();
                pod["status"]["containerStatuses"] = json!([{"restartCount": restarts}]);
            }))
        };
        let now = "2026-01-01T01:00:00Z".parse().unwrap();
        let mut pods: Vec<Object> = (0..40)
            .flat_map(|n| {
                [
                    of(&format!("c{n}"), 10, 1),
                    of(&format!("a{n}"), 10, 0),
                    of(&format!("b{n}"), 11, 0),
                ]
            })
            .collect();
        sort(&mut pods, &BTreeMap::new(), now);
        let times = pods.iter().map(|pod| ready_since(pod)).collect::<Vec<_>>();
        assert!(times.is_sorted(), "all of one time stand together");
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
