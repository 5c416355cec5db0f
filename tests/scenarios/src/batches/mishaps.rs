//! What happens to a release from outside: Pods and workloads that go, tools that apply their manifest again,
//! answers that cross.

use std::time::Duration;

use futures::future::join;
use serde_json::{Value, json};

use crate::env::{Env, Failure, Kind, Outcome, PODS, RELEASES, ensure, same};
use crate::kinds;
use crate::kit::{Steps, condition, steps};

/// Waits until this step waits, at these counts of each batch's label.
async fn labelled(web: &Steps, batches: &[usize]) -> Outcome {
    let status = web.read().await?["status"]["canaryStatus"].clone();
    let id = status["observedRolloutID"].as_str().unwrap_or_default();
    let mut patience = web.env.patience(web.env.limit(60));
    loop {
        let mut found = Vec::new();
        for batch in 1..=batches.len() {
            let selector = format!(
                "app=web,rollouts.kruise.io/rollout-id={id},rollouts.kruise.io/rollout-batch-id={batch}"
            );
            let pods = web.env.list(PODS, &selector).await?;
            let there = |pod: &&Value| pod["metadata"]["deletionTimestamp"].is_null();
            found.push(pods.iter().filter(there).count());
        }
        if found == batches {
            return Ok(());
        }
        patience.rest(|| format!("Pods of each batch: {batches:?} is right, {found:?}")).await?;
    }
}

/// A Pod that is lost comes back in the release, with the label of the batch that it was missing in.
pub(crate) async fn a_lost_pod_comes_back_with_the_label_of_its_batch(env: Env) -> Outcome {
    for kind in kinds::all() {
        let mut web = steps(&env, kind, &json!([1, 2, "100%"])).await?;
        let all = web.web.pods().await?.len();
        web.change("app:v2").await?;
        web.waits(1).await?;
        web.approve().await?;
        web.stands(2, "app:v2", 2).await?;
        labelled(&web, &[1, 1]).await?;
        let status = web.read().await?["status"]["canaryStatus"].clone();
        let id = status["observedRolloutID"].as_str().unwrap_or_default();
        let selector = format!(
            "app=web,rollouts.kruise.io/rollout-id={id},rollouts.kruise.io/rollout-batch-id=1"
        );
        let first = env.list(PODS, &selector).await?.first().cloned().unwrap_or_default();
        env.delete(PODS, first["metadata"]["name"].as_str().unwrap_or_default()).await?;
        let uid = first["metadata"]["uid"].as_str().unwrap_or_default();
        let mut patience = env.patience(env.limit(60));
        while web.web.uids().await?.contains(uid) {
            patience.rest(|| "the Pod is gone".to_owned()).await?;
        }
        web.web.all_ready(all).await?;
        labelled(&web, &[1, 1]).await?;
        same("new Pods", web.web.running("app:v2").await?.0, 2)?;
        web.approve().await?;
        web.ends(true).await?;
        labelled(&web, &[1, 1, all - 2]).await?;
        web.away().await?;
    }
    Ok(())
}

/// A Pod that has not moved and is lost comes back as the stable one that it was.
pub(crate) async fn a_lost_pod_that_has_not_moved_comes_back_stable(env: Env) -> Outcome {
    for kind in kinds::that(|facts| facts.lost_stay_stable) {
        let mut web = steps(&env, kind, &json!([2, "100%"])).await?;
        web.change("app:v2").await?;
        web.stands(1, "app:v2", 2).await?;
        let pods = web.web.pods().await?;
        let old = pods.iter().find(|pod| pod.image == "app:v1").cloned();
        let old = old.ok_or_else(|| Failure::Broken("no Pod is left".to_owned()))?;
        env.delete(PODS, &old.name).await?;
        let mut patience = env.patience(env.limit(60));
        while web.web.uids().await?.contains(&old.uid) {
            patience.rest(|| "the Pod is gone".to_owned()).await?;
        }
        web.web.all_ready(5).await?;
        web.web.runs("app:v2", 2).await?;
        web.approve().await?;
        web.ends(true).await?;
        web.away().await?;
    }
    Ok(())
}

