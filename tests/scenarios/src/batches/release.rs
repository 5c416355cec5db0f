//! A `BatchRelease` that somebody wrote by hand, on each kind of workload.

use serde_json::{Value, json};

use crate::env::{DAEMONSETS, DEPLOYMENTS, Env, Kind, Outcome, SETS, ensure, same, says};
use crate::kit::Workload;

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
        same(field, after["spec"][field].clone(), before["spec"][field].clone())?;
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
    let mut web = Workload::deploy(&env, DAEMONSETS, "probe", json!({})).await?;
    let nodes = web.pods().await?.len();
    ensure(nodes > 2, || format!("three nodes are needed, {nodes} are there"))?;
    let before = web.read().await?;
    web.change_image("app:v2").await?;
    let release = web.release(&json!([1, "50%", "100%"])).await?;
    release.ready(0).await?;
    web.runs("app:v2", 1).await?;
    release.go_to(1).await?;
    release.ready(1).await?;
    web.runs("app:v2", nodes.div_ceil(2)).await?;
    release.go_to(2).await?;
    release.ready(2).await?;
    web.runs("app:v2", nodes).await?;
    release.go_to(Value::Null).await?;
    release.completed().await?;
    web.is_clean().await?;
    let strategy = &web.read().await?["spec"]["updateStrategy"];
    same("updateStrategy", strategy.clone(), before["spec"]["updateStrategy"].clone())
}

/// "`StatefulSet` with `OnDelete` is supported."
pub(crate) async fn a_statefulset_under_on_delete_goes_batch_by_batch(env: Env) -> Outcome {
    let spec = json!({"replicas": 4, "updateStrategy": {"type": "OnDelete"}});
    let mut web = Workload::deploy(&env, SETS, "web", spec).await?;
    web.watch().await?;
    web.change(&json!({"spec": {"template": {"spec": {"containers": [
        {"name": "main", "image": "app:v2"},
    ]}}}}))
    .await?;
    let release = web.release(&json!([1, "50%", "100%"])).await?;
    for (batch, pods) in [(0, 1), (1, 2), (2, 4)] {
        release.go_to(batch).await?;
        release.ready(batch).await?;
        web.runs("app:v2", pods).await?;
    }
    release.go_to(Value::Null).await?;
    release.completed().await?;
    let strategy = &web.read().await?["spec"]["updateStrategy"];
    same("updateStrategy", strategy.clone(), json!({"type": "OnDelete"}))?;
    web.is_clean().await
}

/// "batchPartition removed": what is left goes, by the workload's own controller.
pub(crate) async fn a_release_without_partition_lets_the_workload_go(env: Env) -> Outcome {
    for (kind, name, spec) in [
        (DEPLOYMENTS, "web", json!({"replicas": 4})),
        (SETS, "db", json!({"replicas": 4})),
        (DAEMONSETS, "probe", json!({})),
    ] {
        let mut web = Workload::deploy(&env, kind, name, spec).await?;
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
    for (kind, name, spec) in [
        (DEPLOYMENTS, "web", json!({"replicas": 4})),
        (SETS, "db", json!({"replicas": 4})),
        (DAEMONSETS, "probe", json!({})),
    ] {
        let mut web = Workload::deploy(&env, kind, name, spec).await?;
        let before = web.read().await?;
        web.change_image("app:v2").await?;
        let release = web.release(&json!([1, "100%"])).await?;
        release.ready(0).await?;
        release.delete().await?;
        web.is_clean().await?;
        let after = web.read().await?;
        for field in ["strategy", "updateStrategy"] {
            same(field, after["spec"][field].clone(), before["spec"][field].clone())?;
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
        env.create(crate::env::RELEASES, &odd(name, spec)).await?;
        let release = crate::kit::Release { env: env.clone(), name: name.to_owned() };
        says(name, &release.degraded().await?, &[words])?;
        release.delete().await?;
    }
    same("spec of the Deployment", web.read().await?["spec"].clone(), before["spec"].clone())
}
