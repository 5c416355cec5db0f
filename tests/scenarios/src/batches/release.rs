//! A `BatchRelease` that somebody wrote by hand, on each kind of workload.

use serde_json::{Value, json};

use crate::env::{
    ADVANCED_DAEMONSETS, ADVANCED_SETS, CLONESETS, DAEMONSETS, DEPLOYMENTS, Env, Kind, Outcome,
    RELEASES, SETS, ensure, same, says,
};
use crate::kinds::{self, meant};
use crate::kit::{Workload, budget, condition};

/// Batches 1, 50 % and 100 % of so many, and what they come to.
async fn walks(env: &Env, kind: Kind, spec: Value, batches: [usize; 3]) -> Outcome {
    let mut web = Workload::deploy(env, kind, "web", spec).await?;
    let before = web.read().await?;
    web.change_image("app:v2").await?;
    let release = web.release(&json!([1, "50%", "100%"])).await?;
    for (batch, pods) in (0_u32..).zip(batches) {
        if batch > 0 {
            release.go_to(batch).await?;
        }
        let ready = release.ready(batch).await?;
        web.runs("app:v2", pods).await?;
        let said = &ready["status"]["canaryStatus"];
        same("updatedReplicas", said["updatedReplicas"].clone(), json!(pods))?;
        same("updatedReadyReplicas", said["updatedReadyReplicas"].clone(), json!(pods))?;
        labelled(env, "web", &batches[..=usize::try_from(batch).unwrap_or(0)]).await?;
    }
    release.go_to(Value::Null).await?;
    release.completed().await?;
    web.is_clean().await?;
    let after = web.read().await?;
    for field in ["strategy", "updateStrategy"] {
        same(field, meant(&after["spec"][field]), meant(&before["spec"][field]))?;
    }
    let all = batches[2];
    web.env
        .stays(env.limit(20), "no Pod moves any more", || async {
            Ok(web.running("app:v2").await? == (all, all))
        })
        .await
}

/// As many Pods carry each batch as it added.
async fn labelled(env: &Env, name: &str, batches: &[usize]) -> Outcome {
    let mut before = 0;
    for (batch, pods) in (1..).zip(batches) {
        let selector = format!(
            "app={name},rollouts.kruise.io/rollout-id=r1,rollouts.kruise.io/rollout-batch-id={batch}"
        );
        let found = env.list(crate::env::PODS, &selector).await?.len();
        same(&format!("Pods with the label of batch {batch}"), found, pods - before)?;
        before = *pods;
    }
    Ok(())
}

/// "1, 50 %, 100 %" on a Deployment: exact counts at each step, original fields restored.
pub(crate) async fn a_deployment_goes_batch_by_batch_and_is_given_back(env: Env) -> Outcome {
    let rolling = json!({"maxSurge": 2, "maxUnavailable": 0});
    let spec = json!({
        "replicas": 5, "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
    });
    walks(&env, DEPLOYMENTS, spec, [1, 3, 5]).await
}

/// The same on a StatefulSet that its own controller rolls.
pub(crate) async fn a_statefulset_goes_batch_by_batch_and_is_given_back(env: Env) -> Outcome {
    walks(&env, SETS, json!({"replicas": 5}), [1, 3, 5]).await
}

/// The same on a DaemonSet.
pub(crate) async fn a_daemonset_goes_batch_by_batch_and_is_given_back(env: Env) -> Outcome {
    let nodes = nodes(&env).await?;
    walks(&env, DAEMONSETS, json!({}), [1, nodes.div_ceil(2), nodes]).await
}

/// The same on a CloneSet.
pub(crate) async fn a_cloneset_goes_batch_by_batch_and_is_given_back(env: Env) -> Outcome {
    walks(&env, CLONESETS, json!({"replicas": 5}), [1, 3, 5]).await
}

/// The same on an Advanced StatefulSet.
pub(crate) async fn an_advanced_statefulset_goes_batch_by_batch_and_is_given_back(
    env: Env,
) -> Outcome {
    walks(&env, ADVANCED_SETS, json!({"replicas": 5}), [1, 3, 5]).await
}

/// The same on an Advanced DaemonSet.
pub(crate) async fn an_advanced_daemonset_goes_batch_by_batch_and_is_given_back(
    env: Env,
) -> Outcome {
    let nodes = nodes(&env).await?;
    walks(&env, ADVANCED_DAEMONSETS, json!({}), [1, nodes.div_ceil(2), nodes]).await
}

