//! What the API server fills into an object before anybody sees it, without an API server.

use serde_json::Value;

use super::crds::schema_of;

/// The object with the defaults of its CRD: `spec.disabled` false, `gracePeriodSeconds` 3.
///
/// Nothing else is a default of the interface: an absent threshold, pause or policy means something
/// of its own. An object of another kind comes back as it is.
pub fn defaulted(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(schema) = schema_of(&object) {
        fill(&mut object, schema);
    }
    object
}

fn fill(value: &mut Value, schema: &Value) {
    match value {
        Value::Object(map) => {
            for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
                let default = &schema["default"];
                // A null where none is allowed counts as absent.
                let is_absent = map.get(key).is_none_or(Value::is_null);
                if is_absent && !default.is_null() {
                    map.insert(key.clone(), default.clone());
                }
                if let Some(inner) = map.get_mut(key) {
                    fill(inner, schema);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                fill(item, &schema["items"]);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_absent_is_filled_in() {
        let rollout = |version: &str, disabled: Value, grace: Value| {
            json!({
                "apiVersion": format!("rollouts.kruise.io/{version}"),
                "kind": "Rollout",
                "spec": {
                    "disabled": disabled,
                    "strategy": {"canary": {"trafficRoutings": [{"gracePeriodSeconds": grace}]}},
                },
            })
        };
        for version in ["v1alpha1", "v1beta1"] {
            let filled = rollout(version, json!(false), json!(3));
            assert_eq!(defaulted(&rollout(version, json!(null), json!(null))), filled);
            let own = rollout(version, json!(true), json!(0));
            assert_eq!(defaulted(&own), own);
            let mut bare = rollout(version, json!(null), json!(null));
            bare["spec"].as_object_mut().unwrap().remove("disabled");
            assert_eq!(defaulted(&bare), filled);
        }
    }

    #[test]
    fn an_object_that_is_not_known_stays_as_it_is() {
        for object in [json!({"kind": "Rollout"}), json!(5), json!({"spec": {}})] {
            assert_eq!(defaulted(&object), object);
        }
    }
}
