//! What generated sequences found: where the real server does what nobody would have guessed.

use super::*;
use crate::json::{Value, json};

#[test]
fn who_else_owns_a_map_that_an_apply_empties_keeps_it() {
    let map = kind("", "v1", "configmaps");
    let (alice, bob) = (writer("alice", "v1"), writer("bob", "v1"));
    let one = apply(&map, None, &config(json!({"x": "1"})), &alice, false).expect("applies");
    let mut two = one.clone();
    two["metadata"]["annotations"] = json!({"l": "1"});
    track(&map, Some(&one), &mut two, &bob);
    let mut wanted = config(json!({"x": "1"}));
    wanted["metadata"]["annotations"] = json!({"l": "2"});
    let three = apply(&map, Some(&two), &wanted, &alice, true).expect("applies");
    wanted["metadata"]["annotations"] = json!({});
    let four = apply(&map, Some(&three), &wanted, &alice, true).expect("empties");
    assert!(four["metadata"].get("annotations").is_none());
    let empty = json!({"f:annotations": {}});
    check(
        &four,
        &[
            ("alice Apply", json!({"f:data": {"f:x": {}}, "f:metadata": empty})),
            ("bob Update", json!({"f:metadata": empty})),
        ],
    );
}

#[test]
fn managers_in_a_conflict_are_in_the_order_of_their_entries_as_json() {
    let gadget = gadget();
    let version = "example.com/v1";
    let mut one = json!({"metadata": {"name": "a"}, "spec": {"id": "1", "percent": 1}});
    track(&gadget, None, &mut one, &writer("bob", version));
    let mut two = one.clone();
    two["spec"]["percent"] = json!(2);
    let scale = Writer { subresource: Some("scale"), ..writer("bob", version) };
    track(&gadget, Some(&one), &mut two, &scale);
    let wanted = json!({"metadata": {"name": "a"}, "spec": {"id": "3", "percent": 3}});
    let refused = apply(&gadget, Some(&two), &wanted, &writer("alice", version), false);
    assert_eq!(
        refused.expect_err("conflicts").message,
        "Apply failed with 2 conflicts: conflicts with \"bob\" with subresource \"scale\" using \
         example.com/v1:\n- .spec.percent\nconflicts with \"bob\" using example.com/v1:\n- .spec.id"
    );
}