/// How many Nodes there are; three at least.
async fn nodes(env: &Env) -> Result<usize, crate::env::Failure> {
    let list = env.send("GET", "/api/v1/nodes", "application/json", &Value::Null).await?;
    let nodes = list["items"].as_array().map_or(0, Vec::len);
    ensure(nodes > 2, || format!("three nodes are needed, {nodes} are there"))?;
    Ok(nodes)
}

/// "batchPartition removed": what is left goes, by the workload's own controller.
pub(crate) async fn a_release_without_partition_lets_the_workload_go(env: Env) -> Outcome {
    for kind in kinds::all() {
        let name = kind.own_name();
        let mut web = Workload::deploy(&env, kind, &name, kind.sized(4)).await?;
        let all = web.pods().await?.len();
        web.change_image("app:v2").await?;
        let release = web.release(&json!([1, "100%"])).await?;
        release.ready(0).await?;
        release.go_to(Value::Null).await?;
        release.completed().await?;
        let mut patience = env.patience(env.limit(180));
        while web.running("app:v2").await?.0 < all {
            patience.rest(|| format!("all Pods of {name} run the new revision")).await?;
        }
        web.is_clean().await?;
    }
    Ok(())
}

/// "Restore. Deleting gives back every field that Sluice changed; Sluice itself touches no Pod then."
pub(crate) async fn a_release_that_is_deleted_on_the_way_gives_the_workload_back(
    env: Env,
) -> Outcome {
    for kind in kinds::all() {
        let name = kind.own_name();
        let mut web = Workload::deploy(&env, kind, &name, kind.sized(4)).await?;
        let before = web.read().await?;
        web.change_image("app:v2").await?;
        let release = web.release(&json!([1, "100%"])).await?;
        release.ready(0).await?;
        release.delete().await?;
        web.is_clean().await?;
        let after = web.read().await?;
        for field in ["strategy", "updateStrategy"] {
            same(field, meant(&after["spec"][field]), meant(&before["spec"][field]))?;
        }
    }
    Ok(())
}

/// "Nothing panics: unsupported kinds … are conditions with a message."
pub(crate) async fn what_cannot_be_released_says_why_and_is_let_alone(env: Env) -> Outcome {
    let web = Workload::deploy(&env, DEPLOYMENTS, "web", json!({"replicas": 2})).await?;
    let before = web.read().await?;
    let odd = |name: &str, spec: Value| {
        let mut object = json!({
            "apiVersion": "rollouts.kruise.io/v1beta1", "kind": "BatchRelease",
            "metadata": {"name": name},
            "spec": {
                "workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                "releasePlan": {"batches": [{"canaryReplicas": 1}], "batchPartition": 0},
            },
        });
        for (key, value) in spec.as_object().into_iter().flatten() {
            object["spec"][key] = value.clone();
        }
        object
    };
    let style = |style: &str| {
        json!({"releasePlan": {
            "batches": [{"canaryReplicas": 1}], "batchPartition": 0, "rollingStyle": style,
        }})
    };
    let plan = |batches: Value| json!({"releasePlan": {"batches": batches, "batchPartition": 0}});
    let names = |kind: &str, name: &str| json!({"workloadRef": {"apiVersion": "apps/v1", "kind": kind, "name": name}});
    let table = [
        ("kind", names("ReplicaSet", "web"), "not of a kind"),
        ("missing", names("Deployment", "other"), "does not exist"),
        ("style", style("Canary"), "Canary is not served"),
        ("empty", plan(json!([])), "nothing to release"),
        ("size", plan(json!([{"canaryReplicas": "0%"}])), "step 1 is of no Pods"),
    ];
    for (name, spec, words) in table {
        match env.create(RELEASES, &odd(name, spec)).await {
            Ok(_) => {}
            // The webhook keeps it out.
            Err(refused) if refused.code == 422 => continue,
            Err(refused) => return Err(refused.into()),
        }
        let release = crate::kit::Release { env: env.clone(), name: name.to_owned() };
        says(name, &release.degraded().await?, &[words])?;
        release.delete().await?;
    }
    same("spec of the Deployment", web.read().await?["spec"].clone(), before["spec"].clone())
}

