//! `/binding`: a Pod is put on a Node by whoever asks for it, be it a scheduler or not.

use jiff::Timestamp;

use super::Inner;
use crate::behaviour::pod;
use crate::error::{ApiError, Cause};
use crate::eviction::missing;
use crate::json::Value;
use crate::object::{self, Key, PODS};
use crate::server::options::WriteOptions;
use crate::server::part::Part;

impl Inner {
    /// POST of a Binding.
    pub fn bind(
        &mut self,
        key: &Key,
        binding: &Value,
        options: &WriteOptions,
        now: Timestamp,
    ) -> Result<(), ApiError> {
        let target = check(binding, &key.name)?;
        let Some(found) = self.store.find(&PODS, &key.namespace, &key.name).cloned() else {
            return Err(missing(&key.name));
        };
        let name = &key.name;
        let gated = found["spec"]["schedulingGates"].as_array().is_some_and(|all| !all.is_empty());
        let why = match found["spec"]["nodeName"].as_str() {
            _ if object::is_terminating(&found) => {
                Some(format!("pod {name} is being deleted, cannot be assigned to a host"))
            }
            Some(node) => Some(format!("pod {name} is already assigned to node \"{node}\"")),
            None if gated => Some(format!("pod {name} has non-empty .spec.schedulingGates")),
            None => None,
        };
        if let Some(why) = why {
            let text = format!("Operation cannot be fulfilled on pods/binding \"{name}\": {why}");
            return Err(ApiError::new(409, "Conflict", text)
                .with_details(crate::json::json!({"name": name, "kind": "pods/binding"})));
        }
        let mut placed = Value::clone(&found);
        placed["spec"]["nodeName"] = target.into();
        pod::set_condition(&mut placed, "PodScheduled", "True", "", "", now);
        let kind = self.kind_of(&PODS)?;
        self.update(&kind, key, Part::Binding, placed, options, now).map(|_| ())
    }
}

/// The Node that a Binding names.
fn check<'a>(binding: &'a Value, name: &str) -> Result<&'a str, ApiError> {
    let target = &binding["target"];
    let text = |field: &str| target[field].as_str().unwrap_or_default();
    let refused = |cause: Cause| {
        let (field, message) = (&cause.field, &cause.message);
        let text = format!("Binding \"{name}\" is invalid: {field}: {message}");
        ApiError::new(422, "Invalid", text)
            .with_details(crate::json::json!({"name": name, "kind": "Binding"}))
            .with_causes(vec![cause.clone()])
    };
    if !matches!(text("kind"), "" | "Node") {
        let kind = text("kind");
        let why = format!("Unsupported value: \"{kind}\": supported values: \"Node\", \"<empty>\"");
        return Err(refused(Cause::new("FieldValueNotSupported", why, "target.kind")));
    }
    if text("name").is_empty() {
        return Err(refused(Cause::new("FieldValueRequired", "Required value", "target.name")));
    }
    Ok(text("name"))
}
