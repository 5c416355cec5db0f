//! Whatever the schemas let through can be read, converted and comes back.

use api::batches::{self, BatchRelease, Plan, Rollout, Version, convert};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::round_trip::{field, other};

/// Anything that a schema admits: the limits of numbers among it, and any string.
fn admitted(schema: &Value) -> BoxedStrategy<Value> {
    if schema["x-kubernetes-int-or-string"] == true {
        return prop_oneof![any::<i64>().prop_map(Value::from), ".{0,6}".prop_map(Value::from)]
            .boxed();
    }
    match schema["type"].as_str() {
        Some("array") => {
            prop::collection::vec(admitted(&schema["items"]), 0..3).prop_map(Value::from).boxed()
        }
        Some("string") if schema["format"] == "date-time" => prop_oneof![
            Just(json!("2026-11-30T01:00:00Z")),
            Just(json!("2026-11-30T01:00:00.5+14:00")),
            Just(json!(null)),
        ]
        .boxed(),
        Some("string") => ".{0,6}".prop_map(Value::from).boxed(),
        Some("integer") => {
            prop_oneof![Just(json!(i32::MIN)), Just(json!(i32::MAX)), Just(json!(0))].boxed()
        }
        Some("boolean") => any::<bool>().prop_map(Value::from).boxed(),
        _ => {
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let fields: Vec<_> = schema["properties"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(key, inner)| {
                    let chance = if required.contains(&json!(key)) { 1.0 } else { 0.6 };
                    field(key, admitted(inner), chance)
                })
                .collect();
            fields
                .prop_map(|fields| {
                    let there = fields.into_iter().filter_map(|(key, value)| Some((key, value?)));
                    Value::Object(there.collect())
                })
                .boxed()
        }
    }
}

/// Any object that the schema of a version admits.
fn any_admitted() -> BoxedStrategy<(Version, Value)> {
    let mut all = Vec::new();
    for crd in &batches::crds(("ops", "hook"))[..2] {
        for version in &crd.spec.versions {
            let schema = serde_json::to_value(&version.schema).unwrap();
            let api_version = format!("rollouts.kruise.io/{}", version.name);
            let kind = crd.spec.names.kind.clone();
            let of = Version::of(&api_version).unwrap();
            let objects = admitted(&schema["openAPIV3Schema"]).prop_map(move |mut object| {
                object["apiVersion"] = json!(api_version);
                object["kind"] = json!(kind);
                object["metadata"] = json!({"name": "web"});
                (of, object)
            });
            all.push(objects.boxed());
        }
    }
    prop::strategy::Union::new(all).boxed()
}

proptest! {
    #[test]
    fn what_a_schema_admits_can_be_read_and_comes_back((from, object) in any_admitted()) {
        let there = convert(&object, other(from)).unwrap();
        prop_assert_eq!(&convert(&there, from).unwrap(), &object, "by way of {}", there);
        let stored = if from == Version::V1beta1 { object } else { there };
        if stored["kind"] == "Rollout" {
            let typed: Rollout = serde_json::from_value(stored).unwrap();
            let _ = typed.spec.strategy.canary.map(|canary| Plan::of_canary(&canary));
        } else {
            let typed: BatchRelease = serde_json::from_value(stored).unwrap();
            let _ = Plan::of_release(&typed.spec.release_plan);
        }
    }
}
