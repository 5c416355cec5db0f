mod steps;

use serde_json::{Value, json};

use super::*;
use crate::far_side::{FarSide, Paper, flags, rollout};

const PATH: &str =
    "/apis/bedrock.operator.slack.com/v1/namespaces/default/statefulsetrollouts/tester";

fn at(phase: &str, observed: i64) -> Value {
    let mut object = rollout();
    object["status"]["phase"] = json!(phase);
    object["status"]["observedGeneration"] = json!(observed);
    object["status"]["conditions"] = json!([]);
    object
}

fn blocked(reason: &str) -> Value {
    let mut object = at("RolloutInProgress", 3);
    object["status"]["conditions"] = json!([
        {"type": "Blocked", "status": "True", "reason": reason, "message": "words"}]);
    object
}

/// Waits while the rollout goes through these states; answers with code and output.
async fn waited(arguments: &[&str], states: &[Value]) -> (u8, String) {
    let paper = Paper::default();
    let session = FarSide::default().with_each(PATH, states).session();
    let arguments = [&["tester"], arguments].concat();
    let outcome = wait(&session, &flags(&arguments), &mut Out::to(paper.clone())).await;
    let exit = outcome.unwrap_or_else(|failure| failure.exit());
    (exit.code(), paper.text())
}

#[tokio::test(start_paused = true)]
async fn an_old_done_is_waited_out() {
    let states = [at("RolloutDone", 2), at("RolloutInProgress", 3), at("RolloutDone", 3)];
    let (code, text) = waited(&[], &states).await;
    assert_eq!(code, 0);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains("see generation 3 (its status speaks of 2)"), "{text}");
    assert!(lines[1].contains("RolloutInProgress") && lines[2].contains("RolloutDone"), "{text}");
    assert_eq!(lines.len(), 4, "{text}");
}

#[tokio::test(start_paused = true)]
async fn each_end_has_its_code() {
    async fn check(arguments: &[&str], state: Value, code: u8) {
        let (found, text) = waited(arguments, std::slice::from_ref(&state)).await;
        assert_eq!(found, code, "{arguments:?} {}: {text}", state["status"]["phase"]);
    }
    check(&[], at("RolloutDone", 3), 0).await;
    check(&[], at("RolloutFailed", 3), 1).await;
    check(&[], blocked("BudgetNeverAllows"), 3).await;
    check(&[], blocked("BudgetExhausted"), 3).await;
    check(&["--timeout=10m", "--keep-waiting"], blocked("BudgetNeverAllows"), 3).await;
    check(&["--timeout=3s"], at("RolloutInProgress", 3), 4).await;
    check(&["--timeout=3s"], at("RolloutDone", 2), 4).await;
    check(&["--timeout=3s"], at("RolloutPaused", 3), 4).await;
    check(&["--for=paused"], at("RolloutPaused", 3), 0).await;
    check(&["--for=paused", "--for=done"], at("RolloutDone", 3), 0).await;
    check(&[], Value::Null, 5).await;
}

#[tokio::test(start_paused = true)]
async fn a_block_that_passes_in_time_does_not_end_the_wait() {
    let mut states = vec![blocked("BudgetExhausted"); 20];
    states.push(at("RolloutDone", 3));
    assert_eq!(waited(&[], &states).await.0, 0);
    assert_eq!(waited(&["--blocked-after=1s"], &states).await.0, 3);
}

#[tokio::test(start_paused = true)]
async fn a_rollout_that_is_deleted_meanwhile_is_not_found() {
    assert_eq!(waited(&[], &[at("RolloutInProgress", 3), Value::Null]).await.0, 5);
}

#[tokio::test(start_paused = true)]
async fn the_end_is_one_json_document() {
    let (_, text) =
        waited(&["-o", "json"], &[at("RolloutInProgress", 3), at("RolloutDone", 3)]).await;
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&value["result"], &value["exitCode"]), (&json!("reached"), &json!(0)));
}
