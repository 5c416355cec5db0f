//! What users do to a release that is under way.

use std::time::Duration;

use futures::future::join;
use serde_json::{Value, json};

use crate::env::{
    DEPLOYMENTS, EVENTS, Env, Failure, Kind, Outcome, RELEASED, RELEASES, Refused, SETS, ensure,
    same,
};
use crate::kinds;
use crate::kit::{Steps, condition, steps};

/// "`paused` holds the Pods too."
pub(crate) async fn a_paused_rollout_stands_still_until_it_is_resumed(env: Env) -> Outcome {
    for kind in kinds::all() {
        let mut web = steps(&env, kind, &json!([1, "100%"])).await?;
        web.change("app:v2").await?;
        web.waits(1).await?;
        web.set(&json!({"strategy": {"paused": true}})).await?;
        web.until("paused", |it| {
            condition(it, "Progressing").is_some_and(|it| it["reason"] == "Paused")
        })
        .await?;
        web.approve().await?;
        web.env
            .stays(Duration::from_secs(20), "no Pod moves in a pause", || async {
                Ok(web.web.running("app:v2").await? == (1, 1))
            })
            .await?;
        web.set(&json!({"strategy": {"paused": false}})).await?;
        web.ends(true).await?;
        web.all_run("app:v2").await?;
        web.away().await?;
    }
    Ok(())
}

/// `nextStepIndex` jumps over steps, forwards and back; backwards moves nothing back.
pub(crate) async fn a_jump_goes_where_it_is_asked_to(env: Env) -> Outcome {
    for kind in kinds::scaled() {
        let mut web = steps(&env, kind, &json!([1, 2, 4, "100%"])).await?;
        web.change("app:v2").await?;
        web.waits(1).await?;
        web.say(&json!({"nextStepIndex": 3})).await?;
        web.stands(3, "app:v2", 4).await?;
        web.say(&json!({"nextStepIndex": 1})).await?;
        web.stands(1, "app:v2", 4).await?;
        web.say(&json!({"nextStepIndex": 4})).await?;
        web.ends(true).await?;
        web.away().await?;
    }
    Ok(())
}

/// "Deleting, disabling gives back every field that Sluice changed"; the workload's own controller goes on.
pub(crate) async fn a_rollout_that_is_disabled_gives_the_workload_back(env: Env) -> Outcome {
    for kind in kinds::all() {
        let mut web = steps(&env, kind, &json!([1, "100%"])).await?;
        let before = web.web.read().await?;
        web.change("app:v2").await?;
        web.waits(1).await?;
        web.set(&json!({"disabled": true})).await?;
        web.until("disabled", |it| it["status"]["phase"] == "Disabled").await?;
        web.given_back(&before).await?;
        web.all_run("app:v2").await?;
        web.set(&json!({"disabled": false})).await?;
        web.until("healthy", |it| it["status"]["phase"] == "Healthy").await?;
        web.away().await?;
    }
    Ok(())
}

pub(crate) async fn a_rollout_that_is_deleted_gives_the_workload_back(env: Env) -> Outcome {
    for kind in kinds::all() {
        let mut web = steps(&env, kind, &json!([1, "100%"])).await?;
        let before = web.web.read().await?;
        web.change("app:v2").await?;
        web.waits(1).await?;
        web.delete().await?;
        web.given_back(&before).await?;
        web.all_run("app:v2").await?;
        env.delete(kind, "web").await?;
        web.no_pods().await?;
    }
    Ok(())
}

/// Steps may change in mid-release: on with the first that is not behind.
pub(crate) async fn a_changed_plan_goes_on_where_it_stands(env: Env) -> Outcome {
    for kind in kinds::scaled() {
        let mut web = steps(&env, kind, &json!([1, 3, "100%"])).await?;
        web.change("app:v2").await?;
        web.waits(1).await?;
        web.plan(&json!([2, 4, "100%"])).await?;
        web.until("the first step is larger now", |it| {
            it["status"]["canaryStatus"]["canaryReadyReplicas"] == 2
        })
        .await?;
        web.stands(1, "app:v2", 2).await?;
        web.approve().await?;
        web.stands(2, "app:v2", 4).await?;
        web.approve().await?;
        web.ends(true).await?;
        web.away().await?;
    }
    Ok(())
}

