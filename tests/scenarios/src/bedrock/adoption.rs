//! A StatefulSet that was there before, and other people's hands on it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::env::{BUDGETS, Env, Outcome, ROLLOUTS, SETS, ensure, same};
use crate::kit::{DONE, budget, phase, pods, rollout, set};

/// "A StatefulSet that already exists is adopted as it is, without a restart."
pub(crate) async fn a_set_that_exists_is_adopted_without_a_restart(env: Env) -> Outcome {
    env.create(SETS, &set("web")).await?;
    let four = |s: &Value| s["status"]["readyReplicas"] == 4;
    env.until(SETS, "web", env.limit(90), "four Pods", four).await?;
    let before = pods(&env, "web").await?;
    let web = env.deploy(rollout("web").replicas(4)).await?;
    web.rests(20).await?;
    web.only_moved(&before, &[]).await?;
    let (set, stored) = (web.set().await?, web.stored().await?);
    same("updateStrategy", &set["spec"]["updateStrategy"]["type"], "OnDelete")?;
    let annotations = set["metadata"]["annotations"].as_object();
    let claimed = annotations.into_iter().flatten().any(|(_, v)| *v == stored["metadata"]["uid"]);
    ensure(claimed, || format!("no annotation claims the set: {}", set["metadata"]))?;
    same("ownerReferences", &set["metadata"]["ownerReferences"], &Value::Null)
}

/// Adopted with another template: paced by the budget from the first Pod on, and not by the
/// controller of the set, which asks none. (bug report: OnDelete is "unsupported")
pub(crate) async fn a_set_adopted_with_another_template_is_paced_by_the_budget(
    env: Env,
) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(2)).await?;
    env.create(SETS, &set("web")).await?;
    let four = |s: &Value| s["status"]["readyReplicas"] == 4;
    env.until(SETS, "web", env.limit(90), "four Pods", four).await?;
    let before = pods(&env, "web").await?;
    let web = env.begin(rollout("web").replicas(4).percent(25).image("app:v2")).await?;
    web.done().await?;
    web.rests(20).await?;
    web.only_moved(&before, &["web-3"]).await
}

/// "`updateStrategy`" in the CR that asks for RollingUpdate does not let the set's own controller
/// move Pods past the percentage.
pub(crate) async fn a_rolling_update_in_the_spec_does_not_move_pods_by_itself(env: Env) -> Outcome {
    let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
    let rolling = rollout("web").with("spec/statefulset/spec/updateStrategy", strategy);
    let mut web = env.deploy(rolling).await?;
    let before = web.pods().await?;
    web.change(|r| r.percent(25).image("app:v2")).await?;
    web.done().await?;
    web.rests(20).await?;
    web.only_moved(&before, &["web-3"]).await
}

/// "A CR deleted and created again goes on from the Pods as they are."
pub(crate) async fn a_rollout_created_again_goes_on_from_the_pods_as_they_are(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(4)).await?;
    web.change(|r| r.percent(50).image("app:v2")).await?;
    web.done().await?;
    let before = web.pods().await?;
    env.delete(ROLLOUTS, "web").await?;
    let mut web = env.deploy(web.rollout.clone()).await?;
    web.rests(10).await?;
    web.only_moved(&before, &[]).await?;
    web.change(|r| r.percent(100)).await?;
    web.done().await?;
    web.only_moved(&before, &["web-0", "web-1"]).await
}

/// "A foreign change beside them that makes a new revision (`kubectl rollout restart` sets
/// `restartedAt`) is kept and rolls under the same percent."
pub(crate) async fn a_restart_by_kubectl_rolls_under_the_same_percent(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(4)).await?;
    web.change(|r| r.percent(50)).await?;
    web.done().await?;
    let before = web.pods().await?;
    let key = "kubectl.kubernetes.io/restartedAt";
    let restart =
        json!({"spec": {"template": {"metadata": {"annotations": {key: "2026-01-01T00:00:00Z"}}}}});
    env.patch(SETS, "web", &restart).await?;
    let fresh = |r: &Value| {
        r["status"]["updateRevision"] != before[0].revision.as_str() && phase(r) == DONE
    };
    web.until(120, "the new revision is rolled out", fresh).await?;
    web.rests(15).await?;
    web.only_moved(&before, &["web-2", "web-3"]).await?;
    let set = web.set().await?;
    let kept = &set["spec"]["template"]["metadata"]["annotations"][key];
    same("the annotation", kept, "2026-01-01T00:00:00Z")
}

/// "Fields that we own are written … when one of them has drifted."
pub(crate) async fn a_field_that_somebody_changed_is_put_back(env: Env) -> Outcome {
    let web = env.deploy(rollout("web").replicas(2)).await?;
    let before = web.pods().await?;
    let drift = json!({"spec": {"minReadySeconds": 7, "template": {"spec": {
        "containers": [{"name": "main", "image": "app:intruder"}]}}}});
    let content = "application/strategic-merge-patch+json";
    let path = env.path(SETS, "web");
    env.send("PATCH", &path, content, &drift).await?;
    let back = |s: &Value| s["spec"]["template"]["spec"]["containers"][0]["image"] == "app:v1";
    let set = env.until(SETS, "web", env.limit(60), "the image is put back", back).await?;
    same("a field that is not ours", &set["spec"]["minReadySeconds"], 7)?;
    web.done().await?;
    web.rests(15).await?;
    web.only_moved(&before, &[]).await
}

/// Somebody else's labels and annotations on the set stay.
pub(crate) async fn what_others_write_beside_our_fields_stays(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(2)).await?;
    let mark = json!({"metadata": {"labels": {"team": "red"}, "annotations": {"note": "ours"}}});
    env.patch(SETS, "web", &mark).await?;
    web.change(|r| r.image("app:v2")).await?;
    web.done().await?;
    let set = web.set().await?;
    same("label", &set["metadata"]["labels"]["team"], "red")?;
    same("annotation", &set["metadata"]["annotations"]["note"], "ours")
}

/// Another writer touches both objects all the time; the rollout gets there. (bug report: rollout
/// stuck on stale informer / update conflict)
pub(crate) async fn another_writer_on_both_objects_does_not_stop_the_rollout(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(3)).await?;
    web.change(|r| r.image("app:v2")).await?;
    let mut patience = env.patience(env.limit(180));
    let mut turn = 0;
    while phase(&web.stored().await?) != DONE || turn < 5 {
        turn += 1;
        let touch = json!({"metadata": {"annotations": {"scenario.test/turn": turn.to_string()}}});
        env.patch(ROLLOUTS, "web", &touch).await?;
        env.patch(SETS, "web", &touch).await?;
        patience
            .rest(|| "done while another writer touches the objects each second".to_owned())
            .await?;
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    web.done().await?;
    same("new Pods", web.running("app:v2").await?.len(), 3)
}
