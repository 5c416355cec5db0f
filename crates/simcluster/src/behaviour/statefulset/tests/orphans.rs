//! Pods and revisions that are nobody's.

use std::sync::Arc;

use super::*;

#[test]
fn orphaned_pods_and_revisions_are_adopted_without_a_restart() {
    let mut lab = Lab::new(|_| ());
    lab.run();
    let orphans: Vec<Key> = lab
        .store
        .list(&PODS, None)
        .map(|pod| Key::of(PODS, pod))
        .chain(
            lab.store.list(&CONTROLLER_REVISIONS, None).map(|r| Key::of(CONTROLLER_REVISIONS, r)),
        )
        .collect();
    for key in &orphans {
        lab.edit(key, |object| object["metadata"]["ownerReferences"] = json!([]));
    }
    lab.edit(&key(), |set| set["metadata"]["uid"] = "another".into());
    let uids = |lab: &Lab| -> Vec<Value> {
        lab.store.list(&PODS, None).map(|pod| pod["metadata"]["uid"].clone()).collect()
    };
    let before = uids(&lab);
    lab.run();
    assert_eq!(uids(&lab), before);
    assert_eq!(lab.store.controlled_by(&PODS, "another").count(), 3);
    assert_eq!(lab.revisions().len(), 1);
    assert_eq!(lab.status()["readyReplicas"], 3);
}

#[test]
fn an_orphan_wakes_the_set_that_would_take_it() {
    let lab = Lab::new(|_| ());
    let orphan = json!({"metadata": {
        "name": "web-1", "namespace": "exch", "labels": {"app": "web"},
    }});
    let change =
        Change { key: Key::of(PODS, &orphan), before: None, after: Some(Arc::new(orphan)) };
    assert_eq!(StatefulSets.concerns(&lab.store, &change), [key()]);
}

#[test]
fn orphans_above_the_range_are_adopted_too_and_scaled_in() {
    let mut lab = Lab::new(|_| ());
    lab.run();
    let pods: Vec<Key> = lab.store.list(&PODS, None).map(|pod| Key::of(PODS, pod)).collect();
    for pod in &pods {
        lab.edit(pod, |pod| pod["metadata"]["ownerReferences"] = json!([]));
    }
    lab.edit(&key(), |set| set["metadata"]["uid"] = "another".into());
    lab.spec(|spec| spec["replicas"] = 1.into());
    lab.run();
    assert_eq!(lab.images().len(), 1);
    assert_eq!(lab.store.controlled_by(&PODS, "another").count(), 1);
}