/// "Scale up or down in mid-release keeps the step's share for every kind."
pub(crate) async fn scaling_keeps_the_share_of_the_step(env: Env) -> Outcome {
    for kind in kinds::that(|facts| facts.replicas && !facts.grows_new) {
        let mut web = steps(&env, kind, &json!(["20%", "100%"])).await?;
        web.change("app:v2").await?;
        web.stands(1, "app:v2", 1).await?;
        web.web.change(&json!({"spec": {"replicas": 10}})).await?;
        let two = |it: &Value| it["status"]["canaryStatus"]["canaryReadyReplicas"] == 2;
        web.until("the share of ten", two).await?;
        web.env
            .stays(Duration::from_secs(20), "a share of 20 %", || async {
                Ok(web.web.running("app:v2").await?.0 <= 2)
            })
            .await?;
        web.finishes("app:v2").await?;
        web.away().await?;
    }
    Ok(())
}

/// The mark is what protects a release: somebody who replaces the whole object takes it away.
pub(crate) async fn a_mark_that_is_removed_is_put_back(env: Env) -> Outcome {
    let mark = "rollouts.kruise.io/in-progressing";
    for kind in kinds::all() {
        let mut web = steps(&env, kind, &json!([1, "100%"])).await?;
        web.change("app:v2").await?;
        web.stands(1, "app:v2", 1).await?;
        web.web.change(&json!({"metadata": {"annotations": {mark: null}}})).await?;
        web.web
            .until("the mark is back", 60, |it| it["metadata"]["annotations"][mark].is_string())
            .await?;
        web.web.runs("app:v2", 1).await?;
        web.approve().await?;
        web.ends(true).await?;
        web.away().await?;
    }
    Ok(())
}

/// "A workload that vanishes for a moment keeps the Rollout's status and step."
pub(crate) async fn a_workload_that_is_made_anew_is_released_no_further(env: Env) -> Outcome {
    let mut web = steps(&env, DEPLOYMENTS, &json!([1, "100%"])).await?;
    web.change("app:v2").await?;
    web.waits(1).await?;
    let object = web.web.read().await?;
    env.delete(DEPLOYMENTS, "web").await?;
    web.until("it says that it is missing", |it| it["status"]["message"] == "Workload Not Found")
        .await?;
    same("step", &web.read().await?["status"]["currentStepIndex"], &json!(1))?;
    let fresh = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "replicas": 5, "selector": object["spec"]["selector"],
            "template": object["spec"]["template"],
        },
    });
    env.create(DEPLOYMENTS, &fresh).await?;
    // All of it is new: there is nothing left to be released.
    web.all_run("app:v2").await?;
    let left =
        |it: &Value| it["status"]["phase"] == "Healthy" || it["status"]["currentStepIndex"] == 1;
    let seen = web.until("it goes on", left).await?;
    ensure(seen["status"]["canaryStatus"].is_object(), || "the status is kept".to_owned())
}

/// A BatchRelease that somebody deletes is made again, and moves nothing.
pub(crate) async fn a_release_that_somebody_deletes_is_made_again(env: Env) -> Outcome {
    for kind in kinds::all() {
        let mut web = steps(&env, kind, &json!([1, "100%"])).await?;
        web.change("app:v2").await?;
        web.stands(1, "app:v2", 1).await?;
        let before = env.get(RELEASES, "web").await?;
        env.delete(RELEASES, "web").await?;
        env.until(RELEASES, "web", env.limit(60), "another one", |it| {
            it["metadata"]["uid"] != before["metadata"]["uid"] && it["metadata"]["uid"].is_string()
        })
        .await?;
        web.stands(1, "app:v2", 1).await?;
        web.approve().await?;
        web.ends(true).await?;
        web.away().await?;
    }
    Ok(())
}

/// Somebody takes the finalizer off: nobody rolls what is held, and it is said what may be done.
pub(crate) async fn a_workload_whose_rollout_is_torn_away_stays_and_is_told_of(
    env: Env,
) -> Outcome {
    for kind in kinds::all() {
        let mut patience = env.patience(env.limit(600));
        while !torn_away(&env, kind).await? {
            patience.rest(|| "it was given back each time".to_owned()).await?;
        }
    }
    Ok(())
}

