use serde_json::{Value, json};

use super::*;
use crate::far_side::web::{deployment, healthy, release_of_ones_own, rollout_at};
use crate::far_side::{FarSide, Paper, flags};

async fn approved(far_side: &FarSide, arguments: &[&str]) -> Result<String, String> {
    let paper = Paper::default();
    let out = &mut Out::to(paper.clone());
    let outcome = approve(&far_side.session(), &flags(arguments), out).await;
    outcome.map(|_| paper.text()).map_err(|failure| format!("{:?}: {failure}", failure.exit()))
}

/// What is said of a Rollout like this, and the one write, if there is one.
async fn check(rollout: &Value, arguments: &[&str], says: &str, write: Option<Value>) {
    let far_side = FarSide::in_steps_with(rollout, &deployment("v2"));
    let said = approved(&far_side, arguments).await;
    let (Ok(text) | Err(text)) = &said;
    assert!(text.contains(says), "{arguments:?}: {text}");
    assert_eq!(said.is_ok(), write.is_some(), "{text}");
    let written = write.map(
        |canary| json!({"metadata": {"resourceVersion": "88"}, "status": {"canaryStatus": canary}}),
    );
    assert_eq!(far_side.patches(), Vec::from_iter(written), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_step_that_waits_is_approved_in_the_status_under_the_version_that_was_read() {
    let ready = Some(json!({"currentStepState": "StepReady"}));
    let waits = rollout_at(&json!({}), &json!({}));
    let says = "rollout default/web step 2 of 3 is approved: step 3 (100%) comes next";
    for name in ["web", "rollout/web", "deployment/web", "batchrelease/web"] {
        check(&waits, &[name], says, ready.clone()).await;
    }
    check(&waits, &["web", "--step=3"], says, ready.clone()).await;
    let far_side = FarSide::in_steps();
    approved(&far_side, &["web"]).await.unwrap();
    let path = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/rollouts/web/status";
    assert_eq!(far_side.patched(), [path]);
    let mut paused = waits;
    paused["spec"]["strategy"]["paused"] = json!(true);
    check(&paused, &["web"], "it is paused, and goes on after `sluice resume rollout/web`", ready)
        .await;
}

#[tokio::test(start_paused = true)]
async fn where_nothing_waits_it_says_what_does_and_the_remedy() {
    async fn refused(rollout: Value, says: &[&str]) {
        for says in says {
            check(&rollout, &["web"], says, None).await;
        }
    }
    let at = |state: &str| rollout_at(&json!({}), &json!({"currentStepState": state}));
    let updating = "has no step that waits for an approval: it waits for the Pods of step 2";
    refused(
        at("StepUpgrade"),
        &["Failed: rollout default/web", updating, "sluice abort rollout/web"],
    )
    .await;
    refused(at("StepReady"), &["step 2 is approved"]).await;
    refused(at("Completed"), &["the workload to be given back"]).await;
    refused(healthy("True"), &["it waits for the next change of its workload"]).await;
    refused(rollout_at(&json!({"phase": "Disabled"}), &json!({})), &["somebody to enable it"])
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_jump_names_another_step_than_the_next() {
    let at = |state: &str| rollout_at(&json!({}), &json!({"currentStepState": state}));
    let jump = |step: i64| Some(json!({"nextStepIndex": step}));
    check(
        &at("StepPaused"),
        &["web", "--step=1"],
        "from step 2 of 3 to step 1; Pods that",
        jump(1),
    )
    .await;
    let first = rollout_at(&json!({}), &json!({"currentStepIndex": 1, "nextStepIndex": 2}));
    check(&first, &["web", "--step=3"], "goes from step 1 of 3 to step 3", jump(3)).await;
    check(&at("StepUpgrade"), &["web", "--step=2"], "from step 2 of 3 to step 2", jump(2)).await;
    check(
        &at("StepUpgrade"),
        &["web", "--step=3"],
        "goes on to step 3 by itself after step 2",
        None,
    )
    .await;
    check(&at("StepPaused"), &["web", "--step=9"], "has 3 steps, and 9 is none of them", None)
        .await;
    check(&healthy("True"), &["web", "--step=2"], "not in the midst of a release", None).await;
}

#[tokio::test(start_paused = true)]
async fn a_conflict_is_looked_at_again_and_refused_where_nothing_waits_any_more() {
    let conflict = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
        "code": 409, "reason": "Conflict", "message": "modified", "details": {"name": "web"}});
    let path = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/rollouts/web";
    let waits = rollout_at(&json!({}), &json!({}));
    let mut later = waits.clone();
    later["metadata"]["resourceVersion"] = json!("89");
    let far_side = FarSide::in_steps()
        .with_each(path, &[waits.clone(), later])
        .with_each(&format!("{path}/status"), &[conflict.clone(), waits.clone()]);
    approved(&far_side, &["rollout/web"]).await.unwrap();
    let versions: Vec<Value> =
        far_side.patches().iter().map(|body| body["metadata"]["resourceVersion"].clone()).collect();
    assert_eq!(versions, ["88", "89"]);
    let gone_on = rollout_at(&json!({}), &json!({"currentStepState": "StepUpgrade"}));
    let far_side = FarSide::in_steps()
        .with_each(path, &[waits, gone_on])
        .with_each(&format!("{path}/status"), &[conflict]);
    let words = approved(&far_side, &["rollout/web"]).await.unwrap_err();
    assert!(words.contains("has no step that waits"), "{words}");
}

#[tokio::test(start_paused = true)]
async fn a_rollout_by_percent_has_nothing_to_approve() {
    let words = approved(&FarSide::rolling_out(), &["tester"]).await.unwrap_err();
    assert!(words.contains("statefulsetrollout default/tester has no steps"), "{words}");
    assert!(words.contains("raise spec.percent"), "{words}");
}

#[tokio::test(start_paused = true)]
async fn a_batch_release_of_ones_own_goes_on_by_its_partition() {
    async fn check(release: Value, arguments: &[&str], expect: Result<Value, &str>) {
        let path = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/batchreleases/own";
        let far_side = FarSide::default().with(path, &release);
        let said = approved(&far_side, &[&["batchrelease/own"], arguments].concat()).await;
        match expect {
            Ok(partition) => {
                said.unwrap();
                let written = &far_side.patches()[0]["spec"]["releasePlan"];
                assert_eq!(written, &json!({"batchPartition": partition}));
            }
            Err(says) => assert!(said.as_ref().is_err_and(|it| it.contains(says)), "{said:?}"),
        }
    }
    let with = |path: &str, value: Value| {
        let mut release = release_of_ones_own();
        *release.pointer_mut(path).unwrap() = value;
        release
    };
    check(release_of_ones_own(), &[], Ok(json!(1))).await;
    check(
        with("/status/canaryStatus/batchState", json!("Upgrading")),
        &[],
        Err("1 of 2 is Upgrading"),
    )
    .await;
    let mut last = with("/spec/releasePlan/batchPartition", json!(1));
    last["status"]["canaryStatus"]["currentBatch"] = json!(1);
    check(last, &[], Ok(json!(null))).await;
    check(release_of_ones_own(), &["--step=3"], Err("has 2 batches; give 1 to 2")).await;
}
