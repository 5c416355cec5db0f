//! Owners of fields after recorded writes.
#![allow(clippy::needless_pass_by_value)]

mod quirks;

use serde_json::{Value, json};

use super::*;
use crate::kind::{Custom, Registry};

const NOW: &str = "2026-11-29T21:52:13.5Z";

fn writer<'a>(manager: &'a str, api_version: &'a str) -> Writer<'a> {
    let now = NOW.parse().expect("a time");
    Writer { manager, api_version, subresource: None, now }
}

fn kind(group: &str, version: &str, plural: &str) -> Kind {
    let registry = Registry::built_in();
    (**registry.find(group, version, plural).expect("a served kind")).clone()
}

fn gadget() -> Kind {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "percent": {"type": "integer"}, "id": {"type": "string"},
            "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "rows": {"type": "array", "x-kubernetes-list-type": "map",
                     "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object",
                     "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}}}}},
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}}}});
    let mut kind = kind("", "v1", "configmaps");
    kind.group = "example.com".to_owned();
    kind.kind = "Gadget".to_owned();
    kind.plural = "gadgets".to_owned();
    kind.has_status = true;
    kind.custom = Some(Custom {
        schema,
        columns: Vec::new(),
        storage_version: "v1".to_owned(),
        conversion: None,
        crd: "gadgets.example.com".to_owned(),
    });
    kind
}

/// Each entry as `manager operation subresource` with its fields.
fn owners(object: &Value) -> Vec<(String, Value)> {
    let list = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    list.iter()
        .map(|entry| {
            let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
            let title =
                format!("{} {} {}", text("manager"), text("operation"), text("subresource"));
            (title.trim_end().to_owned(), entry["fieldsV1"].clone())
        })
        .collect()
}

#[track_caller]
fn check(object: &Value, expect: &[(&str, Value)]) {
    let expect: Vec<(String, Value)> =
        expect.iter().map(|(title, fields)| ((*title).to_owned(), fields.clone())).collect();
    assert_eq!(owners(object), expect);
}

fn config(data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "app"}, "data": data})
}

#[test]
fn a_create_owns_what_it_sets_and_the_defaults_but_no_struct_that_always_exists() {
    let mut web = json!({
        "kind": "StatefulSet", "apiVersion": "apps/v1",
        "metadata": {"name": "web", "uid": "u", "generation": 1, "labels": {"app": "web"}},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{
                    "name": "main", "ports": [{"containerPort": 80, "protocol": "TCP"}],
                    "env": [{"name": "A", "value": "1"}], "resources": {}}],
                    "securityContext": {}}},
            "updateStrategy": {"type": "OnDelete"},
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain"}},
        "status": {"replicas": 0, "availableReplicas": 0}});
    track(&kind("apps", "v1", "statefulsets"), None, &mut web, &writer("unknown", "apps/v1"));
    check(
        &web,
        &[(
            "unknown Update",
            json!({"f:metadata": {"f:labels": {".": {}, "f:app": {}}}, "f:spec": {
                "f:persistentVolumeClaimRetentionPolicy": {".": {}, "f:whenDeleted": {}},
                "f:replicas": {}, "f:selector": {},
                "f:template": {
                    "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
                    "f:spec": {"f:containers": {"k:{\"name\":\"main\"}": {
                        ".": {},
                        "f:env": {".": {}, "k:{\"name\":\"A\"}": {
                            ".": {}, "f:name": {}, "f:value": {}}},
                        "f:name": {},
                        "f:ports": {".": {}, "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {
                            ".": {}, "f:containerPort": {}, "f:protocol": {}}},
                        "f:resources": {}}},
                        "f:securityContext": {}}},
                "f:updateStrategy": {"f:type": {}}}}),
        )],
    );
    assert_eq!(web["metadata"]["managedFields"][0]["time"], "2026-11-29T21:52:13Z");
}

