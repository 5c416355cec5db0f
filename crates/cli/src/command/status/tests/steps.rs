//! Waits for a Rollout.

use super::*;
use crate::far_side::web::{deployment, deployment_done, healthy, rollout_at};

const PATH: &str = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/rollouts/web";
const WORKLOAD: &str = "/apis/apps/v1/namespaces/default/deployments/web";

/// Rollout and Deployment at each look; answers with code and output.
async fn waited(arguments: &[&str], looks: &[(Value, Value)]) -> (u8, String) {
    let (rollouts, deployments): (Vec<Value>, Vec<Value>) = looks.iter().cloned().unzip();
    // It is found first, and that look counts.
    let far_side = FarSide::in_steps().with_each(PATH, &rollouts).with_each(WORKLOAD, &deployments);
    let paper = Paper::default();
    let out = &mut Out::to(paper.clone());
    let arguments = [&["rollout/web"], arguments].concat();
    let outcome = wait(&far_side.session(), &flags(&arguments), out).await;
    let exit = outcome.unwrap_or_else(|failure| failure.exit());
    (exit.code(), paper.text())
}

fn at(state: &str) -> (Value, Value) {
    (rollout_at(&json!({}), &json!({"currentStepState": state})), deployment("v2"))
}

fn done(succeeded: &str) -> (Value, Value) {
    (healthy(succeeded), deployment_done())
}

#[tokio::test(start_paused = true)]
async fn each_end_has_its_code() {
    async fn check(arguments: &[&str], look: (Value, Value), code: u8) {
        let (found, text) = waited(arguments, std::slice::from_ref(&look)).await;
        assert_eq!(found, code, "{arguments:?} {}: {text}", look.0["status"]);
    }
    check(&[], done("True"), 0).await;
    check(&["--timeout=3s"], at("StepUpgrade"), 4).await;
    check(&["--timeout=3s"], at("StepPaused"), 4).await;
    check(&["--for=paused"], at("StepPaused"), 0).await;
    check(&["--for=paused"], done("True"), 3).await;
    check(&["--for=step=2"], at("StepPaused"), 0).await;
    check(&["--for=step=2", "--timeout=3s"], at("StepUpgrade"), 4).await;
    check(&["--for=step=1"], at("StepUpgrade"), 0).await;
    check(&["--for=percent=60"], at("StepPaused"), 0).await;
    check(&["--for=percent=61", "--timeout=3s"], at("StepPaused"), 4).await;
    let disabled = rollout_at(&json!({"phase": "Disabled"}), &json!({}));
    check(&[], (disabled, deployment_done()), 3).await;
    let blocked = rollout_at(
        &json!({"conditions": [{"type": "Blocked", "status": "True",
            "reason": "NotServed", "message": "traffic routing is not served"}]}),
        &json!({}),
    );
    check(&[], (blocked, deployment("v2")), 3).await;
    // What holds the Pods of its step: at once where only a person can lift it.
    let held = |reason: &str| {
        let blocked = json!({"type": "Blocked", "status": "True", "reason": reason,
            "message": "PodDisruptionBudget default/web"});
        let rollout = rollout_at(
            &json!({"conditions": [blocked]}),
            &json!({"currentStepState": "StepUpgrade"}),
        );
        (rollout, deployment("v2"))
    };
    check(&["--timeout=20s"], held("BudgetNeverAllows"), 3).await;
    check(&["--keep-waiting", "--timeout=20s"], held("BudgetExhausted"), 3).await;
    check(&["--for=step=1"], held("BudgetExhausted"), 0).await;
    check(&[], (Value::Null, Value::Null), 5).await;
}

#[tokio::test(start_paused = true)]
async fn an_old_end_is_waited_out_whether_the_change_is_held_or_not_seen() {
    let held = (healthy("True"), deployment("v2"));
    let mut unseen = done("True");
    unseen.1["metadata"]["generation"] = json!(3);
    let mut slipped = done("True");
    slipped.1["status"]["updatedReplicas"] = json!(1);
    let mut unready = done("True");
    unready.1["status"]["readyReplicas"] = json!(4);
    for first in [held, unseen, slipped, unready] {
        let (code, text) = waited(&["--timeout=3s"], &[first.clone(), first.clone()]).await;
        assert_eq!(code, 4, "{text}");
        let looks = [first.clone(), first, at("StepUpgrade"), done("True")];
        assert_eq!(waited(&[], &looks).await.0, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_release_that_is_rolled_back_meanwhile_has_failed() {
    let looks = [at("StepUpgrade"), at("StepUpgrade"), done("False")];
    assert_eq!(waited(&[], &looks).await.0, 1);
    // Who rolls back and waits then waits for just that, though the first status is of before it.
    let mut told = at("StepPaused");
    told.1["metadata"]["generation"] = json!(3);
    told.1["status"]["observedGeneration"] = json!(3);
    assert_eq!(waited(&[], &[told.clone(), told, done("False")]).await.0, 0);
    assert_eq!(waited(&[], &[done("False")]).await.0, 0);
}

#[tokio::test(start_paused = true)]
async fn a_rollout_by_percent_has_no_steps_to_wait_for() {
    let paper = Paper::default();
    let session = FarSide::rolling_out().session();
    let out = &mut Out::to(paper.clone());
    let failure = wait(&session, &flags(&["tester", "--for=step=1"]), out).await.unwrap_err();
    assert_eq!(failure.exit().code(), 2, "{failure}");
}

#[tokio::test(start_paused = true)]
async fn a_write_of_the_operator_s_own_is_no_word_worth() {
    let mut moment = at("StepUpgrade");
    moment.1["metadata"]["generation"] = json!(3);
    let looks = |times: usize| {
        let mut looks = vec![at("StepUpgrade"); 2];
        looks.extend(vec![moment.clone(); times]);
        looks.push(done("True"));
        looks
    };
    let (_, text) = waited(&[], &looks(2)).await;
    assert!(!text.contains("waiting for the operator"), "{text}");
    let (_, text) = waited(&[], &looks(12)).await;
    let says = "waiting for the operator to see the last change of deployment/web";
    assert_eq!(text.matches(says).count(), 1, "{text}");
}

#[tokio::test(start_paused = true)]
async fn the_end_is_one_json_document_and_no_field_is_in_it_twice() {
    let (_, text) = waited(&["-o", "json"], &[done("True")]).await;
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&value["result"], &value["kind"]), (&json!("reached"), &json!("Rollout")));
    let fields = value.as_object().unwrap().len();
    let lines = text.lines().filter(|line| line.starts_with("  \"")).count();
    assert_eq!(lines, fields, "{text}");
}
