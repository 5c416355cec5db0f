//! Which Pods of a CloneSet go first, and which are updated first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::Timestamp;

use super::Seen;
use crate::behaviour::kruise::in_place;
use crate::behaviour::kruise::priority::Priority;
use crate::behaviour::pod;
use crate::behaviour::replicaset::rank;
use crate::json::Value;
use crate::object;

/// Puts those in front that are to be deleted first: whatever is least at work, then of each node all
/// but the one that would go last there, the more of them after it the sooner; then the youngest.
pub fn to_delete(pods: &mut [&Seen<'_>], now: Timestamp) {
    let first = |seen: &Seen<'_>| {
        let pod = seen.pod;
        let node = rank::node(pod);
        (!node.is_empty(), rank::stage(pod), seen.serves(now), pod::is_ready(pod), rank::cost(pod))
    };
    pods.sort_by_cached_key(|seen| (stage(seen.pod), rank::cost(seen.pod), age(seen.pod)));
    let mut after: BTreeMap<String, usize> = BTreeMap::new();
    let mut ranks: BTreeMap<String, usize> = BTreeMap::new();
    for seen in pods.iter().rev().filter(|seen| !rank::node(seen.pod).is_empty()) {
        let count = after.entry(rank::node(seen.pod).to_owned()).or_default();
        ranks.insert(object::uid(seen.pod).to_owned(), *count);
        *count += 1;
    }
    let rank = |seen: &Seen<'_>| ranks.get(object::uid(seen.pod)).copied().unwrap_or(0);
    pods.sort_by_cached_key(|seen| (first(seen), Reverse(rank(seen)), age(seen.pod)));
}

/// Puts those in front that are to be updated first: those whose update has begun, then by what the
/// user wants, then whatever is least at work and the youngest.
pub fn to_update(pods: &mut [&Seen<'_>], priorities: &Value) {
    pods.sort_by_cached_key(|seen| {
        let pod = seen.pod;
        (!in_place::is_begun(pod), Priority::of(pod, priorities), stage(pod), age(pod))
    });
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
    use super::*;
    use crate::json::json;
    use crate::object::Object;

    /// The Pods in the order in which they would be deleted, and in that in which they would be
    /// updated.
    fn names(pods: &[Object]) -> [Vec<String>; 2] {
        let pods: Vec<Seen<'_>> = pods.iter().map(|pod| Seen::of(pod, "", &[], 0)).collect();
        let (mut gone, mut updated): (Vec<_>, Vec<_>) = pods.iter().map(|pod| (pod, pod)).unzip();
        to_delete(&mut gone, "2026-01-01T01:00:00Z".parse().unwrap());
        to_update(&mut updated, &Value::Null);
        [gone, updated]
            .map(|pods| pods.iter().map(|pod| object::name(pod.pod).to_owned()).collect())
    }

    fn pod(name: &str, edit: impl FnOnce(&mut Value)) -> Object {
        let mut pod = json!({
            "metadata": {
                "name": name, "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z", "annotations": {},
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
        let both = names(&[pod("a", |_| {}), pod("z", &edit)]);
        assert_eq!(both, [["z", "a"], ["z", "a"]]);
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
    fn a_node_with_several_loses_one_before_another_loses_its_only_one() {
        let alone = pod("a", |pod| {
            pod["spec"]["nodeName"] = "node-2".into();
            pod["metadata"]["creationTimestamp"] = "2026-01-01T00:00:01Z".into();
        });
        let pods = [alone, pod("b", |_| {}), pod("c", |_| {})];
        assert_eq!(names(&pods), [["b", "a", "c"], ["a", "b", "c"]]);
    }
}
