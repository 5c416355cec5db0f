//! `StatefulsetRollout`s: what is wrong with one, by its own content and by what the cluster holds.

use api::bedrock::validate::{Capabilities, immutable_changes, validate};
use api::{Finding, Severity};
use cluster::observe::statefulset_rollout::{Candidate, candidate};
use engine::admit::statefulset_rollout::{Admission as Asked, Verdict, admit};
use serde::Deserialize;
use serde_json::Value;

use super::Admission;
use super::answer::{Judgement, demote, denial, is_subresource, words};

/// The kind, in messages.
const KIND: &str = "StatefulsetRollout";

/// Judges one.
pub(super) fn judge(admission: &Admission, request: &Value) -> Judgement {
    let object = &request["object"];
    let capabilities = Capabilities {
        channel: admission.settings.channel_configured,
        callback: admission.settings.callback_configured,
        discovery: false,
    };
    let deleting = object["metadata"]["deletionTimestamp"].is_string();
    if deleting || is_subresource(request) {
        // A finalizer has to come off whatever else is wrong.
        return Judgement::default();
    }
    let mut findings = validate(object, &capabilities);
    let old = &request["oldObject"];
    if old.is_object() {
        let known = validate(old, &capabilities);
        demote(&mut findings, |finding| known.contains(finding));
    }
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    if let Some(message) = denial(KIND, name, &findings) {
        return Judgement::invalid(message);
    }
    match candidate(&admission.attention.caches, object, &admission.settings) {
        Ok(candidate) => weigh(admission, name, request, &candidate, findings),
        Err(why) => {
            findings.retain(|finding| finding.severity == Severity::Warning);
            let mut warnings = words(&findings);
            warnings.push(format!("only the rollout itself was checked: {why}"));
            Judgement::warned(warnings)
        }
    }
}

/// The rollout is sound in itself; now what the cluster has to say.
fn weigh(
    admission: &Admission,
    name: &str,
    request: &Value,
    candidate: &Candidate,
    mut findings: Vec<Finding>,
) -> Judgement {
    let before = api::bedrock::StatefulsetRollout::deserialize(&request["oldObject"])
        .ok()
        .and_then(|old| api::bedrock::engine_rollout(&old).ok())
        .map(|(old, _)| old);
    match admit(&Asked { before }, &candidate.world, admission.clock.now()) {
        Verdict::Allow { warnings } => {
            // Not before: whose set it is comes before how it differs.
            if let (Some(live), Ok(desired)) = (&candidate.live, &candidate.desired) {
                let mut changes = immutable_changes(live, desired.document());
                let asked = |object: &Value| object["spec"]["statefulset"].clone();
                let same = asked(&request["object"]) == asked(&request["oldObject"]);
                demote(&mut changes, |_| same);
                findings.extend(changes);
            }
            if let Some(message) = denial(KIND, name, &findings) {
                return Judgement::invalid(message);
            }
            let mut all = words(&findings);
            all.extend(warnings);
            Judgement::warned(all)
        }
        Verdict::Deny { field, message } => {
            Judgement::invalid(format!("{KIND} {name} is invalid: {field}: {message}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::admission::{STATEFULSET_ROLLOUTS, fixture::admission};

    /// A rollout whose template does not bear the label that its selector asks for.
    fn rollout(label: &str, paused: bool) -> Value {
        json!({
            "apiVersion": "bedrock.operator.slack.com/v1",
            "kind": "StatefulsetRollout",
            "metadata": {"name": "web", "namespace": "default", "uid": "u"},
            "spec": {"pauseRequested": paused, "statefulset": {"spec": {
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": label}},
                    "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
                },
            }}},
        })
    }

    fn answer(object: &Value, old: &Value) -> Value {
        let request = json!({"uid": "1", "object": object, "oldObject": old});
        let review = json!({"request": request});
        admission().answer(STATEFULSET_ROLLOUTS, &review).unwrap()["response"].clone()
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_wrong_is_refused_with_its_field() {
        let refused = answer(&rollout("other", false), &Value::Null);
        assert_eq!(refused["allowed"], false);
        let message = refused["status"]["message"].as_str().unwrap_or_default();
        assert!(
            message.contains("StatefulsetRollout web is invalid: spec.statefulset"),
            "{message}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_wrong_before_does_not_keep_anybody_from_pausing() {
        let paused = answer(&rollout("other", true), &rollout("other", false));
        assert_eq!(paused["allowed"], true);
        let refused = answer(&rollout("other", true), &rollout("web", false));
        assert_eq!(refused["allowed"], false);
    }

    #[tokio::test(start_paused = true)]
    async fn without_caches_everything_sound_is_let_in_and_that_is_said() {
        let allowed = answer(&rollout("web", false), &Value::Null);
        assert_eq!(allowed["allowed"], true);
        assert!(allowed["warnings"].to_string().contains("only the rollout itself was checked"));
    }
}
