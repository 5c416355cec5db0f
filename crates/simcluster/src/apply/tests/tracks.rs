//! Who owns what after writes that are no applies.

use super::*;

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
