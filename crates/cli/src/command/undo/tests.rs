mod steps;

use super::*;
use crate::far_side::{FarSide, Paper, flags};

async fn undone(arguments: &[&str]) -> (Result<Exit, String>, String, FarSide) {
    let (paper, far_side) = (Paper::default(), FarSide::rolling_out());
    let flags = flags(arguments);
    let outcome = undo(&far_side.session(), &flags, &mut Out::to(paper.clone())).await;
    (outcome.map_err(|failure| format!("{:?} {failure}", failure.exit())), paper.text(), far_side)
}

#[tokio::test(start_paused = true)]
async fn the_template_before_this_rollout_comes_back_at_all_pods() {
    let (outcome, text, far_side) = undone(&["tester"]).await;
    assert_eq!(outcome, Ok(Exit::Done));
    assert_eq!(
        text,
        "statefulsetrollout default/tester rolls back from v2 to revision 1 (v1, tester:v1) at 100%; \
         3 of 4 Pods move\n"
    );
    let patches = far_side.patches();
    assert_eq!(patches.len(), 1);
    assert_eq!(
        patches[0][0]["value"], "77",
        "the version that was read is the one that is changed"
    );
    let template = &patches[0][1]["value"];
    assert_eq!(template["spec"]["containers"][0]["image"], "tester:v1");
    assert!(
        template.get("$patch").is_none() && template["metadata"].get("creationTimestamp").is_none()
    );
    assert_eq!(patches[0][2]["value"], 100);
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_writes_nothing() {
    let (outcome, text, far_side) = undone(&["tester", "--dry-run"]).await;
    assert_eq!(outcome, Ok(Exit::Done));
    assert!(text.contains("would roll back"), "{text}");
    assert_eq!(far_side.patches().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_revision_that_is_not_there_is_not_found() {
    let (outcome, _, far_side) = undone(&["tester", "--to-revision=9"]).await;
    let words = outcome.unwrap_err();
    assert!(
        words.starts_with("Absent") && words.contains("no revision 9; there are 2, 1"),
        "{words}"
    );
    assert_eq!(far_side.patches().len(), 0);
}
