#![expect(clippy::needless_pass_by_value, reason = "its callers read better")]

mod kruise;

use self::kruise::{PAUSED, kruise, pause};
use super::*;
use api::batches::names::*;
use engine::front::batch_release::Original;
use engine::world::Strategy;
use serde_json::Map;

const KEPT: &str = r#"{"rollingStyle":"Partition","rollingUpdate":{"maxSurge":1},"partition":0}"#;
const ALL: KeepHeld = KeepHeld { restart: false, mark: true, control: true };

fn object(spec: Value) -> Value {
    json!({"metadata": {"name": "web", "labels": {}, "annotations": {}}, "spec": spec})
}

/// Set or, with null, taken away.
fn with(object: &Value, patch: Value) -> Value {
    let mut object = object.clone();
    merge(&mut object, &patch);
    object
}

fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else { return };
    for (key, value) in patch {
        let at = target.as_object_mut().unwrap();
        match value {
            Value::Null => drop(at.remove(key)),
            Value::Object(_) => merge(at.entry(key).or_insert_with(|| json!({})), value),
            value => drop(at.insert(key.clone(), value.clone())),
        }
    }
}

fn annotated(object: &Value, all: &[(&str, &str)]) -> Value {
    let all: Map<String, Value> =
        all.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
    with(object, json!({"metadata": {"annotations": all}}))
}

/// As a Deployment stands in release.
fn deployment() -> Value {
    let spec = json!({"paused": true, "strategy": {"type": "Recreate"}});
    let held = with(&object(spec), json!({"metadata": {"labels": {STABLE_REVISION: "s1"}}}));
    annotated(&held, &[(IN_PROGRESSING, "m"), (CONTROL_INFO, "c"), (DEPLOYMENT_STRATEGY, KEPT)])
}

/// As a StatefulSet stands in release.
fn statefulset(partition: u32) -> Value {
    let rolling = json!({"partition": partition});
    let spec = json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling}});
    let own = r#"{"rollingUpdate":{"partition":0},"type":"RollingUpdate"}"#;
    let stamp = partition.to_string();
    let marks = [(IN_PROGRESSING, "m"), (CONTROL_INFO, "c"), (HELD_PARTITION, stamp.as_str())];
    annotated(&annotated(&object(spec), &marks), &[(ORIGINAL_STRATEGY, own)])
}

/// As a DaemonSet stands in release.
fn daemonset() -> Value {
    let spec = json!({"updateStrategy": {"type": "OnDelete", "rollingUpdate": {"maxSurge": 0}}});
    let own = (DAEMONSET_ORIGINAL_STRATEGY, "RollingUpdate");
    annotated(&object(spec), &[(IN_PROGRESSING, "m"), (CONTROL_INFO, "c"), own])
}

