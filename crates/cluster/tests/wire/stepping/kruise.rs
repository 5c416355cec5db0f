//! What is seen of Kruise's workloads, and where they are held.

use cluster::observe::orphans::orphans;

use super::*;

/// An object of Kruise's.
fn of_kruise(mut object: Value) -> Value {
    object["metadata"]["ownerReferences"][0]["apiVersion"] = json!("apps.kruise.io/v1beta1");
    object
}

/// A Rollout of one of these kinds, the workload, and Pods of it at these revisions.
fn objects(kind: &str, live: Value, pods: &[&str]) -> Objects {
    let table = match kind {
        "CloneSet" => "clonesets.apps.kruise.io",
        "StatefulSet" => "statefulsets.apps.kruise.io",
        _ => "daemonsets.apps.kruise.io",
    };
    let mut rollout = rollout(kind);
    rollout["spec"]["workloadRef"]["apiVersion"] = json!("apps.kruise.io/v1alpha1");
    let pods = pods.iter().enumerate();
    let pods = pods.map(|(it, revision)| of_kruise(pod(kind, &format!("web-{it}"), revision)));
    let mut objects = vec![("rollouts", rollout), (table, live)];
    objects.extend(pods.map(|pod| ("pods", pod)));
    objects
}

#[tokio::test(start_paused = true)]
async fn a_cloneset_is_called_as_the_original_calls_it_and_held_by_as_many_as_have_not_moved() {
    async fn check(own: Value, pods: [&str; 4], expect: u32) {
        let observed = seen(objects("CloneSet", statefulset(own), &pods)).await;
        let read = observed.world.workload.unwrap();
        assert_eq!((read.stable_revision.as_str(), read.update_revision.as_str()), ("1", "2"));
        assert_eq!(read.pod_template_hash, "2");
        assert_eq!((read.replicas, read.updated, read.old), (4, 1, 3));
        assert!(read.rolls_back_in_batches);
        assert_eq!(observed.live.unwrap().partition, expect);
    }
    let own = |partition: Value| json!({"type": "ReCreate", "partition": partition});
    let (old, new) = ("web-1", "web-2");
    check(own(json!(0)), [old, new, old, old], 3).await;
    check(own(json!(0)), [old, new, old, new], 2).await;
    check(own(json!(0)), [old; 4], 32767).await;
    // What stands there already is no less.
    check(own(json!("75%")), [old, new, old, new], 3).await;
    check(own(json!("100%")), [old, new, old, old], 32767).await;
}

#[tokio::test(start_paused = true)]
async fn an_advanced_statefulset_is_held_above_what_has_not_moved_among_those_that_there_are_to_be()
{
    async fn check(rolling: Value, reserved: Value, pods: [&str; 4], expect: u32) {
        let mut live = statefulset(json!({"type": "RollingUpdate", "rollingUpdate": rolling}));
        live["spec"]["reserveOrdinals"] = reserved;
        let observed = seen(objects("StatefulSet", live, &pods)).await;
        let read = observed.world.workload.unwrap();
        assert_eq!(
            (read.stable_revision.as_str(), read.update_revision.as_str()),
            ("web-1", "web-2")
        );
        assert!(read.rolls_back_in_batches);
        assert_eq!(observed.live.unwrap().partition, expect);
    }
    let (old, new) = ("web-1", "web-2");
    check(json!({}), json!(null), [old, old, new, new], 2).await;
    check(json!({}), json!(null), [old, new, old, new], 3).await;
    // Web-1 is passed over: three stand at or below web-3.
    check(json!({}), json!([1]), [old, new, old, old], 3).await;
    check(json!({"unorderedUpdate": {}}), json!(null), [new, new, old, old], 2).await;
    check(json!({}), json!(null), [old; 4], 32767).await;
}

#[tokio::test(start_paused = true)]
async fn an_advanced_daemonset_is_told_by_its_status_and_its_revisions_and_held_by_a_count() {
    let status = json!({
        "desiredNumberScheduled": 3, "currentNumberScheduled": 3, "updatedNumberScheduled": 1,
        "daemonSetHash": "two",
    });
    let live = workload(json!({"replicas": null}), status);
    let mut objects = objects("DaemonSet", live, &["one", "two", "one"]);
    objects.push(("controllerrevisions", of_kruise(revision("one", "web:v1", 1))));
    let observed = seen(objects).await;
    let read = observed.world.workload.unwrap();
    assert_eq!((read.stable_revision.as_str(), read.update_revision.as_str()), ("one", "two"));
    assert_eq!((read.replicas, read.updated, read.old), (3, 1, 2));
    assert!(!read.rolls_back_in_batches);
    assert_eq!(observed.live.unwrap().partition, 2);
}

#[tokio::test(start_paused = true)]
async fn a_workload_of_kruise_wakes_who_names_it_and_its_namesake_of_kubernetes_does_not() {
    let played = Played::start(objects("StatefulSet", statefulset(json!({})), &["web-1"]), nothing);
    let played = played.await;
    played.woken();
    let scaled = |version: &str| {
        let mut live = statefulset(json!({}));
        live["metadata"]["resourceVersion"] = json!(version);
        live
    };
    played.push("statefulsets", "MODIFIED", scaled("101")).await;
    assert_eq!(played.woken(), []);
    played.push("statefulsets.apps.kruise.io", "MODIFIED", scaled("102")).await;
    assert_eq!(played.woken().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn one_of_kruise_that_nobody_releases_any_more_is_an_orphan_by_its_own_name() {
    let marked = with(statefulset(json!({})), json!({MARK: "{}"}));
    let alone = vec![("statefulsets.apps.kruise.io", marked.clone())];
    let played = Played::start(alone, nothing).await;
    let found = orphans(&played.caches);
    assert_eq!(found.len(), 1);
    assert!(found[0].text().starts_with("Advanced StatefulSet web is marked"), "{found:?}");
    let played = Played::start(objects("StatefulSet", marked, &[]), nothing).await;
    assert_eq!(orphans(&played.caches), []);
}
