//! Replicas that change before, in and after a rollout.

use serde_json::{Value, json};

use crate::env::{BUDGETS, Env, Outcome, ROLLOUTS, SETS, ensure, same};
use crate::kit::{DONE, budget, phase, rollout};

const MERGE: &str = "application/merge-patch+json";

/// "`replicas` is applied at once …; the target follows."
pub(crate) async fn the_target_follows_the_replicas(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable("50%")).await?;
    let mut web = env.deploy(rollout("web").replicas(4)).await?;
    web.change(|r| r.percent(50).image("app:v2")).await?;
    web.done().await?;
    web.change(|r| r.replicas(10)).await?;
    let done = web.done().await?;
    same("targetReplicas", &done["status"]["targetReplicas"], 5)?;
    same("replicas", &done["status"]["replicas"], 10)?;
    // New ordinals come up at the update revision; no other Pod is moved for it.
    same("old Pods", web.running("app:v1").await?, vec!["web-0", "web-1"])
}

/// "Progress is recomputed from pods; falling below the phase target re-plans within the phase." (bug
/// report: HPA drifts or destroys progress)
pub(crate) async fn progress_lost_by_scaling_down_is_made_good(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(2)).await?;
    let mut web = env.deploy(rollout("web").replicas(10).without("replicas")).await?;
    scale_set(&env, 10).await?;
    web.change(|r| r.percent(50).image("app:v2")).await?;
    web.until(120, "five of ten", |r| phase(r) == DONE && r["status"]["updatedReplicas"] == 5)
        .await?;
    scale_set(&env, 5).await?;
    let three = |r: &Value| {
        phase(r) == DONE && r["status"]["replicas"] == 5 && r["status"]["updatedReplicas"] == 3
    };
    web.until(120, "three of the five that are left", three).await?;
    same("new Pods", web.running("app:v2").await?, vec!["web-2", "web-3", "web-4"])
}

/// "If `replicas` is absent in the CR, Sluice never writes it (an autoscaler owns it)." (bug report:
/// HPA against the rollout)
pub(crate) async fn replicas_that_are_not_asked_for_are_never_written(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(2)).await?;
    let mut web = env.deploy(rollout("web").without("replicas")).await?;
    scale_set(&env, 4).await?;
    web.change(|r| r.percent(50).image("app:v2")).await?;
    web.until(120, "half", |r| phase(r) == DONE && r["status"]["updatedReplicas"] == 2).await?;
    scale_set(&env, 6).await?;
    web.change(|r| r.percent(100)).await?;
    web.done().await?;
    same("spec.replicas", &web.set().await?["spec"]["replicas"], 6)?;
    same("new Pods", web.running("app:v2").await?.len(), 6)
}

/// Giving `replicas` up to an autoscaler scales nothing.
pub(crate) async fn giving_up_replicas_leaves_them_as_they_are(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(3)).await?;
    let before = web.pods().await?;
    web.change(|r| r.without("replicas")).await?;
    web.done().await?;
    web.rests(15).await?;
    same("spec.replicas", &web.set().await?["spec"]["replicas"], 3)?;
    web.only_moved(&before, &[]).await?;
    scale_set(&env, 5).await?;
    web.rests(15).await?;
    same("spec.replicas", &web.set().await?["spec"]["replicas"], 5)
}

/// "Subresource scale: `.spec.statefulset.spec.replicas`": `kubectl scale ssr web` scales the set.
pub(crate) async fn the_scale_subresource_scales_the_set(env: Env) -> Outcome {
    let web = env.deploy(rollout("web").replicas(2)).await?;
    let patch = json!({"spec": {"replicas": 4}});
    env.patch_sub(ROLLOUTS, "web", "scale", MERGE, &patch).await?;
    let four = |s: &Value| s["spec"]["replicas"] == 4 && s["status"]["readyReplicas"] == 4;
    env.until(SETS, "web", env.limit(60), "four Pods", four).await?;
    web.done().await?;
    let path = format!("{}/scale", env.path(ROLLOUTS, "web"));
    let scale = env.send("GET", &path, "application/json", &Value::Null).await?;
    same("scale.spec.replicas", &scale["spec"]["replicas"], 4)?;
    let ready = |r: &Value| r["status"]["readyReplicas"] == 4;
    web.until(60, "four ready", ready).await?;
    let scale = env.send("GET", &path, "application/json", &Value::Null).await?;
    same("scale.status.replicas", &scale["status"]["replicas"], 4)?;
    same("scale.status.selector", &scale["status"]["selector"], "app=web")
}

/// A rollout of a set at zero replicas is done at once and comes true when the set is scaled up.
pub(crate) async fn a_set_at_zero_replicas_is_done_and_comes_up_new(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(2)).await?;
    web.change(|r| r.replicas(0)).await?;
    web.done().await?;
    let none = |s: &Value| s["status"]["replicas"] == 0;
    env.until(SETS, "web", env.limit(60), "no Pod", none).await?;
    web.change(|r| r.image("app:v2")).await?;
    web.done().await?;
    web.change(|r| r.replicas(2)).await?;
    web.done().await?;
    same("new Pods", web.running("app:v2").await?.len(), 2)
}

/// Scaled up in the middle: the budget is kept and all Pods end at the new revision.
pub(crate) async fn scaling_up_in_mid_rollout_keeps_the_budget(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(1)).await?;
    let mut web = env.deploy(rollout("web").replicas(4)).await?;
    let diary = web.diary().await?;
    web.change(|r| r.image("app:v2")).await?;
    web.until_running("app:v2", 1).await?;
    web.change(|r| r.replicas(6)).await?;
    web.done().await?;
    same("new Pods", web.running("app:v2").await?.len(), 6)?;
    let fewest = diary.read().await?.fewest_healthy();
    ensure(fewest >= 3, || format!("only {fewest} of 4 healthy"))
}

async fn scale_set(env: &Env, replicas: u32) -> Outcome {
    let patch = json!({"spec": {"replicas": replicas}});
    env.patch_sub(SETS, "web", "scale", MERGE, &patch).await?;
    let there =
        |s: &Value| s["status"]["readyReplicas"] == replicas && s["status"]["replicas"] == replicas;
    env.until(SETS, "web", env.limit(90), "scaled", there).await?;
    Ok(())
}

/// `replicas` that are asked for are put back when somebody scales the set itself.
pub(crate) async fn replicas_that_are_asked_for_are_put_back(env: Env) -> Outcome {
    let web = env.deploy(rollout("web").replicas(3)).await?;
    let before = web.pods().await?;
    env.patch_sub(SETS, "web", "scale", MERGE, &json!({"spec": {"replicas": 5}})).await?;
    let back = |s: &Value| s["spec"]["replicas"] == 3 && s["status"]["replicas"] == 3;
    env.until(SETS, "web", env.limit(60), "three again", back).await?;
    web.done().await?;
    web.only_moved(&before, &[]).await
}
