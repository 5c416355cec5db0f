//! What remains when the rollout, or its StatefulSet, is deleted.

use std::time::Duration;

use serde_json::json;

use crate::env::{Env, Outcome, ROLLOUTS, SETS, ensure, same};
use crate::kit::{FAILED, phase, rollout};

/// "Deleting the CR leaves the StatefulSet and its Pods exactly as they are."
pub(crate) async fn deleting_the_rollout_leaves_set_and_pods_as_they_are(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(4)).await?;
    web.change(|r| r.percent(50).image("app:v2")).await?;
    web.done().await?;
    let (set, before) = (web.set().await?, web.pods().await?);
    env.delete(ROLLOUTS, "web").await?;
    web.rests(30).await?;
    web.only_moved(&before, &[]).await?;
    let gone = env.get(ROLLOUTS, "web").await;
    ensure(gone.is_err_and(|refused| refused.code == 404), || "the rollout is there".to_owned())?;
    let after = web.set().await?;
    same("the set's UID", &after["metadata"]["uid"], &set["metadata"]["uid"])?;
    same("the set's spec", &after["spec"], &set["spec"])
}

/// The same in the middle of a rollout: it stops where it stands.
pub(crate) async fn deleting_the_rollout_on_its_way_stops_it(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(5)).await?;
    web.change(|r| r.image("app:v2")).await?;
    web.until_running("app:v2", 1).await?;
    env.delete(ROLLOUTS, "web").await?;
    tokio::time::sleep(Duration::from_secs(10)).await;
    web.rests(40).await?;
    let moved = web.running("app:v2").await?.len();
    ensure(moved < 5, || format!("{moved} of 5 moved though the rollout was deleted"))
}

/// "If somebody deletes the StatefulSet, `status.deleted: true`, phase `RolloutFailed`."
pub(crate) async fn a_deleted_set_fails_the_rollout_and_stays_away(env: Env) -> Outcome {
    let web = env.deploy(rollout("web").replicas(2)).await?;
    env.delete(SETS, "web").await?;
    let failed = web.phase(FAILED, 60).await?;
    same("status.deleted", &failed["status"]["deleted"], true)?;
    env.stays(Duration::from_secs(30), "the set is not created again", || async {
        Ok(env.get(SETS, "web").await.is_err_and(|refused| refused.code == 404))
    })
    .await?;
    same("phase", phase(&web.stored().await?), FAILED)
}

/// "… recreated only on a new generation or `rolloutIdentity`."
pub(crate) async fn a_deleted_set_is_created_again_for_a_new_identity(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(2)).await?;
    env.delete(SETS, "web").await?;
    web.phase(FAILED, 60).await?;
    web.change(|r| r.identity("second")).await?;
    let done = web.done().await?;
    ensure(done["status"]["deleted"] != true, || "done and deleted".to_owned())?;
    same("Pods", web.running("app:v1").await?.len(), 2)
}

/// "… on a new generation": any change of the spec.
pub(crate) async fn a_deleted_set_is_created_again_for_a_new_generation(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(2)).await?;
    env.delete(SETS, "web").await?;
    web.phase(FAILED, 60).await?;
    // A label of the rollout itself is no new generation.
    env.patch(ROLLOUTS, "web", &json!({"metadata": {"labels": {"touched": "yes"}}})).await?;
    tokio::time::sleep(Duration::from_secs(10)).await;
    ensure(env.get(SETS, "web").await.is_err(), || "created again for a label".to_owned())?;
    web.change(|r| r.image("app:v2")).await?;
    web.done().await?;
    same("Pods", web.running("app:v2").await?.len(), 2)
}