/// A workload that is deleted and made again, with what was being released: the status and the step stay, and
/// the release gets to its end.
pub(crate) async fn a_workload_made_anew_keeps_step_and_status(env: Env) -> Outcome {
    for kind in kinds::all() {
        let mut web = steps(&env, kind, &json!([1, 2, "100%"])).await?;
        web.change("app:v2").await?;
        web.waits(1).await?;
        web.approve().await?;
        web.stands(2, "app:v2", 2).await?;
        let object = web.web.read().await?;
        env.delete(kind, "web").await?;
        let missing = |it: &Value| it["status"]["message"] == "Workload Not Found";
        let seen = web.until("it says that it is missing", missing).await?;
        same("step", &seen["status"]["currentStepIndex"], &json!(2))?;
        ensure(seen["status"]["conditions"].is_array(), || "conditions are kept".to_owned())?;
        web.no_pods().await?;
        env.create(kind, &manifest(&object)).await?;
        // All of it is new: there is nothing left to be released.
        web.all_run("app:v2").await?;
        let rests = |it: &Value| {
            let status = &it["status"];
            status["phase"] == "Healthy" || status["currentStepState"] == "StepPaused"
        };
        let seen = web.until("it goes on", rests).await?;
        if seen["status"]["phase"] != "Healthy" {
            same("step", &seen["status"]["currentStepIndex"], &json!(2))?;
            web.approve().await?;
            web.until("healthy", |it| it["status"]["phase"] == "Healthy").await?;
        }
        web.all_run("app:v2").await?;
        web.away().await?;
    }
    Ok(())
}

/// A workload that goes for good does not keep its Rollout from going.
pub(crate) async fn a_rollout_without_its_workload_can_be_deleted(env: Env) -> Outcome {
    for kind in kinds::all() {
        let mut web = steps(&env, kind, &json!([1, "100%"])).await?;
        web.change("app:v2").await?;
        web.waits(1).await?;
        env.delete(kind, "web").await?;
        web.no_pods().await?;
        web.delete().await?;
    }
    Ok(())
}

/// The object as somebody keeps it in a repository: no status, nothing that was written on the cluster.
fn manifest(object: &Value) -> Value {
    let mut spec = object["spec"].clone();
    if let Some(spec) = spec.as_object_mut() {
        for key in ["paused", "strategy", "updateStrategy"] {
            spec.remove(key);
        }
    }
    json!({
        "apiVersion": object["apiVersion"], "kind": object["kind"],
        "metadata": {"name": object["metadata"]["name"]}, "spec": spec,
    })
}

/// A tool that applies the manifest again in mid-release changes nothing about what has moved.
pub(crate) async fn a_manifest_that_is_applied_again_lets_nothing_go(env: Env) -> Outcome {
    for kind in kinds::all() {
        let mut web = steps(&env, kind, &json!([1, "100%"])).await?;
        let before = web.web.read().await?;
        web.change("app:v2").await?;
        web.stands(1, "app:v2", 1).await?;
        let mut again = manifest(&before);
        again["spec"]["template"]["spec"]["containers"][0]["image"] = json!("app:v2");
        for _ in 0..2 {
            env.apply(kind, &again).await?;
            web.env
                .stays(Duration::from_secs(4), "one Pod has moved", || async {
                    Ok(web.web.running("app:v2").await? == (1, 1))
                })
                .await?;
        }
        web.finishes("app:v2").await?;
        web.given_back(&before).await?;
        web.away().await?;
    }
    Ok(())
}

/// A tool that insists on its strategy in mid-release: what has not moved stays, but for what goes before it can
/// be seen where nobody stands at the door.
pub(crate) async fn a_strategy_that_is_applied_in_mid_release_is_held_again(env: Env) -> Outcome {
    for kind in kinds::all() {
        let mut web = steps(&env, kind, &json!([1, "100%"])).await?;
        let before = web.web.read().await?;
        let all = web.web.pods().await?.len();
        web.change("app:v2").await?;
        web.stands(1, "app:v2", 1).await?;
        let mut again = manifest(&before);
        again["spec"]["template"]["spec"]["containers"][0]["image"] = json!("app:v2");
        let (field, strategy) = kind.facts().strategy;
        again["spec"][field] = strategy();
        env.apply(kind, &again).await?;
        web.env
            .stays(Duration::from_secs(10), "not all go", || async {
                Ok(web.web.running("app:v2").await?.0 < all)
            })
            .await?;
        web.finishes("app:v2").await?;
        web.away().await?;
    }
    Ok(())
}

