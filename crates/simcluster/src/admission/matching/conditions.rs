//! `matchConditions`, in CEL: of those writes that its rules and selectors name, the ones that a webhook wants
//! to hear of.

use kube_cel::KubeCelExt;
use kube_cel::cel::objects::Key;
use kube_cel::cel::{Context, Program, Value as Cel};

use crate::admission::Subject;
use crate::json::{Value, json};

/// Whether all conditions hold. One that is false keeps the webhook out of it. Where none is, and one cannot
/// be told, the failure policy decides; the real server refuses the write then, and here the webhook is asked.
pub(super) fn hold(hook: &Value, subject: &Subject) -> bool {
    let conditions = hook["matchConditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    if conditions.is_empty() {
        return true;
    }
    let kind = &subject.kind;
    let request = json!({
        "operation": subject.operation,
        "name": subject.name,
        "namespace": subject.namespace,
        "dryRun": subject.dry_run,
        "kind": {"group": kind.group, "version": kind.version, "kind": kind.kind},
        "resource": {"group": kind.group, "version": kind.version, "resource": kind.plural},
        "subResource": subject.subresource,
        "userInfo": super::super::user_info(&subject.user),
    });
    let told = |it: &Value| tell(it, &subject.object, &subject.old_object, &request);
    let told: Vec<Option<bool>> = conditions.iter().map(told).collect();
    let doubtful = told.contains(&None) && hook["failurePolicy"] == "Ignore";
    !told.contains(&Some(false)) && !doubtful
}

/// Whether a condition holds; `None` where that cannot be told.
fn tell(condition: &Value, object: &Value, old: &Value, request: &Value) -> Option<bool> {
    let program = Program::compile(condition["expression"].as_str()?).ok()?;
    let mut context = Context::default().with_all();
    for (name, value) in [("object", object), ("oldObject", old), ("request", request)] {
        context.add_variable_from_value(name, cel(value));
    }
    match program.execute(&context) {
        Ok(Cel::Bool(holds)) => Some(holds),
        _ => None,
    }
}

/// Keys as they stand: those of a schema's fields would be escaped, and nothing is known of a schema here.
fn cel(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(value) => Cel::Bool(*value),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Cel::Int(number),
            (None, Some(number)) => Cel::UInt(number),
            _ => Cel::Float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Cel::String(text.to_string().into()),
        Value::Array(items) => Cel::List(items.iter().map(cel).collect::<Vec<_>>().into()),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| (Key::from(key.as_str()), cel(value)));
            Cel::Map(fields.collect::<std::collections::HashMap<_, _>>().into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_told_by_both_objects_and_the_request() {
        fn check(expression: &str, expect: Option<bool>) {
            let of = |image: &str, annotations: Value| json!({"metadata": {"annotations": annotations}, "spec": {"image": image, "n": 3}});
            let (old, new) = (of("v1", json!({"a.b/c-d": "x"})), of("v2", json!({})));
            let request = json!({"operation": "UPDATE"});
            let found = tell(&json!({"expression": expression}), &new, &old, &request);
            assert_eq!(found, expect, "{expression}");
        }
        check("object.spec != oldObject.spec", Some(true));
        check("object.spec.n == oldObject.spec.n && object.spec.n == 3", Some(true));
        check("request.operation == 'CREATE'", Some(false));
        check("has(object.metadata.labels) && 'a' in object.metadata.labels", Some(false));
        check("'a.b/c-d' in oldObject.metadata.annotations", Some(true));
        check("['z', 'a.b/c-d'].exists(it, it in oldObject.metadata.annotations)", Some(true));
        check("['z', 'a.b/c-d'].exists(it, it in object.metadata.annotations)", Some(false));
        check("oldObject.metadata.annotations['a.b/c-d'] == 'x'", Some(true));
        check("object.metadata.annotations['a.b/c-d'] == 'x'", None);
        check("object.spec.n", None);
        check("this is not CEL", None);
    }
}
