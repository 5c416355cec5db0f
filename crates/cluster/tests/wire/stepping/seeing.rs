//! What is seen.

use cluster::observe::orphans::orphans;
use serde_json::{Value, json};

use super::*;

#[tokio::test(start_paused = true)]
async fn a_deployment_is_counted_by_its_replica_sets() {
    let read = of(of_deployment(deployment())).await;
    assert_eq!((read.replicas, read.updated, read.old), (4, 1, 3));
    assert_eq!((read.stable_revision.as_str(), read.pod_template_hash.as_str()), ("old", "new"));
    assert!(read.labelled && !read.marked && !read.held && !read.in_rollback);
    // The same word before there is a ReplicaSet.
    let mut before = of_deployment(deployment());
    before.pop();
    let early = of(before).await;
    assert_eq!(early.update_revision, read.update_revision);
    assert_eq!((early.updated, early.pod_template_hash.as_str()), (0, ""));
}

#[tokio::test(start_paused = true)]
async fn a_deployment_that_is_back_at_its_label_is_in_a_roll_back() {
    let marked = |stable: &str| {
        let mut live = with(deployment(), json!({MARK: "{}"}));
        live["metadata"]["labels"]["rollouts.kruise.io/stable-revision"] = json!(stable);
        of_deployment(live)
    };
    let read = of(marked("old")).await;
    assert!(read.marked && read.held && !read.in_rollback);
    assert!(of(marked("new")).await.in_rollback);
}

#[tokio::test(start_paused = true)]
async fn an_id_is_that_of_the_label_before_that_of_the_annotation() {
    let id = "rollouts.kruise.io/rollout-id";
    let annotated = with(deployment(), json!({ id: "a" }));
    assert_eq!(of(of_deployment(annotated.clone())).await.rollout_id.as_deref(), Some("a"));
    let mut both = annotated;
    both["metadata"]["labels"][id] = json!("l");
    assert_eq!(of(of_deployment(both)).await.rollout_id.as_deref(), Some("l"));
    assert_eq!(of(of_deployment(deployment())).await.rollout_id, None);
}

#[tokio::test(start_paused = true)]
async fn a_statefulset_is_counted_by_its_status_and_held_above_what_has_not_moved() {
    let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
    let observed = seen(of_statefulset(statefulset(rolling))).await;
    let read = observed.world.workload.unwrap();
    assert_eq!((read.updated, read.old), (1, 3));
    assert_eq!((read.stable_revision.as_str(), read.update_revision.as_str()), ("web-1", "web-2"));
    assert!(read.rolls_back_in_batches);
    assert_eq!(observed.live.unwrap().partition, 3);
}

#[tokio::test(start_paused = true)]
async fn under_on_delete_the_stable_revision_is_what_the_release_began_with() {
    let live = statefulset(json!({"type": "OnDelete"}));
    let read = of(of_statefulset(live.clone())).await;
    assert_eq!(read.stable_revision, "web-1", "that of most Pods");
    let mut objects = of_statefulset(with(live, json!({MARK: "{}"})));
    objects[0].1["status"] = json!({
        "phase": "Progressing",
        "canaryStatus": {"stableRevision": "web-0", "currentStepState": "StepPaused"},
    });
    assert_eq!(of(objects).await.stable_revision, "web-0");
}

#[tokio::test(start_paused = true)]
async fn a_daemonset_is_told_by_the_revision_of_its_template() {
    let status = json!({
        "desiredNumberScheduled": 3, "currentNumberScheduled": 3, "updatedNumberScheduled": 1,
    });
    let mut objects = vec![
        ("rollouts", rollout("DaemonSet")),
        ("daemonsets", workload(json!({}), status)),
        ("controllerrevisions", revision("one", "web:v1", 1)),
        ("pods", pod("DaemonSet", "web-a", "one")),
    ];
    // It has not come yet: nothing can be decided.
    assert_eq!(of(objects.clone()).await.update_revision, "");
    objects.push(("controllerrevisions", revision("two", "web:v2", 2)));
    let read = of(objects).await;
    assert_eq!((read.stable_revision.as_str(), read.update_revision.as_str()), ("one", "two"));
    assert_eq!((read.replicas, read.updated, read.old), (3, 1, 2));
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_not_released_is_said_and_a_missing_workload_is_none() {
    let mut other = rollout("Deployment");
    other["spec"]["workloadRef"]["apiVersion"] = json!("apps.kruise.io/v1alpha1");
    let unsupported = of(vec![("rollouts", other)]).await.unsupported;
    assert!(unsupported.unwrap().contains("is not released by this version"));
    let missing = seen(vec![("rollouts", rollout("Deployment"))]).await;
    assert_eq!(missing.world.workload, None);
}

#[tokio::test(start_paused = true)]
async fn of_two_rollouts_the_one_whose_mark_stands_leads_then_one_that_is_under_way_then_the_older()
{
    async fn check(live: Value, status: Value, older: bool, expect: Option<&str>) {
        let created = if older { "2025-01-01T00:00:00Z" } else { "2027-01-01T00:00:00Z" };
        let mut objects = of_deployment(live);
        objects.push(("rollouts", named("other", created, "Deployment", status)));
        assert_eq!(seen(objects).await.world.rollout.rival.as_deref(), expect);
    }
    let other = Some("exch/other");
    check(deployment(), json!({}), true, other).await;
    check(deployment(), json!({}), false, None).await;
    check(deployment(), json!({"phase": "Progressing"}), false, other).await;
    let ours = with(deployment(), json!({MARK: "{\"rolloutName\":\"web\"}"}));
    check(ours, json!({"phase": "Progressing"}), true, None).await;
}

#[tokio::test(start_paused = true)]
async fn a_marked_workload_without_rollout_and_release_is_an_orphan() {
    async fn check(objects: Objects, expect: usize) {
        let played = Played::start(objects, nothing).await;
        assert_eq!(orphans(&played.caches).len(), expect);
    }
    let marked = with(deployment(), json!({MARK: "{}"}));
    check(vec![("deployments", marked.clone())], 1).await;
    check(vec![("deployments", deployment())], 0).await;
    check(of_deployment(marked.clone()), 0).await;
    let mut release = release();
    release["spec"]["workloadRef"] =
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
    check(vec![("deployments", marked), ("batchreleases", release)], 0).await;
}