#[test]
fn what_was_empty_before_an_apply_stays_an_empty_map_or_list() {
    let mut gadget = gadget();
    let spec = json!({"type": "object", "properties": {
        "notes": {"type": "object", "additionalProperties": {"type": "string"}},
        "list": {"type": "array", "items": {"type": "string"}},
        "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }});
    gadget.custom.as_mut().expect("a custom kind").schema =
        json!({"type": "object", "properties": {"spec": spec}});
    let with = |spec: Value| {
        json!({
            "apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "a"},
            "spec": spec,
        })
    };
    let alice = writer("alice", "example.com/v1");
    let first = with(json!({"notes": {}, "list": ["a"], "any": {"x": {}}}));
    let one = apply(&gadget, None, &first, &alice, false).expect("applies");
    let second = with(json!({"notes": {}, "list": [], "any": {"x": {}}}));
    let two = apply(&gadget, Some(&one), &second, &alice, false).expect("applies");
    assert_eq!(two["spec"], second["spec"]);
}

#[test]
fn a_scale_that_changes_nothing_splits_the_entry_of_the_owner_until_the_next_write() {
    let set = kind("apps", "v1", "statefulsets");
    let one = json!({"metadata": {"name": "a", "labels": {"l": "1"}}, "spec": {"replicas": 1}});
    let (mut one, alice) = (one, writer("alice", "apps/v1"));
    track(&set, None, &mut one, &alice);
    let scale = Writer { subresource: Some("scale"), ..writer("bob", "apps/v1") };
    let mut two = one.clone();
    track(&set, Some(&one), &mut two, &scale);
    let labels = json!({"f:metadata": {"f:labels": {".": {}, "f:l": {}}}});
    check(
        &two,
        &[
            ("alice Update", json!({"f:spec": {"f:replicas": {}}})),
            ("alice Update", labels.clone()),
        ],
    );
    let times = |object: &Value| -> Vec<bool> {
        let all = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
        all.iter().map(|entry| entry.get("time").is_some()).collect()
    };
    assert_eq!(times(&two), [false, true]);
    let mut three = two.clone();
    track(&set, Some(&two), &mut three, &scale);
    check(&three, &[("alice Update", labels)]);
}

#[test]
fn of_more_than_ten_managers_that_update_the_oldest_become_one() {
    let map = kind("", "v1", "configmaps");
    let mut live = config(json!({"x": "0"}));
    track(&map, None, &mut live, &writer("manager-0", "v1"));
    for number in 1..=11 {
        let mut next = live.clone();
        next["data"][format!("y{number}")] = json!("1");
        let manager = format!("manager-{number}");
        let now = jiff::Timestamp::from_second(1_800_000_000 + number).expect("a time");
        track(&map, Some(&live), &mut next, &Writer { now, ..writer(&manager, "v1") });
        live = next;
    }
    let all = owners(&live);
    assert_eq!(all.len(), 10);
    let merged = json!({"f:data": {".": {}, "f:x": {}, "f:y1": {}, "f:y2": {}}});
    assert_eq!(all[0], ("ancient-changes Update".to_owned(), merged));
    assert_eq!(all[1].0, "manager-3 Update");
}

#[test]
fn who_replaces_an_object_that_is_being_deleted_takes_its_marks_from_their_owner() {
    let map = kind("", "v1", "configmaps");
    let mut live = config(json!({"x": "1"}));
    live["metadata"]["deletionTimestamp"] = json!("2026-11-29T21:52:13Z");
    live["metadata"]["deletionGracePeriodSeconds"] = json!(0);
    let alice = writer("alice", "v1");
    let mut one =
        apply(&map, Some(&live), &config(json!({"x": "1"})), &alice, false).expect("applies");
    assert_eq!(owners(&one).len(), 2);
    forget_deletion(&mut one);
    check(
        &one,
        &[
            ("alice Apply", json!({"f:data": {"f:x": {}}})),
            ("before-first-apply Update", json!({"f:data": {".": {}, "f:x": {}}})),
        ],
    );
}

#[test]
fn an_item_that_its_applier_no_longer_sets_goes_with_what_others_own_of_it() {
    let mut gadget = gadget();
    let part = json!({"type": "object", "properties": {
        "name": {"type": "string"}, "count": {"type": "integer"},
    }});
    let spec = json!({"type": "object", "properties": {
        "parts": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": part,
        },
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "size": {"type": "integer"},
    }});
    gadget.custom.as_mut().expect("a custom kind").schema =
        json!({"type": "object", "properties": {"spec": spec}});
    let with = |spec: Value| {
        json!({
            "apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "a"},
            "spec": spec,
        })
    };
    let (alice, bob) = (writer("alice", "example.com/v1"), writer("bob", "example.com/v1"));
    let first = with(json!({"parts": [{"name": "x", "count": 1}], "free": {"any": {}}, "size": 1}));
    let one = apply(&gadget, None, &first, &alice, false).expect("applies");
    let mut two = one.clone();
    two["spec"]["parts"] = json!([{"name": "x", "count": 2}, {"name": "y"}]);
    two["spec"]["free"] = json!({"any": {"z": 1}});
    track(&gadget, Some(&one), &mut two, &bob);
    let three = apply(&gadget, Some(&two), &with(json!({"size": 1})), &alice, false);
    let three = three.expect("applies");
    // Null where a map was emptied, which the schema of the kind refuses afterwards.
    let left = json!({"parts": [{"name": "y"}], "free": null, "size": 1});
    assert_eq!(three["spec"], left);
}

#[test]
fn a_scale_of_what_nobody_owns_leaves_it_so_in_custom_kinds_too() {
    let mut gadget = gadget();
    gadget.scale = Some(crate::kind::ScalePaths {
        spec_replicas: ".spec.percent".to_owned(),
        status_replicas: ".status.percent".to_owned(),
        selector: String::new(),
    });
    let mut one = json!({"metadata": {"name": "a"}, "spec": {"id": "1"}});
    track(&gadget, None, &mut one, &writer("alice", "example.com/v1"));
    let scale = Writer { subresource: Some("scale"), ..writer("bob", "example.com/v1") };
    let mut two = one.clone();
    two["spec"]["percent"] = json!(3);
    track(&gadget, Some(&one), &mut two, &scale);
    check(&two, &[("alice Update", json!({"f:spec": {".": {}, "f:id": {}}}))]);
}
