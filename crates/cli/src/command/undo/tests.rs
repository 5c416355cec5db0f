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

mod steps {
    use serde_json::{Value, json};

    use super::super::*;
    use crate::far_side::embedded::{embedded, path, release, rollout, workload};
    use crate::far_side::web::{deployment_done, healthy, rollout_at};
    use crate::far_side::{FarSide, Paper, flags};

    async fn undone(far_side: &FarSide, arguments: &[&str]) -> String {
        let paper = Paper::default();
        let out = &mut Out::to(paper.clone());
        match undo(&far_side.session(), &flags(arguments), out).await {
            Ok(_) => paper.text(),
            Err(failure) => format!("{:?}: {failure}", failure.exit()),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn in_mid_release_the_stable_template_comes_back_in_the_workload_at_once() {
        let far_side = FarSide::in_steps();
        let text = undone(&far_side, &["web"]).await;
        assert_eq!(
            text,
            "rollout default/web rolls back from v2 to revision 1 (v1, web:v1) at once; 3 of 5 Pods move\n"
        );
        assert_eq!(far_side.patched(), ["/apis/apps/v1/namespaces/default/deployments/web"]);
        let patch = &far_side.patches()[0];
        assert_eq!(patch[0]["value"], "99");
        let template = json!({
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "a", "image": "web:v1"}]},
        });
        assert_eq!(patch[1], json!({"op": "add", "path": "/spec/template", "value": template}));
        assert_eq!(patch.as_array().unwrap().len(), 2, "nothing else of the Deployment is touched");
    }

    #[tokio::test(start_paused = true)]
    async fn afterwards_an_earlier_revision_goes_through_the_steps() {
        let far_side = FarSide::in_steps_with(&healthy("True"), &deployment_done());
        let text = undone(&far_side, &["web"]).await;
        assert!(text.contains("revision 1 (v1, web:v1) through the steps"), "{text}");
        let text = undone(&far_side, &["web", "--to-revision=2"]).await;
        assert!(text.contains("deployment default/web asks for revision 2 already"), "{text}");
        let text = undone(&far_side, &["web", "--to-revision=7"]).await;
        assert!(
            text.starts_with("Absent") && text.contains("no revision 7; there are 2, 1"),
            "{text}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_disabled_rollout_is_told_to_hold_nothing() {
        let disabled = rollout_at(&json!({"phase": "Disabled"}), &json!({}));
        let far_side = FarSide::in_steps_with(&disabled, &deployment_done());
        let text = undone(&far_side, &["web", "--dry-run"]).await;
        assert!(
            text.contains("would roll back") && text.contains("the Rollout is disabled"),
            "{text}"
        );
        assert_eq!(far_side.patches().len(), 0);
    }

    async fn check(kind: &str) {
        let session = embedded().await;
        workload(&session, kind).await;
        let before = session.get(&format!("{}/web", path(kind)), "web").await.unwrap();
        let seen = release(&session, kind, "web:v2").await;
        rollout(&session, kind, &json!({}), &json!({"stableRevision": ""})).await;
        let out = &mut Out::nowhere();
        undo(&session, &flags(&["rollout/web"]), out).await.unwrap();
        let after = session.get(&format!("{}/web", path(kind)), "web").await.unwrap();
        let template = |object: &Value| object["spec"]["template"].clone();
        assert_eq!(template(&after), template(&before), "{kind}");
        assert_ne!(template(&after), template(&seen), "{kind}");
        // `kubectl kruise` would take it away from a Deployment.
        assert!(crate::facts::workload::is_marked(&after), "{kind}");
    }

    #[tokio::test(start_paused = true)]
    async fn each_kind_is_given_back_the_very_template_that_it_had() {
        for kind in ["Deployment", "StatefulSet", "DaemonSet"] {
            check(kind).await;
        }
    }
}
