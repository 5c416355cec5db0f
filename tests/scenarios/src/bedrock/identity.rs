//! What begins a new rollout, and what does not.

use serde_json::Value;

use crate::env::{Env, Outcome, same};
use crate::kit::rollout;

/// A new identity with nothing to do disturbs nothing, and the status speaks of it.
pub(crate) async fn a_new_identity_with_nothing_to_do_moves_no_pod(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(3)).await?;
    let before = web.pods().await?;
    web.change(|r| r.identity("second")).await?;
    let done = web.done().await?;
    same("status.rolloutIdentity", &done["status"]["rolloutIdentity"], "second")?;
    web.rests(15).await?;
    web.only_moved(&before, &[]).await
}

/// "A change of `channel` or `bapi` does not [begin a new rollout]": a finished one stays finished.
pub(crate) async fn a_change_of_channel_begins_nothing(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(2)).await?;
    let began = web.stored().await?["status"]["lastProgressTime"].clone();
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    web.change(|r| r.with("spec/channel", "#other")).await?;
    let done = web.done().await?;
    same("lastProgressTime", &done["status"]["lastProgressTime"], &began)
}

/// "Status of `observedGeneration` g speaks of generation g": the verdict on the last change is
/// never taken for one on this. (bug report: `status` exits early)
pub(crate) async fn a_verdict_speaks_of_the_generation_that_it_observed(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(3)).await?;
    for (percent, image) in [(34, "app:v2"), (100, "app:v2"), (67, "app:v3")] {
        web.change(|r| r.percent(percent).image(image)).await?;
        let claim = "a verdict";
        let settled = |r: &Value| r["status"]["phase"] == "RolloutDone";
        let verdict = web.until(120, claim, settled).await?;
        same("percentDeployed", &verdict["status"]["percentDeployed"], percent)?;
        let target = verdict["status"]["targetReplicas"].as_u64().unwrap_or(0);
        let count = web.running(image).await?.len() as u64;
        same("Pods at the version of this generation", count, target)?;
    }
    Ok(())
}

/// The new revision is what every Pod is judged by, not `currentRevision`, which stays behind under
/// OnDelete. (bug reports: currentRevision never advances under OnDelete; false alerts from it)
pub(crate) async fn done_does_not_wait_for_current_revision(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(2)).await?;
    web.change(|r| r.image("app:v2")).await?;
    let done = web.done().await?;
    let (set, pods) = (web.set().await?, web.pods().await?);
    same("updateRevision", &done["status"]["updateRevision"], &set["status"]["updateRevision"])?;
    for pod in pods {
        same(&pod.name, &done["status"]["updateRevision"], pod.revision.as_str())?;
    }
    Ok(())
}
