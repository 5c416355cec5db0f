//! Another template under a release: back to the stable one, or on to a third.

use std::time::Duration;

use serde_json::json;

use crate::env::{DEPLOYMENTS, Env, Kind, Outcome, same};
use crate::kinds;
use crate::kit::steps;

/// Back to the stable revision: at once, and only what had moved.
pub(crate) async fn a_roll_back_goes_at_once(env: Env) -> Outcome {
    for kind in kinds::all() {
        let mut web = steps(&env, kind, &json!([1, "60%", "100%"])).await?;
        let before = web.web.read().await?;
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

/// "Roll back is seen while paused."
pub(crate) async fn a_roll_back_is_seen_in_a_pause(env: Env) -> Outcome {
    let mut web = steps(&env, DEPLOYMENTS, &json!([1, "100%"])).await?;
    web.change("app:v2").await?;
    web.waits(1).await?;
    web.pause().await?;
    web.change_again("app:v1").await?;
    web.ends(false).await?;
    web.all_run("app:v1").await
}

/// `rollback-in-batch`: back through the steps, of the kinds that know it.
pub(crate) async fn a_roll_back_in_batches_goes_through_the_steps(env: Env) -> Outcome {
    for kind in kinds::that(|facts| facts.back_in_batches) {
        back_in_batches(&env, kind).await?;
    }
    Ok(())
}

async fn back_in_batches(env: &Env, kind: Kind) -> Outcome {
    let mut web = steps(env, kind, &json!(["20%", "60%", "100%"])).await?;
    let before = web.web.read().await?;
    web.back_in_batches().await?;
    web.change("app:v2").await?;
    web.waits(1).await?;
    web.approve().await?;
    web.stands(2, "app:v2", 3).await?;
    web.change_again("app:v1").await?;
    let waiting = web.waits(1).await?;
    let id = waiting["status"]["canaryStatus"]["observedRolloutID"].as_str().unwrap_or_default();
    same("the id says so", id.starts_with("rollback-"), true)?;
    web.approve().await?;
    web.waits(2).await?;
    web.finishes("app:v1").await?;
    web.given_back(&before).await?;
    web.away().await
}

/// v1, v2, v3: the third begins anew at the first step, and the stable one stays the first.
pub(crate) async fn a_change_on_top_begins_anew(env: Env) -> Outcome {
    for kind in kinds::all() {
        let mut web = steps(&env, kind, &json!([1, "60%", "100%"])).await?;
        let before = web.web.read().await?;
        web.change("app:v2").await?;
        let first = web.waits(1).await?;
        web.approve().await?;
        web.waits(2).await?;
        web.change_again("app:v3").await?;
        web.until("the first step of the third", |it| {
            let canary = &it["status"]["canaryStatus"];
            canary["canaryRevision"] != first["status"]["canaryStatus"]["canaryRevision"]
                && canary["currentStepState"] == "StepPaused"
                && canary["currentStepIndex"] == 1
        })
        .await?;
        web.web.runs("app:v3", 1).await?;
        let now = web.read().await?;
        same(
            "stable revision",
            &now["status"]["canaryStatus"]["stableRevision"],
            &first["status"]["canaryStatus"]["stableRevision"],
        )?;
        web.approve().await?;
        web.waits(2).await?;
        web.finishes("app:v3").await?;
        web.given_back(&before).await?;
        web.away().await?;
    }
    Ok(())
}

/// v1, v2, v3 and back to v1: that is a roll back, whatever was in between.
pub(crate) async fn a_roll_back_after_a_change_on_top_is_one(env: Env) -> Outcome {
    for kind in kinds::all() {
        let mut web = steps(&env, kind, &json!([1, "100%"])).await?;
        let before = web.web.read().await?;
        web.change("app:v2").await?;
        let first = web.waits(1).await?;
        web.change_again("app:v3").await?;
        web.until("the third", |it| {
            let canary = &it["status"]["canaryStatus"];
            canary["canaryRevision"] != first["status"]["canaryStatus"]["canaryRevision"]
                && canary["currentStepState"] == "StepPaused"
        })
        .await?;
        web.change_again("app:v1").await?;
        web.is_back(&before).await?;
        web.away().await?;
    }
    Ok(())
}

/// A change that no webhook held is held by the controller: what has not moved goes by the steps.
pub(crate) async fn a_change_that_slipped_past_is_held(env: Env) -> Outcome {
    for kind in kinds::all() {
        let mut web = steps(&env, kind, &json!(["60%", "100%"])).await?;
        web.slip("app:v2").await?;
        let waiting = web.waits(1).await?;
        let pods = web.web.pods().await?.len();
        let running = web.web.running("app:v2").await?.0;
        crate::env::ensure(running < pods, || format!("all {pods} Pods moved: {waiting}"))?;
        web.finishes("app:v2").await?;
        web.away().await?;
    }
    Ok(())
}

/// An image that never comes up stops at its step, and is rolled back at once.
pub(crate) async fn a_broken_image_stops_at_its_step_and_is_rolled_back(env: Env) -> Outcome {
    for kind in kinds::all() {
        let mut web = steps(&env, kind, &json!([2, "100%"])).await?;
        let before = web.web.read().await?;
        web.change("app:broken").await?;
        let moved =
            |pods: &[crate::kit::Pod]| pods.iter().filter(|pod| pod.image == "app:broken").count();
        let mut patience = env.patience(env.limit(120));
        while moved(&web.web.pods().await?) == 0 {
            patience.rest(|| "a Pod of the broken image is there".to_owned()).await?;
        }
        web.env
            .stays(Duration::from_secs(20), "no more than the step asks for", || async {
                Ok(moved(&web.web.pods().await?) <= 2)
            })
            .await?;
        same("state", &web.read().await?["status"]["currentStepState"], &json!("StepUpgrade"))?;
        web.change_again("app:v1").await?;
        web.is_back(&before).await?;
        web.away().await?;
    }
    Ok(())
}