#[test]
fn a_change_is_held_by_one_patch_and_the_users_strategy_is_kept() {
    fn check(kind: Kind, spec: Value, expect: Value) {
        let by = Hold { stable_revision: Some("s1"), ..Hold::before("web") };
        let object = object(spec);
        let held = with(&object, kind.hold(&object, &by));
        let expect = with(&object, expect);
        let mark =
            json!({"metadata": {"annotations": {IN_PROGRESSING: r#"{"rolloutName":"web"}"#}}});
        assert_eq!(held, with(&expect, mark));
        let again = with(&held, kind.hold(&held, &by));
        assert_eq!(again, held, "what is held already is not held otherwise");
    }
    let annotations = |name: &str, value: &str| json!({"annotations": {name: value}});
    check(
        Kind::Deployment,
        json!({"strategy": {"type": "RollingUpdate"}}),
        json!({"metadata": {"labels": {STABLE_REVISION: "s1"}}, "spec": {"paused": true}}),
    );
    let own = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}});
    let mut metadata = annotations(ORIGINAL_STRATEGY, &own.to_string());
    metadata["annotations"][HELD_PARTITION] = json!("32767");
    check(
        Kind::StatefulSet,
        json!({"updateStrategy": own}),
        json!({
            "metadata": metadata,
            "spec": {"updateStrategy": {"rollingUpdate": {"partition": 32767}}},
        }),
    );
    check(Kind::StatefulSet, json!({"updateStrategy": {"type": "OnDelete"}}), json!({}));
    let mut metadata = metadata.clone();
    metadata["annotations"][HELD_PARTITION] = json!("100%");
    let own = json!({"type": "InPlaceIfPossible", "partition": "20%", "paused": true});
    metadata["annotations"][ORIGINAL_STRATEGY] = json!(own.to_string());
    check(
        Kind::CloneSet,
        json!({"replicas": 5, "updateStrategy": own}),
        json!({"metadata": metadata, "spec": {"updateStrategy": {"partition": "100%"}}}),
    );
    let own = json!({"type": "RollingUpdate", "rollingUpdate": {"rollingUpdateType": "Standard"}});
    metadata["annotations"][HELD_PARTITION] = json!("32767");
    metadata["annotations"][ORIGINAL_STRATEGY] = json!(own.to_string());
    for kind in [Kind::AdvancedStatefulSet, Kind::AdvancedDaemonSet] {
        check(
            kind,
            json!({"updateStrategy": own}),
            json!({
                "metadata": metadata,
                "spec": {"updateStrategy": {"rollingUpdate": {"partition": 32767}}},
            }),
        );
        check(kind, json!({"updateStrategy": {"type": "OnDelete"}}), json!({}));
    }
    // Nobody wrote one; the defaults of Kruise's webhook may come after ours.
    let none = json!({"metadata": {"annotations": {
        HELD_PARTITION: "32767", ORIGINAL_STRATEGY: "null",
    }}, "spec": {"updateStrategy": {"rollingUpdate": {"partition": 32767}}}});
    check(Kind::AdvancedDaemonSet, json!({}), none);
    for own in ["RollingUpdate", "OnDelete"] {
        check(
            Kind::DaemonSet,
            json!({"updateStrategy": {"type": own, "rollingUpdate": {"maxUnavailable": 2}}}),
            json!({
                "metadata": annotations(DAEMONSET_ORIGINAL_STRATEGY, own),
                "spec": {"updateStrategy": {"type": "OnDelete"}},
            }),
        );
    }
}

/// `write` on what is held comes to `expect` on it.
fn kept(kind: Kind, held: &Value, write: Value, keep: KeepHeld, expect: Value) {
    let new = with(held, write.clone());
    let found = with(&new, kind.keep_held(held, &new, keep));
    assert_eq!(found, with(held, expect), "{write}");
    let again = kind.keep_held(held, &found, keep);
    assert_eq!(with(&found, again), found, "asked twice, it says the same: {write}");
}

#[test]
fn a_held_deployment_stays_held_and_what_is_asked_for_is_kept() {
    let check = |write, expect| {
        kept(Kind::Deployment, &deployment(), write, KeepHeld::default(), expect);
    };
    check(json!({"spec": {"replicas": 7}}), json!({"spec": {"replicas": 7}}));
    check(json!({"spec": {"paused": false}}), json!({}));
    check(json!({"spec": {"paused": null}}), json!({}));
    let rolling = json!({"maxSurge": 2, "maxUnavailable": 0});
    let strategy = r#"{"partition":0,"rollingStyle":"Partition","rollingUpdate":{"maxSurge":2,"maxUnavailable":0}}"#;
    check(
        json!({"spec": {"strategy": {"rollingUpdate": rolling}}}),
        json!({"metadata": {"annotations": {DEPLOYMENT_STRATEGY: strategy}}}),
    );
    check(
        json!({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": rolling}}}),
        json!({"metadata": {"annotations": {DEPLOYMENT_STRATEGY: strategy}}}),
    );
}

#[test]
fn a_deployment_whose_strategy_is_not_kept_yet_does_not_turn_to_recreate() {
    let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}});
    let held =
        annotated(&object(json!({"paused": true, "strategy": rolling})), &[(IN_PROGRESSING, "m")]);
    let write = json!({"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}});
    kept(Kind::Deployment, &held, write, KeepHeld::default(), json!({}));
    // Unless it is the write that takes it over.
    let taken = json!({
        "metadata": {"annotations": {CONTROL_INFO: "c", DEPLOYMENT_STRATEGY: KEPT}},
        "spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}},
    });
    kept(Kind::Deployment, &held, taken.clone(), KeepHeld::default(), taken);
}

#[test]
fn a_held_statefulset_stays_held_and_what_is_asked_for_is_kept() {
    let check = |write, expect| {
        kept(Kind::StatefulSet, &statefulset(4), write, KeepHeld::default(), expect);
    };
    let partition =
        |to: Value| json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": to}}}});
    let own =
        |own: Value| json!({"metadata": {"annotations": {ORIGINAL_STRATEGY: own.to_string()}}});
    check(json!({"spec": {"replicas": 7}}), json!({"spec": {"replicas": 7}}));
    check(
        partition(json!(2)),
        own(json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}})),
    );
    check(
        partition(json!(9)),
        with(
            &partition(json!(9)),
            own(json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 9}})),
        ),
    );
    check(partition(Value::Null), own(json!({"type": "RollingUpdate", "rollingUpdate": {}})));
    check(
        json!({"spec": {"updateStrategy": {"type": "OnDelete", "rollingUpdate": null}}}),
        own(json!({"type": "OnDelete"})),
    );
    let unavailable = json!({"spec": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 2}}}});
    let wanted = json!({"partition": 0, "maxUnavailable": 2});
    check(
        unavailable.clone(),
        with(&unavailable, own(json!({"type": "RollingUpdate", "rollingUpdate": wanted}))),
    );
}

