use serde_json::{Value, json};

use super::*;
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
