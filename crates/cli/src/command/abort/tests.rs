use serde_json::{Value, json};

use super::*;
use crate::far_side::embedded::{embedded, path, release, rollout as rollout_of, workload};
use crate::far_side::web::{deployment, deployment_done, healthy, rollout, rollout_at};
use crate::far_side::{FarSide, Paper, flags};

async fn aborted(far_side: &FarSide, name: &str) -> String {
    let paper = Paper::default();
    let out = &mut Out::to(paper.clone());
    match abort(&far_side.session(), &flags(&[name]), out).await {
        Ok(_) => paper.text(),
        Err(failure) => format!("{:?}: {failure}", failure.exit()),
    }
}

#[tokio::test(start_paused = true)]
async fn the_stable_template_comes_back_at_once_also_while_paused() {
    let mut paused = rollout();
    paused["spec"]["strategy"]["paused"] = json!(true);
    for rollout in [rollout(), paused] {
        let far_side = FarSide::in_steps_with(&rollout, &deployment("v2"));
        let text = aborted(&far_side, "deployment/web").await;
        let says = "goes back to revision 1 (v1, web:v1) at once; 3 of 5 Pods move";
        assert!(text.contains(says), "{text}");
        let image = far_side.patches()[0][1]["value"]["spec"]["containers"][0]["image"].clone();
        assert_eq!(image, "web:v1");
    }
}

#[tokio::test(start_paused = true)]
async fn where_nothing_is_released_there_is_nothing_to_abort() {
    async fn check(rollout: &Value, deployment: &Value, says: &str) {
        let far_side = FarSide::in_steps_with(rollout, deployment);
        let text = aborted(&far_side, "web").await;
        assert!(text.contains(says), "{text}");
        assert_eq!(far_side.patches().len(), 0);
    }
    check(&healthy("True"), &deployment_done(), "no release to abort").await;
    check(&healthy("True"), &deployment_done(), "`sluice undo rollout/web`").await;
    check(&rollout(), &deployment("v1"), "goes back to the stable revision already").await;
    let lost = rollout_at(&json!({}), &json!({"stableRevision": "zzz"}));
    check(&lost, &deployment("v2"), "nothing is left of its stable revision").await;
    let ending = rollout_at(&json!({}), &json!({"currentStepState": "Completed"}));
    check(&ending, &deployment("v2"), "no release to abort").await;
}

#[tokio::test(start_paused = true)]
async fn a_rollout_by_percent_goes_back_whole_and_is_not_paused_then() {
    let far_side = FarSide::rolling_out();
    let text = aborted(&far_side, "tester").await;
    assert!(
        text.contains("goes back to revision 1 (v1, tester:v1) at once; 3 of 4 Pods move"),
        "{text}"
    );
    let patch = &far_side.patches()[0];
    assert_eq!((&patch[2]["value"], &patch[3]["value"]), (&json!(100), &json!(false)));
}

#[tokio::test(start_paused = true)]
async fn a_roll_back_in_batches_is_one_at_once() {
    let session = embedded().await;
    workload(&session, "StatefulSet").await;
    let sets = format!("{}/web", path("StatefulSet"));
    let before = session.get(&sets, "web").await.unwrap();
    release(&session, "StatefulSet", "web:v2").await;
    let stable = before["status"]["updateRevision"].clone();
    rollout_of(&session, "StatefulSet", &json!({}), &json!({"stableRevision": stable})).await;
    let rollouts = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/rollouts/web";
    let asks = json!({"metadata": {"annotations": {ROLLBACK_IN_BATCH: "true"}}});
    session.merge(rollouts, &asks, "rollout").await.unwrap();
    let paper = Paper::default();
    let out = &mut Out::to(paper.clone());
    abort(&session, &flags(&["statefulset/web"]), out).await.unwrap();
    assert!(paper.text().contains("at once; 0 of 3 Pods move; its annotation"), "{}", paper.text());
    let after = session.get(&sets, "web").await.unwrap();
    assert_eq!(after["spec"]["template"], before["spec"]["template"]);
    let rollout = session.get(rollouts, "rollout").await.unwrap();
    assert_eq!(rollout["metadata"]["annotations"].get(ROLLBACK_IN_BATCH), None);
}