/// Whether it came to that: the operator may have given the workload back before.
async fn torn_away(env: &Env, kind: Kind) -> Result<bool, Failure> {
    let mut web = steps(env, kind, &json!([1, "100%"])).await?;
    let before = web.web.read().await?;
    let uid = &before["metadata"]["uid"];
    web.change("app:v2").await?;
    web.stands(1, "app:v2", 1).await?;
    // Side by side, since one after the other the finalizer may be put back in between: whichever comes first,
    // the second takes the Rollout away.
    let bare = json!({"metadata": {"finalizers": null}});
    let (patched, deleted) =
        join(env.patch(RELEASED, "web", &bare), env.delete(RELEASED, "web")).await;
    deleted?;
    match patched {
        Ok(_) | Err(Refused { code: 404 | 409, .. }) => {}
        Err(refused) => return Err(refused.into()),
    }
    web.gone().await?;
    let mut patience = env.patience(env.limit(120));
    loop {
        let events = env.list(EVENTS, "").await?;
        let of_it = |it: &&Value| it["regarding"]["uid"] == *uid;
        if events.iter().filter(of_it).any(|it| it["reason"] == "ReleaseGone") {
            break;
        }
        let mark = "rollouts.kruise.io/in-progressing";
        if web.web.read().await?["metadata"]["annotations"][mark].is_null() {
            env.delete(kind, "web").await?;
            web.no_pods().await?;
            return Ok(false);
        }
        patience.rest(|| format!("an Event of the {} says so", kind.facts().name)).await?;
    }
    same("Pods of the new revision", web.web.running("app:v2").await?, (1, 1))?;
    // The remedy: another Rollout goes on, and its end gives all back.
    let web = Steps::begin(web.web, &json!([1, "100%"])).await?;
    web.waits(1).await?;
    web.delete().await?;
    web.given_back(&before).await?;
    web.all_run("app:v2").await?;
    env.delete(kind, "web").await?;
    web.no_pods().await?;
    Ok(true)
}

/// An autoscaler that goes from 5 to 28 at a step of 1 %: one Pod runs the new revision before and after.
pub(crate) async fn scaling_up_at_one_percent_moves_no_further_pod(env: Env) -> Outcome {
    for kind in kinds::that(|facts| facts.replicas && !facts.grows_new) {
        let mut web = steps(&env, kind, &json!(["1%", "100%"])).await?;
        web.change("app:v2").await?;
        web.stands(1, "app:v2", 1).await?;
        web.web.scale(28).await?;
        let all = |it: &Value| it["status"]["readyReplicas"] == 28;
        web.web.until("28 Pods are ready", 180, all).await?;
        web.env
            .stays(Duration::from_secs(20), "one of 28 runs the new revision", || async {
                Ok(web.web.running("app:v2").await?.0 == 1)
            })
            .await?;
        web.finishes("app:v2").await?;
        web.away().await?;
    }
    Ok(())
}

/// A second Rollout of a workload says that it waits, and touches nothing.
pub(crate) async fn a_second_rollout_of_a_workload_stands_back(env: Env) -> Outcome {
    let mut web = steps(&env, SETS, &json!([1, "100%"])).await?;
    let mut second = web.read().await?;
    second["metadata"] = json!({"name": "second"});
    if let Some(second) = second.as_object_mut() {
        second.remove("status");
    }
    if let Err(refused) = env.create(RELEASED, &second).await {
        // At the door already.
        return ensure(refused.message.contains("web"), || refused.message.clone());
    }
    let blocked =
        |it: &Value| condition(it, "Blocked").is_some_and(|it| it["reason"] == "WorkloadTaken");
    env.until(RELEASED, "second", env.limit(60), "it says so", blocked).await?;
    web.change("app:v2").await?;
    web.stands(1, "app:v2", 1).await?;
    env.delete(RELEASED, "second").await?;
    web.env
        .stays(Duration::from_secs(20), "its end gives back nothing of the first", || async {
            Ok(web.web.running("app:v2").await?.0 == 1)
        })
        .await?;
    web.finishes("app:v2").await
}
