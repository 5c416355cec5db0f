//! The steps of a Rollout, on each kind of workload.

use std::time::Duration;

use serde_json::{Value, json};

use crate::env::{
    ADVANCED_DAEMONSETS, ADVANCED_SETS, CLONESETS, DAEMONSETS, DEPLOYMENTS, Env, Kind, Outcome,
    SETS, ensure, same,
};
use crate::kinds;
use crate::kit::{Steps, Workload, steps};

/// The published plan, 1, 50 % and 100 %, with an approval between: exact counts at each step.
async fn walks(env: &Env, kind: Kind, spec: Value) -> Outcome {
    let web = Workload::deploy(env, kind, "web", spec).await?;
    let pods = web.pods().await?.len();
    ensure(pods > 2, || format!("three Pods are needed, {pods} are there"))?;
    let mut web = Steps::of(web, &json!([1, "50%", "100%"])).await?;
    let before = web.web.read().await?;
    web.change("app:v2").await?;
    let mut last = 0;
    for (step, size) in [(1, 1), (2, pods.div_ceil(2))] {
        let waiting = web.stands(step, "app:v2", size).await?;
        let canary = &waiting["status"]["canaryStatus"];
        same("canaryReplicas", &canary["canaryReplicas"], &json!(size))?;
        let batch = usize::try_from(step).unwrap_or(0);
        web.batch_has(batch, size - last).await?;
        last = size;
        web.env
            .stays(Duration::from_secs(10), "a step that waits moves no Pod", || async {
                Ok(web.web.running("app:v2").await? == (size, size))
            })
            .await?;
        web.approve().await?;
    }
    let done = web.ends(true).await?;
    same("state", &done["status"]["currentStepState"], &json!("Completed"))?;
    web.all_run("app:v2").await?;
    web.web.runs("app:v2", pods).await?;
    web.given_back(&before).await
}

pub(crate) async fn a_deployment_goes_step_by_step(env: Env) -> Outcome {
    let rolling = json!({"maxSurge": 2, "maxUnavailable": 0});
    let spec = json!({
        "replicas": 5, "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
    });
    walks(&env, DEPLOYMENTS, spec).await
}

pub(crate) async fn a_statefulset_goes_step_by_step(env: Env) -> Outcome {
    walks(&env, SETS, json!({"replicas": 5})).await
}

pub(crate) async fn a_daemonset_goes_step_by_step(env: Env) -> Outcome {
    walks(&env, DAEMONSETS, json!({})).await
}

pub(crate) async fn a_cloneset_goes_step_by_step(env: Env) -> Outcome {
    walks(&env, CLONESETS, json!({"replicas": 5})).await
}

pub(crate) async fn an_advanced_statefulset_goes_step_by_step(env: Env) -> Outcome {
    walks(&env, ADVANCED_SETS, json!({"replicas": 5})).await
}

pub(crate) async fn an_advanced_daemonset_goes_step_by_step(env: Env) -> Outcome {
    walks(&env, ADVANCED_DAEMONSETS, json!({})).await
}

/// `pause.duration` goes on by itself, and one without waits.
pub(crate) async fn a_duration_goes_on_by_itself(env: Env) -> Outcome {
    let mut web = steps(&env, DEPLOYMENTS, &json!([["20%", 60], "60%", ["80%", 0]])).await?;
    web.change("app:v2").await?;
    web.waits(1).await?;
    web.env
        .stays(Duration::from_secs(20), "the first step waits for its time", || async {
            Ok(web.web.running("app:v2").await? == (1, 1))
        })
        .await?;
    web.stands(2, "app:v2", 3).await?;
    web.approve().await?;
    // What the last step leaves over goes by itself.
    web.ends(true).await?;
    web.all_run("app:v2").await
}

/// Percentages and numbers may be mixed, on every kind, and always advance.
pub(crate) async fn percentages_and_numbers_may_be_mixed(env: Env) -> Outcome {
    for kind in kinds::scaled() {
        let mut web = steps(&env, kind, &json!(["20%", 3, "100%"])).await?;
        web.change("app:v2").await?;
        web.stands(1, "app:v2", 1).await?;
        web.approve().await?;
        web.stands(2, "app:v2", 3).await?;
        web.approve().await?;
        web.ends(true).await?;
        web.away().await?;
    }
    Ok(())
}

/// Creating a Rollout changes nothing about a workload but its label.
pub(crate) async fn a_new_rollout_moves_nothing(env: Env) -> Outcome {
    for kind in kinds::all() {
        let web = Workload::deploy(&env, kind, "web", kind.sized(3)).await?;
        let (before, pods) = (web.read().await?, web.uids().await?);
        let web = Steps::of(web, &json!([1, "100%"])).await?;
        same("spec", &web.web.read().await?["spec"], &before["spec"])?;
        same("Pods", web.web.uids().await?, pods)?;
        web.away().await?;
    }
    Ok(())
}

/// The user's own id names a release, and each Pod bears it with the number of its batch.
pub(crate) async fn a_release_ends_with_its_pods_labelled_by_the_users_id(env: Env) -> Outcome {
    for kind in kinds::all() {
        let mut web = steps(&env, kind, &json!([1, "100%"])).await?;
        let all = web.web.pods().await?.len();
        let id = json!({"metadata": {"labels": {"rollouts.kruise.io/rollout-id": "r-7"}}});
        web.web.change(&id).await?;
        web.change("app:v2").await?;
        let waiting = web.waits(1).await?;
        same("id", &waiting["status"]["canaryStatus"]["observedRolloutID"], &json!("r-7"))?;
        web.batch_has(1, 1).await?;
        web.approve().await?;
        web.ends(true).await?;
        web.batch_has(2, all - 1).await?;
        web.away().await?;
    }
    Ok(())
}
