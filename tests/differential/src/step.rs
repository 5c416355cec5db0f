//! What a sequence is made of: requests, rests, and marks for watches.

use std::fmt;

use serde_json::{Value, json};

/// One step on both clusters.
///
/// Paths and bodies may hold `$ns` (the sequence's namespace), `$uid(PATH)` and `$rv(PATH)` (of the
/// object or list at that path, on the side that is asked), `$mark` and `$continue` (below).
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A request whose answers are compared.
    Call {
        /// GET, POST, PUT, PATCH or DELETE.
        method: &'static str,
        /// With the query.
        path: String,
        /// Empty for none.
        content_type: &'static str,
        /// `null` for none; a text is sent as it stands.
        body: Value,
    },
    /// A request of which only the status is compared: what makes the stage, not the play.
    Quiet(Box<Step>),
    /// Waits until both are quiet and compares everything in the namespace.
    Rest,
    /// Keeps the resourceVersion of this list for `$mark`.
    Mark(String),
    /// Waits until a field has a value on both (`null` for none), at most so many seconds. The
    /// embedded cluster's clock goes as far as it takes.
    Until(String, &'static str, Value, u32),
}

const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
/// Server-side apply; JSON is YAML.
const APPLY: &str = "application/apply-patch+yaml";

/// A GET.
pub fn get(path: impl Into<String>) -> Step {
    Step::Call { method: "GET", path: path.into(), content_type: "", body: Value::Null }
}

/// A POST.
pub fn post(path: impl Into<String>, body: Value) -> Step {
    Step::Call { method: "POST", path: path.into(), content_type: "application/json", body }
}

/// A PUT.
pub fn put(path: impl Into<String>, body: Value) -> Step {
    Step::Call { method: "PUT", path: path.into(), content_type: "application/json", body }
}

/// A JSON merge patch.
pub fn merge(path: impl Into<String>, body: Value) -> Step {
    Step::Call { method: "PATCH", path: path.into(), content_type: MERGE, body }
}

/// A strategic merge patch.
pub fn strategic(path: impl Into<String>, body: Value) -> Step {
    Step::Call { method: "PATCH", path: path.into(), content_type: STRATEGIC, body }
}

/// A JSON patch.
pub fn json_patch(path: impl Into<String>, body: Value) -> Step {
    Step::Call { method: "PATCH", path: path.into(), content_type: JSON_PATCH, body }
}

/// A server-side apply of a field manager.
pub fn apply(path: &str, manager: &str, force: bool, body: Value) -> Step {
    let path = format!("{path}?fieldManager={manager}&force={force}");
    Step::Call { method: "PATCH", path, content_type: APPLY, body }
}

/// A DELETE without options.
pub fn delete(path: impl Into<String>) -> Step {
    delete_with(path, Value::Null)
}

/// A DELETE with `DeleteOptions`.
pub fn delete_with(path: impl Into<String>, body: Value) -> Step {
    Step::Call { method: "DELETE", path: path.into(), content_type: "application/json", body }
}

/// An eviction of a Pod of the namespace, with `DeleteOptions` or `null`.
pub fn evict(pod: &str, options: Value) -> Step {
    let mut body = json!({
        "apiVersion": "policy/v1", "kind": "Eviction",
        "metadata": {"name": pod, "namespace": "$ns"},
    });
    if !options.is_null() {
        body["deleteOptions"] = options;
    }
    post(format!("/api/v1/namespaces/$ns/pods/{pod}/eviction"), body)
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call { method, path, content_type, body } => {
                write!(f, "{method} {path}")?;
                if let Some((_, kind)) = content_type.split_once('/').filter(|c| c.1 != "json") {
                    write!(f, " ({kind})")?;
                }
                if body.is_null() { Ok(()) } else { write!(f, " {body}") }
            }
            Self::Quiet(step) => write!(f, "quietly {step}"),
            Self::Rest => f.write_str("rest"),
            Self::Mark(path) => write!(f, "mark {path}"),
            Self::Until(path, pointer, value, seconds) => {
                write!(f, "until {path} {pointer} is {value}, within {seconds} s")
            }
        }
    }
}