#[test]
fn a_strategy_that_was_put_aside_and_is_spoilt_is_seen_and_mended_by_one_that_is_applied() {
    fn check(kind: Kind, name: &str, object: &Value, asked: Value) {
        let spoilt = with(object, json!({"metadata": {"annotations": {name: "{spoilt"}}}));
        let hand = kind.adapter().hand;
        assert_eq!(hand.spoilt(&spoilt).as_deref(), Some(name), "{kind:?}");
        let new = with(&spoilt, json!({ "spec": asked }));
        let found = with(&new, kind.keep_held(&spoilt, &new, KeepHeld::default()));
        assert_eq!(hand.spoilt(&found), None, "{kind:?}: {found}");
        let gone = with(&spoilt, json!({"metadata": {"annotations": {name: null}}}));
        assert_eq!(hand.spoilt(&gone), None, "{kind:?}: nothing is there that could be");
    }
    let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2}});
    let held = object(json!({"paused": true, "strategy": {"type": "Recreate"}}));
    check(Kind::Deployment, DEPLOYMENT_STRATEGY, &held, json!({ "strategy": rolling }));
    let held = object(json!({"updateStrategy": {"type": "OnDelete"}}));
    let rolling = json!({"updateStrategy": {"type": "RollingUpdate"}});
    check(Kind::DaemonSet, DAEMONSET_ORIGINAL_STRATEGY, &held, rolling);
    for (kind, within) in PAUSED {
        let mut asked = pause(within, json!(false))["spec"].clone();
        match within {
            Some(within) => asked["updateStrategy"][within]["maxUnavailable"] = json!(2),
            None => asked["updateStrategy"]["maxUnavailable"] = json!(2),
        }
        check(kind, ORIGINAL_STRATEGY, &kruise(within, json!(4)), asked);
    }
}

#[test]
fn whoever_releases_a_statefulset_says_so_beside_the_partition() {
    let write = json!({
        "metadata": {"annotations": {HELD_PARTITION: "2"}},
        "spec": {"updateStrategy": {"rollingUpdate": {"partition": 2}}},
    });
    kept(Kind::StatefulSet, &statefulset(4), write.clone(), KeepHeld::default(), write);
}

/// The user's own strategy, as the set is given back with it.
fn own_of(held: &Value) -> Option<Strategy> {
    statefulset::own(held)
}

#[test]
fn a_partition_that_a_release_has_put_there_is_not_given_back_as_the_users_own() {
    let own = Strategy::RollingUpdate { partition: 0 };
    for lost in [Value::Null, json!("{spoilt"), json!("[]")] {
        let lost = json!({"metadata": {"annotations": {ORIGINAL_STRATEGY: lost}}});
        let held = with(&statefulset(4), lost);
        assert_eq!(own_of(&held), Some(own));
        let back = with(
            &held,
            Kind::StatefulSet.adapter().hand.release(&held, Some(Original::Strategy(own))),
        );
        assert_eq!(back["spec"]["updateStrategy"]["rollingUpdate"]["partition"], 0);
        // Nor by a change on top of it.
        let held = with(&held, Kind::StatefulSet.hold(&held, &Hold::before("web")));
        assert_eq!(own_of(&held), Some(own));
    }
}