#[test]
fn an_update_takes_fields_over_and_leaves_the_rest() {
    let map = kind("", "v1", "configmaps");
    let mut one = config(json!({"a": "1"}));
    track(&map, None, &mut one, &writer("me", "v1"));
    check(&one, &[("me Update", json!({"f:data": {".": {}, "f:a": {}}}))]);

    let mut two = one.clone();
    two["data"] = json!({"b": "2"});
    track(&map, Some(&one), &mut two, &writer("me", "v1"));
    check(&two, &[("me Update", json!({"f:data": {".": {}, "f:b": {}}}))]);

    let mut three = two.clone();
    three["data"] = json!({"b": "2", "c": "3"});
    track(&map, Some(&two), &mut three, &writer("unknown", "v1"));
    check(
        &three,
        &[
            ("me Update", json!({"f:data": {".": {}, "f:b": {}}})),
            ("unknown Update", json!({"f:data": {"f:c": {}}})),
        ],
    );

    let mut four = config(json!({"a": "1"}));
    track(&map, Some(&three), &mut four, &writer("unknown", "v1"));
    check(
        &four,
        &[("me Update", json!({"f:data": {}})), ("unknown Update", json!({"f:data": {"f:a": {}}}))],
    );
}

#[test]
fn a_custom_object_owns_its_maps_too_and_its_status_through_the_subresource() {
    let mut a = json!({"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "a"},
        "spec": {"any": {"free": {"form": 1}}, "percent": 5}});
    track(&gadget(), None, &mut a, &writer("unknown", "example.com/v1"));
    let spec = json!({"f:spec": {".": {}, "f:any": {".": {}, "f:free": {".": {}, "f:form": {}}},
                                 "f:percent": {}}});
    check(&a, &[("unknown Update", spec.clone())]);

    let mut b = a.clone();
    b["status"] = json!({"phase": "On"});
    let status = Writer { subresource: Some("status"), ..writer("unknown", "example.com/v1") };
    track(&gadget(), Some(&a), &mut b, &status);
    check(
        &b,
        &[
            ("unknown Update", spec),
            ("unknown Update status", json!({"f:status": {".": {}, "f:phase": {}}})),
        ],
    );
}

#[test]
fn owner_references_and_finalizers_are_owned_one_by_one() {
    let mut owned = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
        "name": "owned", "finalizers": ["example.com/hold"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "e"}]}});
    track(&kind("", "v1", "configmaps"), None, &mut owned, &writer("unknown", "v1"));
    check(
        &owned,
        &[(
            "unknown Update",
            json!({"f:metadata": {
                "f:finalizers": {".": {}, "v:\"example.com/hold\"": {}},
                "f:ownerReferences": {".": {}, "k:{\"uid\":\"e\"}": {}}}}),
        )],
    );
}

