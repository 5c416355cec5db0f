//! Rolling back: the earlier template, at 100 percent.

use crate::env::{BUDGETS, Env, Outcome, SETS, ensure, same};
use crate::kit::{budget, rollout};

/// "Pods that never moved already match …, so only moved Pods rotate."
pub(crate) async fn a_rollback_moves_only_what_had_moved(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(2)).await?;
    let mut web = env.deploy(rollout("web").replicas(4)).await?;
    web.change(|r| r.percent(50).image("app:v2")).await?;
    web.done().await?;
    let before = web.pods().await?;
    web.change(|r| r.percent(100).image("app:v1")).await?;
    web.done().await?;
    web.only_moved(&before, &["web-2", "web-3"]).await?;
    same("Pods at the old version", web.running("app:v1").await?.len(), 4)
}

/// "A broken image … rolls back by applying the old template, moving only the broken Pods", under a
/// budget that the broken Pods have used up.
pub(crate) async fn rolling_back_a_broken_image_moves_only_the_broken_pods(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(2)).await?;
    let mut web = env.deploy(rollout("web").replicas(5).deadline(20)).await?;
    web.change(|r| r.image("app:broken")).await?;
    web.failed().await?;
    let before = web.pods().await?;
    let diary = web.diary().await?;
    web.change(|r| r.image("app:v1")).await?;
    web.done().await?;
    web.only_moved(&before, &["web-3", "web-4"]).await?;
    same("fewest healthy Pods", diary.read().await?.fewest_healthy(), 3)
}

/// "… with and without a budget."
pub(crate) async fn rolling_back_a_broken_image_needs_no_budget(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(4).deadline(20)).await?;
    web.change(|r| r.image("app:broken")).await?;
    web.failed().await?;
    let before = web.pods().await?;
    web.change(|r| r.image("app:v1")).await?;
    web.done().await?;
    web.only_moved(&before, &["web-3"]).await
}

/// "Broken ones first and at once; `minPodEvictionIntervalSeconds` does not hold back the replacement
/// of Pods that are not ready."
pub(crate) async fn the_interval_does_not_hold_back_broken_pods(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable("100%")).await?;
    let broken = rollout("web").replicas(4).image("app:broken").interval(600).deadline(15);
    let mut web = env.begin(broken).await?;
    web.failed().await?;
    web.change(|r| r.image("app:v2")).await?;
    // Four rotations 600 s apart would take half an hour.
    web.until(120, "done", |r| r["status"]["phase"] == "RolloutDone").await?;
    same("Pods at the fix", web.running("app:v2").await?.len(), 4)
}

/// Rolling back before the rollout is given up.
pub(crate) async fn a_rollback_in_mid_rollout_needs_no_verdict_first(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(1)).await?;
    let mut web = env.deploy(rollout("web").replicas(4)).await?;
    let before = web.pods().await?;
    web.change(|r| r.image("app:broken")).await?;
    web.until(60, "a Pod has moved", |r| r["status"]["updatedReplicas"] == 1).await?;
    web.change(|r| r.image("app:v1")).await?;
    web.done().await?;
    web.only_moved(&before, &["web-3"]).await
}

/// "(same ControllerRevision)": after the rollback the update revision is the first one again.
pub(crate) async fn a_rollback_comes_back_to_the_same_revision(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(2)).await?;
    let first = web.stored().await?["status"]["updateRevision"].clone();
    web.change(|r| r.percent(50).image("app:v2")).await?;
    let half = web.done().await?;
    ensure(half["status"]["updateRevision"] != first, || format!("no new revision: {first}"))?;
    same("stableRevision", &half["status"]["stableRevision"], &first)?;
    web.change(|r| r.percent(100).image("app:v1")).await?;
    let back = web.done().await?;
    same("updateRevision", &back["status"]["updateRevision"], &first)?;
    let set = env.get(SETS, "web").await?;
    same("the StatefulSet's updateRevision", &set["status"]["updateRevision"], &first)
}
