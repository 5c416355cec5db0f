//! Custom kinds: acceptance of a CRD, and pruning, defaults and validation by its schema.

use crate::builtin::FieldErrors;
use crate::error::Cause;
use crate::json::Value;
use crate::kind::ScalePaths;

mod accept;
mod defaults;
mod path;
mod prune;
mod rules;
mod validate;

pub use accept::{check, default_definition};
pub use defaults::apply_defaults;
pub use prune::{drop_nulls, prune};

/// What is wrong with a custom object; `old` is given on updates, for transition rules and because
/// what did not change is not held against it.
pub fn validate(schema: &Value, object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = validate::validate(schema, object, old);
    let rules = rules::of(schema);
    let Some(rules) = rules.as_ref() else { return causes };
    let blocks = |cause: &Cause| {
        matches!(
            cause.reason.as_str(),
            "FieldValueNotSupported"
                | "FieldValueRequired"
                | "FieldValueTooLong"
                | "FieldValueTooMany"
                | "FieldValueTypeInvalid"
        )
    };
    if causes.iter().any(blocks) {
        causes.push(Cause::new(
            "FieldValueInvalid",
            "Invalid value: null: some validation rules were not checked because the object was \
             invalid; correct the existing errors to complete validation",
            "<nil>",
        ));
    } else {
        causes.extend(rules.check(object, old));
    }
    causes
}

/// What is wrong with the numbers that a scale of the object would show.
pub fn validate_scale(paths: &ScalePaths, object: &Value) -> Vec<Cause> {
    let mut out = FieldErrors::default();
    validate::scale(paths, object, &mut out);
    out.into_vec()
}

/// Joins a path and a field.
fn join(path: &str, field: &str) -> String {
    if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") }
}

#[cfg(test)]
mod tests;
