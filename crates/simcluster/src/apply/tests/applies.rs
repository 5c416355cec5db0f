//! Owners after server-side apply, and who may take what from whom.

use super::*;
use crate::error::Cause;
use crate::json::{Value, json};

#[test]
fn an_apply_owns_exactly_what_it_says_and_drops_what_it_no_longer_says() {
    let map = kind("", "v1", "configmaps");
    let alice = writer("alice", "v1");
    let one =
        apply(&map, None, &config(json!({"x": "1", "y": "1"})), &alice, false).expect("applies");
    check(&one, &[("alice Apply", json!({"f:data": {"f:x": {}, "f:y": {}}}))]);
    let later = Writer { now: "2027-01-01T00:00:00Z".parse().expect("a time"), ..alice };
    let same = apply(&map, Some(&one), &config(json!({"x": "1", "y": "1"})), &later, false);
    assert_eq!(same.expect("applies"), one);
    let two = apply(&map, Some(&one), &config(json!({"x": "1"})), &later, false).expect("applies");
    check(&two, &[("alice Apply", json!({"f:data": {"f:x": {}}}))]);
    assert_eq!(two["data"], json!({"x": "1"}));
}

#[test]
fn a_conflict_names_owner_and_field_and_force_takes_it() {
    let map = kind("", "v1", "configmaps");
    let one = apply(&map, None, &config(json!({"x": "1"})), &writer("alice", "v1"), false)
        .expect("applies");
    let bob = writer("bob", "v1");
    let wanted = config(json!({"x": "2"}));
    let refused = apply(&map, Some(&one), &wanted, &bob, false).expect_err("conflicts");
    assert_eq!(refused.message, "Apply failed with 1 conflict: conflict with \"alice\": .data.x");
    assert_eq!(
        refused.causes,
        [Cause::new("FieldManagerConflict", "conflict with \"alice\"", ".data.x")]
    );
    let two = apply(&map, Some(&one), &wanted, &bob, true).expect("forced");
    check(&two, &[("bob Apply", json!({"f:data": {"f:x": {}}}))]);
}

#[test]
fn several_conflicts_are_listed_by_owner() {
    let map = kind("", "v1", "configmaps");
    let mut one = config(json!({"x": "1", "y": "1"}));
    track(&map, None, &mut one, &writer("kubectl-edit", "v1"));
    let wanted = config(json!({"x": "2", "y": "2"}));
    let refused = apply(&map, Some(&one), &wanted, &writer("bob", "v1"), false);
    assert_eq!(
        refused.expect_err("conflicts").message,
        "Apply failed with 2 conflicts: conflicts with \"kubectl-edit\" using v1:\n- .data.x\n\
         - .data.y"
    );
}

#[test]
fn a_field_that_another_also_owns_survives_its_removal() {
    let map = kind("", "v1", "configmaps");
    let (alice, bob) = (writer("alice", "v1"), writer("bob", "v1"));
    let both = config(json!({"x": "1", "y": "1"}));
    let one = apply(&map, None, &both, &alice, false).expect("applies");
    let two = apply(&map, Some(&one), &config(json!({"y": "1"})), &bob, false).expect("shares");
    let three = apply(&map, Some(&two), &config(json!({"x": "1"})), &alice, false).expect("drops");
    assert_eq!(three["data"], json!({"x": "1", "y": "1"}));
    check(
        &three,
        &[
            // Bob's changed nothing: without a time, it comes first.
            ("bob Apply", json!({"f:data": {"f:y": {}}})),
            ("alice Apply", json!({"f:data": {"f:x": {}}})),
        ],
    );
}

#[test]
fn an_item_of_a_list_map_merges_by_key_and_goes_with_its_defaults() {
    let set = kind("apps", "v1", "statefulsets");
    let me = writer("me", "apps/v1");
    let spec = |containers: Value| {
        json!({"metadata": {"name": "web"}, "spec": {
        "template": {"spec": {"containers": containers}}}})
    };
    let both = spec(json!([{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]));
    let mut one = apply(&set, None, &both, &me, false).expect("applies");
    one["spec"]["template"]["spec"]["containers"][1]["imagePullPolicy"] = json!("Always");
    one["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"] = json!("Always");
    let first = spec(json!([{"name": "a", "image": "z"}]));
    let two = apply(&set, Some(&one), &first, &me, false).expect("applies");
    assert_eq!(
        two["spec"]["template"]["spec"]["containers"],
        json!([{"name": "a", "image": "z", "imagePullPolicy": "Always"}])
    );
}

#[test]
fn an_unknown_field_is_no_typed_patch_object() {
    let wanted = json!({"metadata": {"name": "c", "namespace": "exch"}, "spec": {"nope": 1}});
    let refused = apply(&gadget(), None, &wanted, &writer("me", "example.com/v1"), false);
    let refused = refused.expect_err("is refused");
    assert_eq!(refused.code, 500);
    assert_eq!(
        refused.message,
        "failed to create typed patch object (exch/c; example.com/v1, Kind=Gadget): .spec.nope: \
         field not declared in schema"
    );
}

#[test]
fn kubectl_may_take_over_what_its_annotation_says_it_set() {
    let map = kind("", "v1", "configmaps");
    let note = "kubectl.kubernetes.io/last-applied-configuration";
    let mut live = config(json!({"x": "1", "y": "1"}));
    live["metadata"]["annotations"][note] = json!("{\"data\":{\"x\":\"1\"}}\n");
    let mut stored = live.clone();
    track(&map, None, &mut stored, &writer("kubectl-client-side-apply", "v1"));
    let kubectl = writer("kubectl", "v1");
    let after = apply(&map, Some(&stored), &config(json!({"x": "2"})), &kubectl, false);
    let after = after.expect("takes over");
    assert_eq!(
        after["metadata"]["annotations"][note],
        "{\"apiVersion\":\"v1\",\"data\":{\"x\":\"2\"},\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"app\"}}\n"
    );
    let other = apply(&map, Some(&stored), &config(json!({"y": "2"})), &kubectl, false);
    assert_eq!(other.expect_err("conflicts").causes.len(), 1);
    let bob = apply(&map, Some(&stored), &config(json!({"x": "2"})), &writer("bob", "v1"), false);
    assert_eq!(bob.expect_err("conflicts").causes.len(), 1);
}

#[test]
fn applying_an_atomic_list_again_without_its_defaults_changes_nothing() {
    let set = kind("apps", "v1", "statefulsets");
    let wanted = json!({"metadata": {"name": "web"}, "spec": {"volumeClaimTemplates": [
        {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]}});
    let me = writer("me", "apps/v1");
    let mut one = apply(&set, None, &wanted, &me, false).expect("applies");
    crate::builtin::default(&set, &mut one);
    let later = Writer { now: "2027-01-01T00:00:00Z".parse().expect("a time"), ..me };
    let mut two = apply(&set, Some(&one), &wanted, &later, false).expect("applies");
    crate::builtin::default(&set, &mut two);
    keep_times(&one, &mut two);
    assert_eq!(two, one);
    let mut three = one.clone();
    three["spec"]["replicas"] = json!(5);
    let changed = three.clone();
    keep_times(&one, &mut three);
    assert_eq!(three, changed);
}
