//! The writes of the verbs on a Rollout, each beside what `kubectl kruise` sends for the same verb.
//!
//! | verb | `kubectl kruise …` sends | here |
//! | --- | --- | --- |
//! | approve | merge patch of the Rollout's `/status`: `currentStepState` | the same, under the resourceVersion that was read |
//! | pause | merge patch of the Rollout: `strategy.paused: true` | the same |
//! | resume | merge patch of the Rollout: `strategy.paused: null` | `false`, which means the same |
//! | undo, a Deployment | JSON patch of `/spec/template` and `/metadata/annotations`, the latter as its ReplicaSet has them | the template alone: the annotations are the release's |
//! | undo, others | strategic merge patch with the data of the ControllerRevision: its template, whole | the same template as a JSON patch |
//! | restart | strategic merge patch of the template's annotation `kubectl.kubernetes.io/restartedAt` | the same as a merge patch |
//!
//! `describe`, `status` and `history` write nothing. `kubectl kruise` refuses to undo or restart a
//! Deployment that a release has paused; here it is what a release is told by.

use api::batches::names::PAUSED;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::exit::Failure;
use crate::facts::kind;
use crate::facts::workload::Workload;
use crate::find::Found;
use crate::session::Session;

/// One write.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Write {
    how: How,
    path: String,
    /// What errors call the object.
    title: String,
    body: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Merge,
    Json,
}

impl Write {
    /// Sends it; answers with the object as it is then.
    pub(crate) async fn send(&self, session: &Session) -> Result<Value, Failure> {
        match self.how {
            How::Merge => session.merge(&self.path, &self.body, &self.title).await,
            How::Json => session.patch(&self.path, &self.body, &self.title).await,
        }
    }
}

/// A merge patch of a rollout, whichever it is.
pub(crate) fn merge(found: &Found, body: Value) -> Write {
    Write { how: How::Merge, path: found.path(), title: found.title(), body }
}

/// A JSON patch of a rollout, refused if somebody has changed it since.
pub(crate) fn replace(found: &Found, fields: &[(&str, Value)]) -> Write {
    let body = under(found.version(), fields);
    Write { how: How::Json, path: found.path(), title: found.title(), body }
}

/// Goes on from a step that waits.
pub(crate) fn approve(found: &Found) -> Write {
    status(found, &json!({"currentStepState": "StepReady"}))
}

/// Goes on with another step than the next.
pub(crate) fn jump(found: &Found, step: i64) -> Write {
    status(found, &json!({"nextStepIndex": step}))
}

fn status(found: &Found, canary: &Value) -> Write {
    let body = json!({
        // What has gone on since is not approved unseen.
        "metadata": {"resourceVersion": found.version()},
        "status": {"canaryStatus": canary},
    });
    Write { how: How::Merge, path: format!("{}/status", found.path()), title: found.title(), body }
}

/// Has the Rollout stand still, or go on.
pub(crate) fn pause(found: &Found, paused: bool) -> Write {
    merge(found, json!({"spec": {"strategy": {"paused": paused}}}))
}

/// Has a BatchRelease of one's own stand still, or go on.
pub(crate) fn hold(found: &Found, held: bool) -> Write {
    // A string, as annotations are; none is the same as one that says nothing.
    let value = if held { json!("true") } else { Value::Null };
    merge(found, json!({"metadata": {"annotations": {PAUSED: value}}}))
}

/// Whether a BatchRelease of one's own is told to stand still.
pub(crate) fn is_held(found: &Found) -> bool {
    found.raw["metadata"]["annotations"][PAUSED] == "true"
}

/// Has another template in the workload.
pub(crate) fn template(workload: &Workload, template: &Value) -> Write {
    let version = workload.raw["metadata"]["resourceVersion"].as_str().unwrap_or_default();
    Write {
        how: How::Json,
        path: kind::path_of(workload.kind, &workload.raw),
        title: workload.title(),
        body: under(version, &[("/spec/template", template.clone())]),
    }
}

/// Has every Pod of the workload made anew.
pub(crate) fn restart(workload: &Workload, now: Timestamp) -> Write {
    let template = restarted(now);
    Write {
        how: How::Merge,
        path: kind::path_of(workload.kind, &workload.raw),
        title: workload.title(),
        body: json!({"spec": {"template": template}}),
    }
}

/// What is merged into a template to make it another one.
pub(crate) fn restarted(now: Timestamp) -> Value {
    let now = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    json!({"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": now}}})
}

fn under(version: &str, fields: &[(&str, Value)]) -> Value {
    let guard = json!({"op": "replace", "path": "/metadata/resourceVersion", "value": version});
    let fields =
        fields.iter().map(|(path, value)| json!({"op": "add", "path": path, "value": value}));
    Value::Array(std::iter::once(guard).chain(fields).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::far_side::embedded::{embedded, rollout};
    use crate::find::find;
    use crate::name::object;

    const PATH: &str = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/rollouts/web";

    /// The Rollout after our write, and after that of `kubectl kruise`.
    async fn check(ours: impl Fn(&Found) -> Write, path: &str, theirs: &Value, paused: bool) {
        let mut left = Vec::new();
        for own in [true, false] {
            let session = embedded().await;
            rollout(&session, "Deployment", &json!({}), &json!({})).await;
            if paused {
                let body = json!({"spec": {"strategy": {"paused": true}}});
                session.merge(PATH, &body, "rollout").await.unwrap();
            }
            if own {
                let found = find(&session, &object("rollout/web").unwrap()).await.unwrap();
                ours(&found).send(&session).await.unwrap();
            } else {
                session.merge(path, theirs, "rollout").await.unwrap();
            }
            let seen = session.get(PATH, "rollout").await.unwrap();
            let mut spec = seen["spec"].clone();
            if spec["strategy"]["paused"] == false {
                spec["strategy"].as_object_mut().unwrap().remove("paused");
            }
            left.push((spec, seen["status"].clone()));
        }
        assert_eq!(left[0], left[1], "{theirs}");
    }

    #[tokio::test(start_paused = true)]
    async fn each_verb_leaves_what_kubectl_kruise_leaves() {
        let status = format!("{PATH}/status");
        let ready = json!({"status": {"canaryStatus": {"currentStepState": "StepReady"}}});
        check(approve, &status, &ready, false).await;
        let paused = json!({"spec": {"strategy": {"paused": true}}});
        check(|found| pause(found, true), PATH, &paused, false).await;
        let resumed = json!({"spec": {"strategy": {"paused": null}}});
        check(|found| pause(found, false), PATH, &resumed, true).await;
    }
}
