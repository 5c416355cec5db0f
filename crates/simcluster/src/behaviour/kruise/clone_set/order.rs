//! Which Pods of a CloneSet go first, and which are updated first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::Value;

use super::Seen;
use crate::behaviour::pod;
use crate::behaviour::replicaset::rank;
use crate::object;

/// Puts those in front that are to be deleted first: whatever is least at work, then on the nodes
/// with the most of them, then the youngest.
pub fn to_delete(pods: &mut [&Seen<'_>]) {
    let mut crowd: BTreeMap<String, usize> = BTreeMap::new();
    for pod in pods.iter() {
        *crowd.entry(rank::node(pod.pod).to_owned()).or_default() += 1;
    }
    pods.sort_by_cached_key(|pod| {
        let pod = pod.pod;
        let crowded = crowd.get(rank::node(pod)).copied().unwrap_or(0);
        (stage(pod), rank::cost(pod), Reverse(crowded), age(pod))
    });
}

/// Puts those in front that are to be updated first: whatever is least at work, then the youngest.
pub fn to_update(pods: &mut [&Seen<'_>]) {
    pods.sort_by_cached_key(|pod| (stage(pod.pod), age(pod.pod)));
}

/// Without a node before with one, pending before running, unready before ready.
fn stage(pod: &Value) -> impl Ord + use<> {
    (!rank::node(pod).is_empty(), rank::stage(pod), pod::is_ready(pod))
}

/// Ready for less time first, then restarted more often, then younger; the name where all are alike.
fn age(pod: &Value) -> impl Ord + use<> {
    (
        Reverse(rank::ready_since(pod)),
        Reverse(rank::restarts(pod)),
        Reverse(rank::created(pod)),
        object::name(pod).to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::Object;

    fn names(sort: fn(&mut [&Seen<'_>]), pods: &[Object]) -> Vec<String> {
        let pods: Vec<Seen<'_>> = pods.iter().map(|pod| Seen::of(pod, "", &[], 0)).collect();
        let mut pods: Vec<&Seen<'_>> = pods.iter().collect();
        sort(&mut pods);
        pods.iter().map(|pod| object::name(pod.pod).to_owned()).collect()
    }

    fn pod(name: &str, edit: impl FnOnce(&mut Value)) -> Object {
        let mut pod = json!({
            "metadata": {
                "name": name, "creationTimestamp": "2026-01-01T00:00:00Z", "annotations": {},
            },
            "spec": {"nodeName": "node-1"},
            "status": {"phase": "Running", "conditions": [{
                "type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:10Z",
            }]},
        });
        edit(&mut pod);
        Object::new(pod)
    }

    #[track_caller]
    fn check_first(edit: impl Fn(&mut Value)) {
        for sort in [to_delete, to_update] {
            assert_eq!(names(sort, &[pod("a", |_| {}), pod("z", &edit)]), ["z", "a"]);
        }
    }

    #[test]
    fn what_is_least_at_work_comes_first_then_what_is_youngest() {
        check_first(|pod| drop(pod["spec"]["nodeName"].take()));
        check_first(|pod| pod["status"]["phase"] = "Pending".into());
        check_first(|pod| pod["status"]["conditions"][0]["status"] = "False".into());
        check_first(|pod| {
            pod["status"]["conditions"][0]["lastTransitionTime"] = "2026-01-01T00:00:11Z".into();
        });
        check_first(|pod| pod["status"]["containerStatuses"] = json!([{"restartCount": 1}]));
        check_first(|pod| pod["metadata"]["creationTimestamp"] = "2026-01-01T00:00:01Z".into());
    }

    #[test]
    fn the_fullest_node_loses_a_pod_first() {
        let alone = pod("a", |pod| pod["spec"]["nodeName"] = "node-2".into());
        let pods = [alone, pod("b", |_| {}), pod("c", |_| {})];
        assert_eq!(names(to_delete, &pods), ["b", "c", "a"]);
    }
}
