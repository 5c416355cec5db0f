//! Lists of what is wrong with an object, in the words of the server's field errors.

use crate::error::Cause;
use crate::json::Value;

/// Field errors in the order in which they are found.
#[derive(Clone, Debug, Default)]
pub struct Causes(Vec<Cause>);

impl Causes {
    /// The list itself.
    pub fn into_vec(self) -> Vec<Cause> {
        self.0
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds what another check found.
    pub fn extend(&mut self, other: impl IntoIterator<Item = Cause>) {
        self.0.extend(other);
    }

    /// Something must be given.
    pub fn required(&mut self, field: impl Into<String>, detail: &str) {
        self.push("FieldValueRequired", "Required value", field, detail);
    }

    /// A value that does not do.
    pub fn invalid(&mut self, field: impl Into<String>, value: &Value, detail: &str) {
        self.push("FieldValueInvalid", &format!("Invalid value: {value}"), field, detail);
    }

    /// The same for a value that is no JSON of ours, such as one of the server's own structs.
    pub fn push_text(&mut self, field: &str, value: &str, detail: &str) {
        self.push("FieldValueInvalid", &format!("Invalid value: {value}"), field, detail);
    }

    /// A value outside a short list.
    pub fn not_supported(&mut self, field: impl Into<String>, value: &Value, known: &[&str]) {
        self.not_supported_text(field, &value.to_string(), known);
    }

    /// The same for a value that is no JSON of ours.
    pub fn not_supported_text(&mut self, field: impl Into<String>, value: &str, known: &[&str]) {
        let known: Vec<String> = known.iter().map(|name| format!("\"{name}\"")).collect();
        let detail = format!("supported values: {}", known.join(", "));
        self.push("FieldValueNotSupported", &format!("Unsupported value: {value}"), field, &detail);
    }

    /// The same twice.
    pub fn duplicate(&mut self, field: impl Into<String>, value: &Value) {
        self.push("FieldValueDuplicate", &format!("Duplicate value: {value}"), field, "");
    }

    /// A name that leads nowhere.
    pub fn not_found(&mut self, field: impl Into<String>, value: &Value) {
        self.push("FieldValueNotFound", &format!("Not found: {value}"), field, "");
    }

    /// Something that must not be given or changed.
    pub fn forbidden(&mut self, field: impl Into<String>, detail: &str) {
        self.push("FieldValueForbidden", "Forbidden", field, detail);
    }

    /// More bytes than fit.
    pub fn too_long(&mut self, field: impl Into<String>, limit: usize) {
        let detail = format!("may not be more than {limit} bytes");
        self.push("FieldValueTooLong", "Too long", field, &detail);
    }

    /// A number below zero.
    pub fn not_negative(&mut self, field: impl Into<String>, value: &Value) {
        if value.as_i64().is_some_and(|number| number < 0) {
            self.invalid(field, value, "must be greater than or equal to 0");
        }
    }

    /// A value that rules for names refuse.
    pub fn named(
        &mut self,
        field: impl Into<String>,
        name: &str,
        why: impl IntoIterator<Item = String>,
    ) {
        let field = field.into();
        for why in why {
            self.invalid(field.clone(), &Value::from(name), &why);
        }
    }

    fn push(&mut self, reason: &str, head: &str, field: impl Into<String>, detail: &str) {
        let message = if detail.is_empty() { head.to_owned() } else { format!("{head}: {detail}") };
        self.0.push(Cause::new(reason, message, field));
    }
}

/// Text of a field, empty when absent.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Entries of a list, none when absent.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Entries of a map of texts, none when absent.
pub(super) fn texts<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let map = value.get(key).and_then(Value::as_object);
    map.into_iter().flatten().map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()))
}