#[test]
fn what_scale_wrote_is_owned_through_scale_without_a_time() {
    let set = kind("apps", "v1", "statefulsets");
    let mut old = json!({"metadata": {"name": "web"}, "spec": {"replicas": 3, "serviceName": "w"}});
    track(&set, None, &mut old, &writer("unknown", "apps/v1"));
    let mut new = old.clone();
    new["spec"]["replicas"] = json!(4);
    let scale = Writer { subresource: Some("scale"), ..writer("unknown", "apps/v1") };
    track(&set, Some(&old), &mut new, &scale);
    check(
        &new,
        &[
            ("unknown Update scale", json!({"f:spec": {"f:replicas": {}}})),
            ("unknown Update", json!({"f:spec": {"f:serviceName": {}}})),
        ],
    );
    assert!(new["metadata"]["managedFields"][0].get("time").is_none());
}

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
fn the_manager_is_the_parameter_then_the_user_agent() {
    assert_eq!(manager_name(Some("me"), Some("kubectl/v1.36")), "me");
    assert_eq!(manager_name(Some(""), Some("kubectl/v1.36 (linux)")), "kubectl");
    assert_eq!(manager_name(None, None), "unknown");
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

/// Sets of paths, small enough to overlap often.
fn some_set() -> impl proptest::strategy::Strategy<Value = FieldSet> {
    let path = proptest::collection::vec("[ab]", 1..4);
    proptest::strategy::Strategy::prop_map(proptest::collection::vec(path, 0..6), |paths| {
        let mut set = FieldSet::default();
        for path in paths {
            let mut at = &mut set;
            for segment in path {
                at = at.below(&format!("f:{segment}"));
            }
            at.member = true;
        }
        set
    })
}

type Data = std::collections::BTreeMap<String, String>;

/// What server-side apply promises, in a few lines: a key stays while somebody wants it, and whoever
/// last wanted another value is its only owner.
#[derive(Default)]
struct Model(
    std::collections::BTreeMap<String, (String, std::collections::BTreeSet<&'static str>)>,
);

impl Model {
    fn apply(&mut self, manager: &'static str, data: &Data) {
        for (key, value) in data {
            let entry = self.0.entry(key.clone()).or_default();
            if entry.0 != *value {
                *entry = (value.clone(), Default::default());
            }
            entry.1.insert(manager);
        }
        for (key, (_, owners)) in &mut self.0 {
            if !data.contains_key(key) {
                owners.remove(manager);
            }
        }
        self.0.retain(|_, (_, owners)| !owners.is_empty());
    }
}

proptest::proptest! {
    #[test]
    fn forced_applies_follow_the_model(
        steps in proptest::collection::vec(
            (proptest::sample::select(vec!["ann", "bob", "cat"]),
             proptest::collection::btree_map("[abc]", "[12]", 0..3)),
            1..8,
        )
    ) {
        let map = kind("", "v1", "configmaps");
        let (mut model, mut live) = (Model::default(), None);
        for (manager, data) in steps {
            model.apply(manager, &data);
            let mut wanted = config(json!(data));
            if data.is_empty() {
                wanted.as_object_mut().expect("an object").remove("data");
            }
            let after = apply(&map, live.as_ref(), &wanted, &writer(manager, "v1"), true);
            let after = after.expect("forced");
            let found: Data =
                serde_json::from_value(after["data"].clone()).unwrap_or_default();
            let expect: Data =
                model.0.iter().map(|(key, (value, _))| (key.clone(), value.clone())).collect();
            proptest::prop_assert_eq!(found, expect);
            for (title, fields) in owners(&after) {
                let manager = title.split(' ').next().unwrap_or_default();
                let mine = model.0.iter().filter(|(_, (_, owners))| owners.contains(manager));
                let mine: Vec<String> = mine.map(|(key, _)| format!("f:{key}")).collect();
                let found: Vec<String> = fields["f:data"]
                    .as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect();
                proptest::prop_assert_eq!(found, mine);
            }
            live = Some(after);
        }
    }

    #[test]
    fn what_is_common_and_what_is_not_make_the_whole(a in some_set(), b in some_set()) {
        let whole = a.difference(&b).union(&a.intersection(&b));
        proptest::prop_assert_eq!(whole.paths(), a.paths());
        proptest::prop_assert!(a.difference(&b).intersection(&b).is_empty());
        proptest::prop_assert_eq!(a.union(&b).paths(), b.union(&a).paths());
    }

    #[test]
    fn a_set_survives_being_written(a in some_set()) {
        proptest::prop_assert_eq!(FieldSet::from_json(&a.to_json()).paths(), a.paths());
    }
}

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

#[test]
fn a_scale_of_zero_leaves_the_number_without_an_owner() {
    let set = kind("apps", "v1", "statefulsets");
    let mut one = json!({"metadata": {"name": "a", "labels": {"l": "1"}}, "spec": {"replicas": 1}});
    let alice = writer("alice", "apps/v1");
    let scale = Writer { subresource: Some("scale"), ..writer("bob", "apps/v1") };
    track(&set, None, &mut one, &alice);
    let mut zero = one.clone();
    zero["spec"]["replicas"] = json!(0);
    track(&set, Some(&one), &mut zero, &scale);
    let left = [("alice Update", json!({"f:metadata": {"f:labels": {".": {}, "f:l": {}}}}))];
    check(&zero, &left);
    let mut two = zero.clone();
    two["spec"]["replicas"] = json!(2);
    track(&set, Some(&zero), &mut two, &scale);
    check(&two, &left);
}