/// "`paused` holds the Pods too": what has not moved stays where it is, the batch under way too.
pub(crate) async fn a_paused_release_stands_still_until_it_is_resumed(env: Env) -> Outcome {
    let paused =
        |paused: Value| json!({"metadata": {"annotations": {"sluice.dev/paused": paused}}});
    for kind in kinds::scaled() {
        let name = &kind.own_name();
        let mut web = Workload::deploy(&env, kind, name, kind.sized(4)).await?;
        web.change_image("app:v2").await?;
        let release = web.release(&json!([1, "100%"])).await?;
        release.ready(0).await?;
        env.patch(RELEASES, name, &paused(json!("true"))).await?;
        release.go_to(1).await?;
        release.until("paused", |release| waits(release, "Paused")).await?;
        env.stays(env.limit(20), "one Pod has moved", || async {
            Ok(web.running("app:v2").await? == (1, 1))
        })
        .await?;
        env.patch(RELEASES, name, &paused(Value::Null)).await?;
        release.ready(1).await?;
        web.runs("app:v2", 4).await?;
    }
    Ok(())
}

/// Whether it does not go on by itself, for this reason.
fn waits(release: &Value, reason: &str) -> bool {
    let conditions = release["status"]["conditions"].as_array().into_iter().flatten();
    let mut progressing = conditions.filter(|it| it["type"] == "Progressing");
    progressing.any(|it| it["status"] == "False" && it["reason"] == reason)
}

/// "Scale up or down in mid-release keeps the step's share for every kind."
pub(crate) async fn a_workload_that_is_scaled_keeps_the_share_of_its_batch(env: Env) -> Outcome {
    for kind in kinds::that(|facts| facts.replicas && !facts.grows_new) {
        let mut web = Workload::deploy(&env, kind, &kind.own_name(), kind.sized(4)).await?;
        web.change_image("app:v2").await?;
        let release = web.release(&json!(["25%", "100%"])).await?;
        release.ready(0).await?;
        for (replicas, updated) in [(8, 2), (4, 1), (12, 3)] {
            web.change(&json!({"spec": {"replicas": replicas}})).await?;
            let mut patience = env.patience(env.limit(120));
            let all = usize::try_from(replicas).unwrap_or(0);
            while web.pods().await?.len() != all || web.running("app:v2").await?.0 != updated {
                patience
                    .rest(|| format!("{updated} of {replicas} Pods run the new revision"))
                    .await?;
            }
        }
        release.go_to(1).await?;
        release.ready(1).await?;
        same("Pods of the new revision", web.running("app:v2").await?.0, 12)?;
    }
    Ok(())
}

/// "Where the workload's controller has made new Pods before Sluice could see the scaling, … the surplus is
/// counted and reported, and nothing is turned back."
pub(crate) async fn a_set_that_is_scaled_reports_what_came_up_too_many(env: Env) -> Outcome {
    for kind in kinds::that(|facts| facts.grows_new) {
        scaled(&env, kind).await?;
    }
    Ok(())
}

async fn scaled(env: &Env, kind: Kind) -> Outcome {
    let mut db = Workload::deploy(env, kind, &kind.own_name(), json!({"replicas": 4})).await?;
    db.change_image("app:v2").await?;
    let release = db.release(&json!(["25%", "100%"])).await?;
    release.ready(0).await?;
    let before = db.uids().await?;
    db.change(&json!({"spec": {"replicas": 8}})).await?;
    let mut patience = env.patience(env.limit(120));
    while db.pods().await?.iter().filter(|pod| pod.ready).count() != 8 {
        patience.rest(|| "eight Pods are ready".to_owned()).await?;
    }
    let updated = db.running("app:v2").await?.0;
    ensure(updated >= 2, || format!("{updated} of 8 run the new revision, 25 % are 2"))?;
    if updated > 2 {
        let surplus = |release: &Value| condition(release, "Surplus").is_some();
        release.until("the surplus is said", surplus).await?;
    }
    let after = db.uids().await?;
    ensure(before.is_subset(&after), || "a Pod was turned back".to_owned())
}

/// "A batch that does not get ready raises a condition, an event and a metric after a deadline."
pub(crate) async fn a_batch_that_does_not_get_ready_is_called_stuck(env: Env) -> Outcome {
    let spec = json!({"replicas": 4, "progressDeadlineSeconds": 30});
    let mut web = Workload::deploy(&env, DEPLOYMENTS, "web", spec).await?;
    web.change_image("app:broken").await?;
    let release = web.release(&json!([2, "100%"])).await?;
    let stuck = |release: &Value| {
        condition(release, "Stuck").is_some_and(|stuck| stuck["status"] == "True")
    };
    let release = release.until("stuck", stuck).await?;
    let message = condition(&release, "Stuck").map(|stuck| stuck["message"].clone());
    let message = message.unwrap_or_default();
    says("the condition", message.as_str().unwrap_or_default(), &["30 s", "ImagePullBackOff"])?;
    let mut patience = env.patience(env.limit(30));
    while !env.is_told("BatchRelease", "ProgressDeadlineExceeded").await? {
        patience.rest(|| "an Event says so".to_owned()).await?;
    }
    let healthy = web.pods().await?.iter().filter(|pod| pod.ready).count();
    ensure(healthy >= 3, || format!("{healthy} of 4 are ready, maxUnavailable is 25%"))
}

