//! Applies to what nobody was noted for, and applies that leave nothing.

use super::*;

#[test]
fn an_emptied_map_ends_as_null_in_a_custom_object_and_is_gone_in_others() {
    let map = kind("", "v1", "configmaps");
    let alice = writer("alice", "v1");
    let one = apply(&map, None, &config(json!({"x": "1"})), &alice, false).expect("applies");
    let two = apply(&map, Some(&one), &config(json!({})), &alice, false).expect("empties");
    assert!(two.get("data").is_none());
    check(&two, &[("alice Apply", json!({"f:data": {}}))]);
    let mut gadget = gadget();
    let notes = json!({"type": "object", "additionalProperties": {"type": "string"}});
    gadget.custom.as_mut().expect("a custom kind").schema = json!({
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"notes": notes}}},
    });
    let with = |notes: Value| {
        json!({
            "apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "a"},
            "spec": {"notes": notes},
        })
    };
    let alice = writer("alice", "example.com/v1");
    let one = apply(&gadget, None, &with(json!({"x": "1"})), &alice, false).expect("applies");
    let two = apply(&gadget, Some(&one), &with(json!({})), &alice, false).expect("empties");
    assert_eq!(two["spec"], json!({"notes": null}));
    assert_eq!(two["metadata"]["name"], "a");
}

#[test]
fn what_nobody_was_noted_for_belongs_to_before_first_apply() {
    let map = kind("", "v1", "configmaps");
    let live = config(json!({"x": "1"}));
    let mut changed = config(json!({"x": "2"}));
    track(&map, Some(&live), &mut changed, &writer("bob", "v1"));
    check(&changed, &[]);
    let alice = writer("alice", "v1");
    let applied = apply(&map, Some(&live), &config(json!({"y": "1"})), &alice, false);
    check(
        &applied.expect("applies"),
        &[
            ("alice Apply", json!({"f:data": {"f:y": {}}})),
            ("before-first-apply Update", json!({"f:data": {".": {}, "f:x": {}}})),
        ],
    );
}
