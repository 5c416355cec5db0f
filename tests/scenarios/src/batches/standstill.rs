//! What a user asks for while a Rollout is paused, on each kind.

use std::time::Duration;

use serde_json::{Value, json};

use crate::env::{Env, Failure, Kind, Outcome, same};
use crate::kinds;
use crate::kit::{Steps, steps};

/// At its first step, one Pod moved, and paused; and the workload as it was before.
async fn paused(env: &Env, kind: Kind, plan: &Value) -> Result<(Steps, Value), Failure> {
    let mut web = steps(env, kind, plan).await?;
    let before = web.web.read().await?;
    web.change("app:v2").await?;
    web.stands(1, "app:v2", 1).await?;
    web.pause().await?;
    Ok((web, before))
}

/// Back to the stable revision is not held up by a pause.
pub(crate) async fn a_roll_back_in_a_pause_is_done_at_once(env: Env) -> Outcome {
    for kind in kinds::all() {
        let (mut web, before) = paused(&env, kind, &json!([1, "100%"])).await?;
        web.change_again("app:v1").await?;
        web.is_back(&before).await?;
        web.away().await?;
    }
    Ok(())
}

/// Another change in a pause is taken up, and moves nothing before the pause ends.
pub(crate) async fn another_change_in_a_pause_waits_for_its_end(env: Env) -> Outcome {
    for kind in kinds::all() {
        let (mut web, _) = paused(&env, kind, &json!([1, "100%"])).await?;
        let first = web.read().await?["status"]["canaryStatus"]["canaryRevision"].clone();
        web.change_again("app:v3").await?;
        web.env
            .stays(Duration::from_secs(8), "no Pod moves in a pause", || async {
                Ok(web.web.running("app:v3").await? == (0, 0))
            })
            .await?;
        web.set(&json!({"strategy": {"paused": false}})).await?;
        web.until("the first step of the third", |it| {
            let canary = &it["status"]["canaryStatus"];
            canary["canaryRevision"] != first && canary["currentStepState"] == "StepPaused"
        })
        .await?;
        web.stands(1, "app:v3", 1).await?;
        web.finishes("app:v3").await?;
        web.away().await?;
    }
    Ok(())
}

/// Other steps in a pause are taken up, and move nothing before the pause ends.
pub(crate) async fn other_steps_in_a_pause_wait_for_its_end(env: Env) -> Outcome {
    for kind in kinds::all() {
        let (web, _) = paused(&env, kind, &json!([1, "100%"])).await?;
        web.plan(&json!([2, "100%"])).await?;
        web.env
            .stays(Duration::from_secs(8), "no Pod moves in a pause", || async {
                Ok(web.web.running("app:v2").await? == (1, 1))
            })
            .await?;
        web.set(&json!({"strategy": {"paused": false}})).await?;
        let two = |it: &Value| it["status"]["canaryStatus"]["canaryReadyReplicas"] == 2;
        web.until("the first step is of two", two).await?;
        web.stands(1, "app:v2", 2).await?;
        web.finishes("app:v2").await?;
        web.away().await?;
    }
    Ok(())
}

/// Disabled in a pause, the workload is given back and goes on by itself.
pub(crate) async fn a_paused_rollout_can_be_disabled(env: Env) -> Outcome {
    for kind in kinds::all() {
        let (web, before) = paused(&env, kind, &json!([1, "100%"])).await?;
        web.set(&json!({"disabled": true})).await?;
        web.until("disabled", |it| it["status"]["phase"] == "Disabled").await?;
        web.given_back(&before).await?;
        web.all_run("app:v2").await?;
        web.away().await?;
    }
    Ok(())
}

/// Deleted in a pause, likewise, and it does not stay.
pub(crate) async fn a_paused_rollout_can_be_deleted(env: Env) -> Outcome {
    for kind in kinds::all() {
        let (web, before) = paused(&env, kind, &json!([1, "100%"])).await?;
        web.delete().await?;
        web.given_back(&before).await?;
        web.all_run("app:v2").await?;
        env.delete(kind, "web").await?;
        web.no_pods().await?;
    }
    Ok(())
}

/// A step that nobody could mean is put right in the status, and moves nothing.
pub(crate) async fn a_jump_to_nowhere_goes_nowhere(env: Env) -> Outcome {
    for kind in kinds::all() {
        let mut web = steps(&env, kind, &json!([1, "100%"])).await?;
        web.change("app:v2").await?;
        web.stands(1, "app:v2", 1).await?;
        web.say(&json!({"nextStepIndex": 99})).await?;
        let right = |it: &Value| it["status"]["canaryStatus"]["nextStepIndex"] == 2;
        web.until("the next step is the second", right).await?;
        web.stands(1, "app:v2", 1).await?;
        web.approve().await?;
        web.ends(true).await?;
        web.away().await?;
    }
    Ok(())
}

/// What a DaemonSet's user may do between its steps: jump forwards and back, and change the steps.
pub(crate) async fn a_daemonset_is_jumped_and_planned_again(env: Env) -> Outcome {
    for kind in kinds::that(|facts| !facts.replicas) {
        let mut web = steps(&env, kind, &json!([1, 1, 2, "100%"])).await?;
        web.change("app:v2").await?;
        web.stands(1, "app:v2", 1).await?;
        web.say(&json!({"nextStepIndex": 3})).await?;
        web.stands(3, "app:v2", 2).await?;
        web.say(&json!({"nextStepIndex": 1})).await?;
        web.stands(1, "app:v2", 2).await?;
        web.plan(&json!([2, 2, 2, "100%"])).await?;
        web.stands(1, "app:v2", 2).await?;
        web.say(&json!({"nextStepIndex": 4})).await?;
        web.ends(true).await?;
        web.all_run("app:v2").await?;
        web.away().await?;
    }
    Ok(())
}

/// An approval by the plan: the pause of the step that waits is set to no time.
pub(crate) async fn a_pause_that_is_set_to_no_time_is_an_approval(env: Env) -> Outcome {
    for kind in kinds::all() {
        let mut web = steps(&env, kind, &json!([1, 2, "100%"])).await?;
        web.change("app:v2").await?;
        let first = web.stands(1, "app:v2", 1).await?;
        web.plan(&json!([[1, 0], 2, "100%"])).await?;
        let second = web.stands(2, "app:v2", 2).await?;
        let hash = |it: &Value| it["status"]["canaryStatus"]["rolloutHash"].clone();
        same("the plan is the same one", hash(&second), hash(&first))?;
        web.approve().await?;
        web.ends(true).await?;
        web.away().await?;
    }
    Ok(())
}
