//! AdmissionReview: the question and the answer.

use std::sync::Arc;

use base64::Engine as _;

use super::{Hook, shown};
use crate::authorization::User;
use crate::error::{ApiError, Cause};
use crate::json::{Value, json};
use crate::kind::Kind;
use crate::object::{self, Object};
use crate::server::options::WriteOptions;
use crate::server::write::Attempt;

/// What is being admitted.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Kind in the version of the request.
    pub kind: Arc<Kind>,
    /// Empty for cluster-scoped kinds.
    pub namespace: String,
    /// Object name.
    pub name: String,
    /// Empty for the object itself.
    pub subresource: String,
    /// `CREATE`, `UPDATE`, `DELETE` or `CONNECT`.
    pub operation: &'static str,
    /// New content, `null` for a delete.
    pub object: Value,
    /// Old content, `null` for a create.
    pub old_object: Value,
    /// Nothing will be stored.
    pub dry_run: bool,
    /// Who writes.
    pub user: User,
}

impl Subject {
    /// A write of an object; `before` is what is stored, in the version of the request.
    pub fn of(attempt: &Attempt, before: Option<&Object>, options: &WriteOptions) -> Self {
        Self {
            kind: attempt.kind.clone(),
            namespace: attempt.key.namespace.clone(),
            name: attempt.key.name.clone(),
            subresource: attempt.part.as_str().to_owned(),
            operation: if attempt.before.is_some() { "UPDATE" } else { "CREATE" },
            object: attempt.after.clone(),
            old_object: shown(before),
            dry_run: options.dry_run,
            user: options.user.clone(),
        }
    }
}

/// The question. `shown` is the subject in the version of the webhook.
pub(super) fn request(subject: &Subject, shown: &Subject, hook: &str) -> Value {
    let kind = &subject.kind;
    let eviction = subject.subresource == "eviction";
    let kind_of = |kind: &Kind| {
        if eviction {
            return json!({"group": "policy", "version": "v1", "kind": "Eviction"});
        }
        json!({"group": kind.group, "version": kind.version, "kind": kind.kind})
    };
    let resource_of = |kind: &Kind| json!({"group": kind.group, "version": kind.version, "resource": kind.plural});
    let mut request = json!({
        "uid": question_uid(subject, hook),
        "kind": kind_of(&shown.kind),
        "resource": resource_of(&shown.kind),
        "requestKind": kind_of(kind),
        "requestResource": resource_of(kind),
        "name": subject.name,
        "operation": subject.operation,
        "userInfo": user_info(&subject.user),
        "object": shown.object,
        "oldObject": shown.old_object,
        "dryRun": subject.dry_run,
        "options": null,
    });
    if kind.namespaced {
        request["namespace"] = json!(subject.namespace);
    }
    if !subject.subresource.is_empty() {
        request["subResource"] = json!(subject.subresource);
        request["requestSubResource"] = json!(subject.subresource);
    }
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request})
}

/// A user as reviews show him.
pub(crate) fn user_info(user: &User) -> Value {
    let mut out = json!({"username": user.name, "groups": user.groups});
    if !user.uid.is_empty() {
        out["uid"] = json!(user.uid);
    }
    if !user.extra.is_empty() {
        out["extra"] = json!(user.extra);
    }
    out
}

/// A UID that is the same when the same history asks the same question.
fn question_uid(subject: &Subject, hook: &str) -> String {
    let version = object::resource_version(&subject.old_object);
    let parts = [hook, &subject.namespace, &subject.name, object::uid(&subject.object), version];
    let hash = parts
        .iter()
        .flat_map(|part| part.bytes().chain([0]))
        .fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |hash, b| {
            (hash ^ u128::from(b)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
        });
    crate::server::meta::new_uid(&mut fastrand::Rng::with_seed(hash as u64 ^ (hash >> 64) as u64))
}

/// Reads the answer: refused, allowed, or allowed with a patch.
pub(super) fn response(
    hook: &Hook,
    subject: &Subject,
    answer: &Value,
    warnings: &mut Vec<String>,
) -> Result<Option<Value>, ApiError> {
    let response = &answer["response"];
    let Some(allowed) = response["allowed"].as_bool() else {
        let why = "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview";
        return if hook.ignores_failure { Ok(None) } else { Err(failed(&hook.name, why)) };
    };
    let said = response["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
    warnings.extend(said.map(str::to_owned));
    if !allowed {
        return Err(denied(&hook.name, &response["status"]));
    }
    let Some(patch) = response["patch"].as_str().filter(|_| hook.mutating) else {
        return Ok(None);
    };
    let broken = |why: String| failed(&hook.name, &why);
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(patch)
        .map_err(|error| broken(error.to_string()))?;
    let patch: Value = serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))?;
    crate::patch::json::apply(&subject.object, &patch)
        .map(Some)
        .map_err(|error| broken(error.to_string()))
}

fn denied(hook: &str, status: &Value) -> ApiError {
    let deny = format!("admission webhook \"{hook}\" denied the request");
    let text = |field: &str| status[field].as_str().filter(|text| !text.is_empty());
    let message = match (text("message"), text("reason")) {
        (Some(message), _) => format!("{deny}: {message}"),
        (None, Some(reason)) => format!("{deny}: {reason}"),
        (None, None) => format!("{deny} without explanation"),
    };
    // A refusal never comes with a code that says otherwise.
    let code = status["code"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or(0);
    let code = if code < 400 { 400 } else { code };
    let mut error = ApiError::new(code, text("reason").unwrap_or_default(), message);
    if let Some(details) = status.get("details").filter(|details| details.is_object()) {
        error = error.with_details(details.clone());
    }
    error
}

/// 500: the webhook itself did not work.
pub(super) fn failed(hook: &str, why: &str) -> ApiError {
    let text = format!("failed calling webhook \"{hook}\": failed to call webhook: {why}");
    ApiError::new(500, "InternalError", format!("Internal error occurred: {text}"))
        .with_causes(vec![Cause::new("", text, "")])
}