#[test]
fn a_statefulset_of_which_nobody_said_where_it_is_held_is_let_be() {
    let left = with(&statefulset(4), json!({"metadata": {"annotations": {HELD_PARTITION: null}}}));
    let write = json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 1}}}});
    kept(Kind::StatefulSet, &left, write.clone(), KeepHeld::default(), write);
}

#[test]
fn a_held_daemonset_stays_held_and_what_is_asked_for_is_kept() {
    let rolls = json!({"spec": {"updateStrategy": {"type": "RollingUpdate"}}});
    let mut held = daemonset();
    kept(Kind::DaemonSet, &held, rolls.clone(), KeepHeld::default(), json!({}));
    let own = json!({"metadata": {"annotations": {DAEMONSET_ORIGINAL_STRATEGY: "OnDelete"}}});
    held = with(&held, own);
    let expect =
        json!({"metadata": {"annotations": {DAEMONSET_ORIGINAL_STRATEGY: "RollingUpdate"}}});
    kept(Kind::DaemonSet, &held, rolls, KeepHeld::default(), expect);
}

#[test]
fn another_template_on_top_closes_what_was_open() {
    let restart = KeepHeld { restart: true, ..KeepHeld::default() };
    let template = json!({"spec": {"template": {"spec": {"containers": [{"image": "app:v3"}]}}}});
    kept(Kind::Deployment, &deployment(), template.clone(), restart, template.clone());
    kept(Kind::DaemonSet, &daemonset(), template.clone(), restart, template.clone());
    let closed = json!({
        "metadata": {"annotations": {HELD_PARTITION: "32767"}},
        "spec": {"updateStrategy": {"rollingUpdate": {"partition": 32767}}},
    });
    let expect = with(&closed, template.clone());
    kept(Kind::StatefulSet, &statefulset(2), template.clone(), restart, expect.clone());
    // Held by his own hand, it is as if he had not: that partition is not what he wants to have back.
    let by_hand = json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 32767}}}});
    kept(Kind::StatefulSet, &statefulset(2), with(&template, by_hand), restart, expect);
}

#[test]
fn a_write_of_the_whole_object_loses_nothing_of_ours() {
    fn check(kind: Kind, held: &Value, mut own: Value) {
        let held = with(held, json!({"metadata": {"labels": {WORKLOAD_TYPE: "x"}}}));
        let mut new = held.clone();
        new["metadata"]["annotations"] = json!({});
        new["metadata"]["labels"] = json!({});
        merge(&mut new, &own);
        let found = with(&new, kind.keep_held(&held, &new, ALL));
        // The strategy that he asked for may be kept in the place of ours.
        own.as_object_mut().unwrap().remove("spec");
        assert_eq!(found["metadata"]["labels"], held["metadata"]["labels"]);
        assert_eq!(found["spec"], held["spec"]);
        let names = |object: &Value| {
            let all = object["metadata"]["annotations"].as_object().unwrap();
            all.keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(names(&found), names(&held));
    }
    check(
        Kind::Deployment,
        &deployment(),
        json!({"spec": {"paused": null, "strategy": {"type": "RollingUpdate"}}}),
    );
    let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
    check(Kind::StatefulSet, &statefulset(4), json!({"spec": {"updateStrategy": strategy}}));
    check(
        Kind::DaemonSet,
        &daemonset(),
        json!({"spec": {"updateStrategy": {"type": "RollingUpdate"}}}),
    );
}

#[test]
fn the_label_of_a_replica_set_is_no_change_of_a_template() {
    fn check(old: Value, new: Value, expect: bool) {
        let of = |template: Value| object(json!({"template": template}));
        assert_eq!(template_differs(&of(old.clone()), &of(new.clone())), expect, "{old} {new}");
    }
    let hash =
        |hash: &str| json!({"metadata": {"labels": {"app": "web", POD_TEMPLATE_HASH: hash}}});
    check(hash("1"), hash("2"), false);
    check(hash("1"), json!({"metadata": {"labels": {"app": "web"}}}), false);
    check(hash("1"), json!({"metadata": {"labels": {"app": "other"}}}), true);
    check(json!({"spec": {"a": 1}}), json!({"spec": {"a": 2}}), true);
}