/// "Pods evicted in parallel within the budget; a batch on a RollingUpdate StatefulSet may go in parallel
/// too."
pub(crate) async fn a_batch_of_a_statefulset_goes_in_parallel_inside_its_budget(
    env: Env,
) -> Outcome {
    env.create(crate::env::BUDGETS, &budget("db").max_unavailable(3)).await?;
    let mut db = Workload::deploy(&env, SETS, "db", json!({"replicas": 6})).await?;
    db.change_image("app:slow-v2").await?;
    let release = db.release(&json!([1, "100%"])).await?;
    release.ready(0).await?;
    release.go_to(1).await?;
    let mut patience = env.patience(env.limit(60));
    loop {
        let down = 6 - db.pods().await?.iter().filter(|pod| pod.ready).count();
        ensure(down <= 3, || format!("{down} Pods are down, the budget allows 3"))?;
        if down == 3 {
            break;
        }
        patience.rest(|| "three Pods are on their way at once".to_owned()).await?;
    }
    release.ready(1).await?;
    db.runs("app:slow-v2", 6).await
}

/// "A release that ends before it is through, and a template that is changed under it: what has not moved
/// stays."
pub(crate) async fn a_template_that_changes_under_a_release_moves_nothing(env: Env) -> Outcome {
    let mut web = Workload::deploy(&env, DEPLOYMENTS, "web", json!({"replicas": 4})).await?;
    web.change_image("app:v2").await?;
    let release = web.release(&json!([1, "100%"])).await?;
    release.ready(0).await?;
    web.change(&json!({"spec": {"template": {"spec": {"containers": [
        {"name": "main", "image": "app:v3"},
    ]}}}}))
    .await?;
    release.until("superseded", |release| waits(release, "TemplateChanged")).await?;
    release.go_to(1).await?;
    env.stays(env.limit(20), "no Pod moves", || async {
        let none = web.running("app:v3").await? == (0, 0);
        Ok(none && web.running("app:v2").await? == (1, 1))
    })
    .await
}

/// "A release that it left half-way is re-anchored from what is seen (updated Pods, annotations, status),
/// without moving a Pod": as the original's manager leaves each kind.
pub(crate) async fn a_release_that_the_original_left_half_way_goes_on(env: Env) -> Outcome {
    for kind in kinds::all() {
        let name = kind.own_name();
        let mut web = Workload::deploy(&env, kind, &name, kind.sized(4)).await?;
        let before = web.read().await?;
        let all = web.pods().await?.len();
        web.change_image("app:v2").await?;
        let release = web.release(&json!([1, "100%"])).await?;
        release.ready(0).await?;
        let mut status = json!({
            "observedReleasePlanHash": "as-the-original-hashes", "conditions": null,
            "evicting": null, "lastEvictionTime": null, "message": null,
        });
        if kind == DEPLOYMENTS {
            // It calls a Deployment's revision by a hash of its own, and says so on the Pods.
            for pod in web.pods().await?.iter().filter(|pod| pod.image == "app:v2") {
                let labels =
                    json!({"metadata": {"labels": {"controller-revision-hash": "kruise"}}});
                env.patch(crate::env::PODS, &pod.name, &labels).await?;
            }
            status["updateRevision"] = json!("kruise");
        }
        web.change(&json!({"metadata": {"annotations": {
            "sluice.dev/original-update-strategy": null, "sluice.dev/held-partition": null,
        }}}))
        .await?;
        let content = "application/merge-patch+json";
        let status = json!({"status": status});
        env.patch_sub(RELEASES, &name, "status", content, &status).await?;
        release.ready(0).await?;
        web.runs("app:v2", 1).await?;
        release.go_to(1).await?;
        release.ready(1).await?;
        web.runs("app:v2", all).await?;
        release.go_to(Value::Null).await?;
        release.completed().await?;
        web.is_clean().await?;
        let after = web.read().await?;
        for field in ["strategy", "updateStrategy"] {
            same(field, meant(&after["spec"][field]), meant(&before["spec"][field]))?;
        }
    }
    Ok(())
}
