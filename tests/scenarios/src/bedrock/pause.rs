//! Pausing and going on.

use std::time::Duration;

use tokio::time::Instant;

use crate::env::{BUDGETS, Env, Outcome, SETS, ensure, same};
use crate::kit::{FAILED, PAUSED, budget, phase, rollout};

/// "Pause holds": once it is observed, no Pod is disturbed until it is taken back.
pub(crate) async fn a_pause_holds_until_it_is_taken_back(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(1)).await?;
    let mut web = env.deploy(rollout("web").replicas(6)).await?;
    web.change(|r| r.image("app:v2")).await?;
    web.until_running("app:v2", 1).await?;
    web.change(|r| r.paused(true)).await?;
    let paused = web.phase(PAUSED, 60).await?;
    same("status.paused", &paused["status"]["paused"], true)?;
    let diary = web.diary().await?;
    let before = web.pods().await?;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let fresh = diary.read().await?.departures();
    // One that was on its way when the pause was seen may still be going.
    let going = before.iter().filter(|pod| pod.terminating).count();
    ensure(fresh.len() <= going, || format!("Pods went in a pause: {fresh:?}"))?;
    let moved = web.running("app:v2").await?.len();
    ensure(moved < 6, || "the pause came too late to show anything".to_owned())?;
    web.change(|r| r.paused(false)).await?;
    let done = web.done().await?;
    ensure(done["status"]["paused"] != true, || "done and paused".to_owned())
}

/// "The template is applied as soon as it is known, … in a pause too."
pub(crate) async fn a_template_is_applied_in_a_pause_and_moves_no_pod(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(3)).await?;
    let before = web.pods().await?;
    web.change(|r| r.paused(true).image("app:v2")).await?;
    web.phase(PAUSED, 60).await?;
    let image =
        |s: &serde_json::Value| s["spec"]["template"]["spec"]["containers"][0]["image"] == "app:v2";
    env.until(SETS, "web", env.limit(30), "the new template", image).await?;
    web.rests(30).await?;
    web.only_moved(&before, &[]).await?;
    web.change(|r| r.paused(false)).await?;
    web.done().await?;
    same("Pods at the new version", web.running("app:v2").await?.len(), 3)
}

/// "`replicas` is applied at once, in a pause too."
pub(crate) async fn replicas_are_applied_in_a_pause(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(3)).await?;
    let before = web.pods().await?;
    web.change(|r| r.paused(true).image("app:v2")).await?;
    web.phase(PAUSED, 60).await?;
    web.change(|r| r.replicas(5)).await?;
    let five = |s: &serde_json::Value| s["status"]["readyReplicas"] == 5;
    env.until(SETS, "web", env.limit(60), "five Pods", five).await?;
    web.only_moved(&before, &["web-3", "web-4"]).await?;
    same("phase", phase(&web.phase(PAUSED, 30).await?), PAUSED)
}

/// "The clock stands still in a pause": the deadline of Pods that don't come up does not run out.
pub(crate) async fn a_pause_stops_the_deadline(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(3).deadline(30)).await?;
    web.change(|r| r.image("app:broken")).await?;
    web.until(60, "a Pod has moved", |r| r["status"]["updatedReplicas"] == 1).await?;
    let began = Instant::now();
    web.change(|r| r.paused(true)).await?;
    web.phase(PAUSED, 60).await?;
    let waited = began.elapsed();
    env.stays(Duration::from_secs(60), "paused, not failed", || async {
        Ok(phase(&web.stored().await?) == PAUSED)
    })
    .await?;
    let went_on = Instant::now();
    web.change(|r| r.paused(false)).await?;
    web.phase(FAILED, 120).await?;
    let waited = waited + went_on.elapsed();
    let whole = waited >= Duration::from_secs(25);
    ensure(whole, || format!("given up after {waited:?} out of the pause, not after 30 s"))
}

/// "Pause an ongoing rollout": one that is done stays done.
pub(crate) async fn a_pause_of_a_finished_rollout_changes_nothing(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(2)).await?;
    web.change(|r| r.paused(true)).await?;
    web.done().await?;
    web.rests(20).await
}

/// A rollback that is paused holds as well, and goes on when the pause is taken back.
pub(crate) async fn a_pause_of_a_half_done_rollout_survives_a_change_of_percent(
    env: Env,
) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(4)).await?;
    web.change(|r| r.percent(25).image("app:v2")).await?;
    web.done().await?;
    web.change(|r| r.paused(true).percent(75)).await?;
    web.phase(PAUSED, 60).await?;
    web.rests(30).await?;
    same("Pods at the new version", web.running("app:v2").await?.len(), 1)?;
    web.change(|r| r.paused(false)).await?;
    web.done().await?;
    same("Pods at the new version", web.running("app:v2").await?.len(), 3)
}
