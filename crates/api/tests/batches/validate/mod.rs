//! Each rule of the original with its words, each of ours, and what is only a warning.

mod release;
mod rollout;
mod steps;
mod update;

use api::batches::{Claim, Context, Plan, Rollout, Version, convert, defaulted, validate};
use api::{Severity, parse};
use proptest::prelude::*;
use serde_json::{Value, json};

use self::release::release;

const BETA: &str = include_str!("../../manifests/rollout-v1beta1.yaml");
const ALPHA: &str = include_str!("../../manifests/rollout-v1alpha1.yaml");

fn beta() -> Value {
    parse(BETA).unwrap().remove(0)
}

fn alpha() -> Value {
    parse(ALPHA).unwrap().remove(0)
}

/// With a field set; the path is a JSON pointer, made on the way; null removes.
fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let mut place = &mut object;
    for key in pointer.trim_start_matches('/').split('/') {
        let key = key.replace("~1", "/");
        place = match key.parse::<usize>() {
            Ok(index) if place.is_array() => &mut place[index],
            _ => &mut place[key],
        };
    }
    *place = value;
    object
}

fn said(object: &Value, context: &Context<'_>, severity: Severity) -> Vec<(String, String)> {
    let found = validate(object, context);
    found
        .into_iter()
        .filter(|finding| finding.severity == severity)
        .map(|finding| (finding.path, finding.message))
        .collect()
}

fn errors(object: &Value) -> Vec<(String, String)> {
    said(object, &Context::default(), Severity::Error)
}

fn warnings(object: &Value) -> Vec<(String, String)> {
    said(object, &Context::default(), Severity::Warning)
}

/// One error, at this place, with these words or words that begin so.
#[track_caller]
fn refuse(object: &Value, path: &str, words: &str) {
    let found = errors(object);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, path);
    assert!(found[0].1.starts_with(words), "{found:?}");
}

#[track_caller]
fn accept(object: &Value) {
    assert_eq!(errors(object), Vec::<(String, String)>::new(), "{object}");
}

/// Where the steps are.
const STEPS: &str = "spec.strategy.canary.steps";

fn steps(steps: Value) -> Value {
    with(beta(), "/spec/strategy/canary/steps", steps)
}

fn old_steps(steps: Value) -> Value {
    with(alpha(), "/spec/strategy/canary/steps", steps)
}

#[test]
fn the_published_manifests_are_sound_and_one_plan() {
    for manifest in [beta(), alpha()] {
        accept(&manifest);
        assert_eq!(warnings(&manifest), []);
        let filled = defaulted(&manifest);
        assert_eq!(filled["spec"]["disabled"], false);
        let stored = convert(&filled, Version::V1beta1).unwrap();
        accept(&stored);
        let typed: Rollout = serde_json::from_value(stored).unwrap();
        assert_eq!(typed.spec.workload_ref.kind, "Deployment");
        let plan = Plan::of_canary(&typed.spec.strategy.canary.unwrap()).unwrap();
        assert_eq!(plan.targets(10), [1, 5, 10]);
    }
}

proptest! {
    #[test]
    fn no_manifest_however_wrong_makes_anything_panic(
        which in 0..3_usize,
        place in 0..40_usize,
        wrong in prop_oneof![
            Just(json!(null)), Just(json!(true)), Just(json!([])), Just(json!({})),
            Just(json!([null, 5])), any::<i64>().prop_map(Value::from), Just(json!(1.5)),
            ".{0,20}".prop_map(Value::from),
        ],
    ) {
        let mut object = vec![beta(), alpha(), release()].swap_remove(which);
        let mut places = Vec::new();
        find(&object, "", &mut places);
        let place = places[place % places.len()].clone();
        *object.pointer_mut(&place).unwrap() = wrong;
        let stored = vec![beta(), alpha(), release()].swap_remove(which);
        let others: Vec<Claim> = Claim::of(&object).into_iter().collect();
        for (before, after) in [(&stored, &object), (&object, &stored)] {
            let context = Context { before: Some(before), others: &others, ..Context::default() };
            let _ = validate(after, &context);
        }
        let _ = defaulted(&object);
        for version in [Version::V1alpha1, Version::V1beta1] {
            let _ = convert(&object, version);
        }
        if let Ok(typed) = serde_json::from_value::<Rollout>(object) {
            let _ = typed.spec.strategy.canary.map(|canary| Plan::of_canary(&canary));
        }
    }
}

fn find(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                find(inner, &format!("{path}/{}", key.replace('/', "~1")), found);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                find(inner, &format!("{path}/{index}"), found);
            }
        }
        _ => {}
    }
}