/// An approval is kept though the status is being written, for Pods that come and go at that moment.
pub(crate) async fn an_approval_amid_writes_of_the_status_is_kept(env: Env) -> Outcome {
    for kind in kinds::all() {
        let mut web = steps(&env, kind, &json!([1, 2, "100%"])).await?;
        web.change("app:v2").await?;
        web.stands(1, "app:v2", 1).await?;
        let pods = web.web.pods().await?;
        let moved = pods.iter().find(|pod| pod.image == "app:v2").map(|pod| pod.name.clone());
        let moved = moved.unwrap_or_default();
        let (sick, said) = join(env.make_ready(&moved, false), web.approve()).await;
        sick.and(said)?;
        env.make_ready(&moved, true).await?;
        web.stands(2, "app:v2", 2).await?;
        let (sick, said) = join(web.approve(), env.make_ready(&moved, false)).await;
        sick.and(said)?;
        env.make_ready(&moved, true).await?;
        web.ends(true).await?;
        web.all_run("app:v2").await?;
        web.away().await?;
    }
    Ok(())
}

/// Not every kind goes back in batches; asked of another, it goes back at once.
pub(crate) async fn a_roll_back_in_batches_of_another_kind_goes_at_once(env: Env) -> Outcome {
    for kind in kinds::that(|facts| !facts.back_in_batches) {
        let mut web = steps(&env, kind, &json!([1, 2, "100%"])).await?;
        let before = web.web.read().await?;
        web.back_in_batches().await?;
        web.change("app:v2").await?;
        web.waits(1).await?;
        web.approve().await?;
        web.waits(2).await?;
        web.change_again("app:v1").await?;
        web.is_back(&before).await?;
        web.away().await?;
    }
    Ok(())
}

/// Pods that need no update in a roll back in batches say so, and are not replaced.
pub(crate) async fn what_needs_no_update_is_marked_and_stays(env: Env) -> Outcome {
    for kind in kinds::that(|facts| facts.back_in_batches) {
        marked(&env, kind).await?;
    }
    Ok(())
}

async fn marked(env: &Env, kind: Kind) -> Outcome {
    let mut web = steps(env, kind, &json!(["20%", "60%", "100%"])).await?;
    web.back_in_batches().await?;
    web.change("app:v2").await?;
    web.waits(1).await?;
    web.approve().await?;
    web.stands(2, "app:v2", 3).await?;
    let old: Vec<_> =
        web.web.pods().await?.into_iter().filter(|pod| pod.image == "app:v1").collect();
    web.change_again("app:v1").await?;
    let id = |it: &Value| {
        let id = &it["status"]["canaryStatus"]["observedRolloutID"];
        id.as_str().unwrap_or_default().to_owned()
    };
    let waiting = web
        .until("back at the first step", |it| {
            id(it).starts_with("rollback-")
                && it["status"]["currentStepState"] == "StepPaused"
                && it["status"]["currentStepIndex"] == 1
        })
        .await?;
    let selector = format!("app=web,rollouts.kruise.io/no-need-update={}", id(&waiting));
    let marked = env.list(PODS, &selector).await?;
    same("Pods that need no update", marked.len(), old.len())?;
    for _ in 0..2 {
        let step = web.read().await?["status"]["currentStepIndex"].as_u64().unwrap_or(0) + 1;
        web.approve().await?;
        web.until("on", |it| {
            it["status"]["phase"] == "Healthy"
                || it["status"]["currentStepIndex"] == step
                    && it["status"]["currentStepState"] == "StepPaused"
        })
        .await?;
    }
    web.ends(true).await?;
    web.all_run("app:v1").await?;
    let now = web.web.uids().await?;
    ensure(old.iter().all(|pod| now.contains(&pod.uid)), || "one was replaced".to_owned())?;
    web.away().await
}

/// What the user's own strategy was put aside in is spoilt: it is told while there is time to mend it.
pub(crate) async fn a_strategy_that_was_put_aside_and_is_spoilt_is_told(env: Env) -> Outcome {
    for kind in kinds::all() {
        let mut web = steps(&env, kind, &json!([1, "100%"])).await?;
        let before = web.web.read().await?;
        web.change("app:v2").await?;
        web.stands(1, "app:v2", 1).await?;
        let aside = kind.facts().put_aside;
        web.web.change(&json!({"metadata": {"annotations": {aside: "{spoilt"}}})).await?;
        let says = |it: &Value| {
            condition(it, "StrategyLost").is_some_and(|it| {
                let message = it["message"].as_str().unwrap_or_default();
                message.contains(aside) && message.contains("apply its own strategy")
            })
        };
        env.until(RELEASES, "web", env.limit(60), "it is said", says).await?;
        let mut patience = env.patience(env.limit(30));
        while !env.is_told("BatchRelease", "AnnotationSpoilt").await? {
            patience.rest(|| "an Event says so".to_owned()).await?;
        }
        web.approve().await?;
        web.ends(true).await?;
        web.all_run("app:v2").await?;
        // Its own was the usual one.
        web.given_back(&before).await?;
        web.away().await?;
    }
    Ok(())
}
