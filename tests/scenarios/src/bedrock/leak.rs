//! Version leak: Pods lost for another reason that come back at the new revision.

use serde_json::Value;

use crate::env::{EVENTS, Env, Outcome, ensure, same, says};
use crate::kit::{DONE, PAUSED, Web, condition, count, phase, reason, rollout};

async fn a_quarter_moved(env: &Env, mode: &str) -> Result<Web, crate::env::Failure> {
    let mut web = env.deploy(rollout("web").replicas(4).leak(mode)).await?;
    web.change(|r| r.percent(25).image("app:v2")).await?;
    let done = web.done().await?;
    same("leakedReplicas before", count(&done, "leakedReplicas"), 0)?;
    ensure(condition(&done, "Leaked").is_none(), || format!("an evicted Pod leaked: {done}"))?;
    Ok(web)
}

/// "`Report`: such Pods are told apart by UID …, counted in `leakedReplicas`, condition `Leaked`,
/// … message." (bug report: pod below the partition is upgraded on restart)
pub(crate) async fn a_leaked_pod_is_counted_and_told(env: Env) -> Outcome {
    let web = a_quarter_moved(&env, "Report").await?;
    let back = env.lose("web-0").await?;
    same("the version of the lost Pod", back.image.as_str(), "app:v2")?;
    let counted = |r: &Value| r["status"]["leakedReplicas"] == 1;
    let leaked = web.until(60, "one leaked", counted).await?;
    ensure(condition(&leaked, "Leaked").is_some(), || format!("no condition Leaked: {leaked}"))?;
    same("phase", phase(&leaked), DONE)?;
    let mut patience = env.patience(env.limit(30));
    loop {
        let events = env.list(EVENTS, "").await?;
        let told = |e: &Value| e["reason"] == "PodsLeaked" && e["type"] == "Warning";
        if events.iter().any(told) {
            return Ok(());
        }
        patience.rest(|| format!("an Event tells it: {events:?}")).await?;
    }
}

/// The default is `Report`.
pub(crate) async fn leaks_are_reported_unless_told_otherwise(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(4)).await?;
    web.change(|r| r.percent(25).image("app:v2")).await?;
    web.done().await?;
    env.lose("web-1").await?;
    web.until(60, "one leaked", |r| r["status"]["leakedReplicas"] == 1).await?;
    Ok(())
}

/// A drain is another reason as well.
pub(crate) async fn a_pod_that_somebody_else_evicts_is_a_leak(env: Env) -> Outcome {
    let web = a_quarter_moved(&env, "Report").await?;
    env.evict("web-2").await?;
    web.until(60, "one leaked", |r| r["status"]["leakedReplicas"] == 1).await?;
    web.until_running("app:v2", 2).await
}

/// "A Pod that leaked counts as moved."
pub(crate) async fn a_leaked_pod_counts_as_moved(env: Env) -> Outcome {
    let mut web = a_quarter_moved(&env, "Report").await?;
    env.lose("web-0").await?;
    web.until(60, "one leaked", |r| r["status"]["leakedReplicas"] == 1).await?;
    let before = web.pods().await?;
    web.change(|r| r.percent(50)).await?;
    web.done().await?;
    web.rests(15).await?;
    web.only_moved(&before, &[]).await
}

/// "`Pause`: also pauses"; "goes on with a new `rolloutIdentity`".
pub(crate) async fn a_leak_pauses_when_asked_and_a_new_identity_goes_on(env: Env) -> Outcome {
    let mut web = a_quarter_moved(&env, "Pause").await?;
    env.lose("web-0").await?;
    let paused = web.phase(PAUSED, 60).await?;
    says("the reason", reason(&paused), &["web-0", "rolloutIdentity"])?;
    web.change(|r| r.percent(75)).await?;
    web.phase(PAUSED, 60).await?;
    web.rests(20).await?;
    web.change(|r| r.identity("second")).await?;
    web.done().await?;
    same("new Pods", web.running("app:v2").await?.len(), 3)
}

/// "… (or when `versionLeak` is changed)."
pub(crate) async fn a_leak_pause_ends_when_the_mode_is_changed(env: Env) -> Outcome {
    let mut web = a_quarter_moved(&env, "Pause").await?;
    env.lose("web-0").await?;
    web.phase(PAUSED, 60).await?;
    web.change(|r| r.leak("Report")).await?;
    web.done().await?;
    Ok(())
}

/// "`Ignore`: as the original": it is not told.
pub(crate) async fn an_ignored_leak_is_not_told(env: Env) -> Outcome {
    let web = a_quarter_moved(&env, "Ignore").await?;
    env.lose("web-0").await?;
    tokio::time::sleep(std::time::Duration::from_secs(15)).await;
    let stored = web.stored().await?;
    same("leakedReplicas", count(&stored, "leakedReplicas"), 0)?;
    ensure(condition(&stored, "Leaked").is_none(), || format!("told all the same: {stored}"))?;
    same("updatedReplicas", &stored["status"]["updatedReplicas"], 2)
}

/// "A leak exists only below 100 percent."
pub(crate) async fn at_100_percent_nothing_leaks(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(4).leak("Pause")).await?;
    web.change(|r| r.image("app:v2")).await?;
    web.until_running("app:v2", 1).await?;
    env.lose("web-0").await?;
    let done = web.done().await?;
    same("leakedReplicas", count(&done, "leakedReplicas"), 0)
}

/// A Pod that is lost after it moved comes back as it was: no leak.
pub(crate) async fn a_moved_pod_that_is_lost_is_no_leak(env: Env) -> Outcome {
    let web = a_quarter_moved(&env, "Report").await?;
    env.lose("web-3").await?;
    tokio::time::sleep(std::time::Duration::from_secs(15)).await;
    let done = web.done().await?;
    same("leakedReplicas", count(&done, "leakedReplicas"), 0)?;
    same("updatedReplicas", &done["status"]["updatedReplicas"], 1)
}
