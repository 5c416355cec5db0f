//! Undo of a Rollout.

use serde_json::{Value, json};

use super::super::*;
use crate::far_side::embedded::{embedded, path, release, rollout, workload};
use crate::far_side::web::{deployment_done, healthy, rollout_at};
use crate::far_side::{FarSide, Paper, flags};
use crate::session::Session;

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
    assert!(text.starts_with("Absent") && text.contains("no revision 7; there are 2, 1"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_disabled_rollout_is_told_to_hold_nothing() {
    let disabled = rollout_at(&json!({"phase": "Disabled"}), &json!({}));
    let far_side = FarSide::in_steps_with(&disabled, &deployment_done());
    let text = undone(&far_side, &["web", "--dry-run"]).await;
    assert!(text.contains("would roll back") && text.contains("the Rollout is disabled"), "{text}");
    assert_eq!(far_side.patches().len(), 0);
}

/// What `kubectl kruise rollout undo` sends for a workload: its own reading of the revision of v1.
async fn theirs(session: &Session, kind: &str) {
    let workload = format!("{}/web", path(kind));
    let keeper = if kind == "Deployment" { "replicasets" } else { "controllerrevisions" };
    let kept = format!("/apis/apps/v1/namespaces/default/{keeper}");
    let kept = session.list(&kept, keeper).await.unwrap();
    let is_first = |one: &&Value| {
        one["revision"] == 1
            || one["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "1"
    };
    let first = kept.iter().find(is_first).unwrap();
    if kind == "Deployment" {
        let mut template = first["spec"]["template"].clone();
        template["metadata"]["labels"].as_object_mut().unwrap().remove("pod-template-hash");
        let patch = json!([{"op": "replace", "path": "/spec/template", "value": template}]);
        session.patch(&workload, &patch, "workload").await.unwrap();
        return;
    }
    let request = http::Request::patch(&workload)
        .header("content-type", "application/strategic-merge-patch+json")
        .body(first["data"].to_string().into_bytes())
        .unwrap();
    session.client().request::<Value>(request).await.unwrap();
}

async fn check(kind: &str) {
    let mut templates = Vec::new();
    for ours in [true, false] {
        let session = embedded().await;
        workload(&session, kind).await;
        let workload = format!("{}/web", path(kind));
        let before = session.get(&workload, "web").await.unwrap();
        release(&session, kind, "web:v2").await;
        rollout(&session, kind, &json!({}), &json!({"stableRevision": ""})).await;
        if ours {
            undo(&session, &flags(&["rollout/web"]), &mut Out::nowhere()).await.unwrap();
        } else {
            theirs(&session, kind).await;
        }
        let after = session.get(&workload, "web").await.unwrap();
        assert_eq!(after["spec"]["template"], before["spec"]["template"], "{kind}");
        // As a whole `kubectl kruise` would take it away from a Deployment.
        assert!(crate::facts::workload::is_marked(&after), "{kind}");
        templates.push(after["spec"].clone());
    }
    assert_eq!(templates[0], templates[1], "{kind}");
}

#[tokio::test(start_paused = true)]
async fn each_kind_is_given_back_the_template_that_kubectl_kruise_gives_back() {
    for kind in ["Deployment", "StatefulSet", "DaemonSet"] {
        check(kind).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_status_write_in_between_is_looked_past() {
    let conflict = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
        "code": 409, "reason": "Conflict", "message": "modified", "details": {"name": "web"}});
    let seen = crate::far_side::web::deployment("v2");
    let mut later = seen.clone();
    later["metadata"]["resourceVersion"] = json!("100");
    let path = "/apis/apps/v1/namespaces/default/deployments/web";
    let far_side = FarSide::in_steps().with_each(path, &[seen, conflict, later]);
    let text = undone(&far_side, &["rollout/web"]).await;
    assert!(text.contains("rolls back from v2"), "{text}");
    let versions: Vec<Value> =
        far_side.patches().iter().map(|patch| patch[0]["value"].clone()).collect();
    assert_eq!(versions, ["99", "100"]);
}
