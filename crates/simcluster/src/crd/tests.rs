//! What a real server did with a recorded definition and its objects.

use super::*;
use crate::error::ApiError;
use crate::json::{Value, json};
use crate::kind::{Custom, Kind, Registry};

fn schema() -> Value {
    json!({"type": "object", "required": ["spec"], "properties": {
        "spec": {"type": "object", "required": ["percent"], "x-kubernetes-validations": [
            {"rule": "!has(self.low) || self.low <= self.percent",
             "message": "low must not exceed percent"},
            {"rule": "!has(oldSelf.id) || self.id == oldSelf.id", "message": "id is immutable",
             "fieldPath": ".id"}],
            "properties": {
                "percent": {"type": "integer", "minimum": 0, "maximum": 100},
                "low": {"type": "integer"}, "id": {"type": "string"},
                "replicas": {"type": "integer", "default": 1},
                "mode": {"type": "string", "enum": ["A", "B"], "default": "A"},
                "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                "many": {"x-kubernetes-int-or-string": true}}},
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}}}})
}

fn gadgets() -> Kind {
    let registry = Registry::built_in();
    let mut kind = (**registry.find("", "v1", "configmaps").expect("served")).clone();
    kind.group = "example.com".to_owned();
    kind.kind = "Gadget".to_owned();
    kind.custom = Some(Custom {
        schema: schema(),
        columns: Vec::new(),
        storage_version: "v1".to_owned(),
        conversion: None,
        crd: "gadgets.example.com".to_owned(),
    });
    kind
}

/// The message after creating `b` with this spec, or changing it from `old`.
#[track_caller]
fn check(spec: &Value, old: Option<&Value>, expect: &str) {
    let object = |spec: &Value| json!({"metadata": {"name": "b"}, "spec": spec});
    let (new, old) = (object(spec), old.map(object));
    let causes = validate(&schema(), &new, old.as_ref());
    if causes.is_empty() {
        assert_eq!("", expect);
        return;
    }
    let message = ApiError::invalid(&gadgets(), "b", causes).message;
    assert_eq!(message, format!("Gadget.example.com \"b\" is invalid: {expect}"));
}

const UNCHECKED: &str = "<nil>: Invalid value: null: some validation rules were not checked \
                         because the object was invalid; correct the existing errors to complete \
                         validation";

#[test]
fn unknown_fields_are_dropped_but_not_where_they_are_preserved() {
    let mut object = json!({"apiVersion": "example.com/v1", "metadata": {"name": "a"},
        "spec": {"percent": 5, "nope": 1, "any": {"free": {"form": 1}}, "many": "10%"}});
    assert_eq!(prune(&schema(), &mut object), ["spec.nope"]);
    apply_defaults(&schema(), &mut object);
    assert_eq!(
        object["spec"],
        json!({"any": {"free": {"form": 1}}, "many": "10%", "mode": "A", "percent": 5,
               "replicas": 1})
    );
}

#[test]
fn objects_are_refused_as_recorded() {
    check(
        &json!({"percent": 101}),
        None,
        "spec.percent: Invalid value: 101: spec.percent in body should be less than or equal to \
         100",
    );
    check(
        &json!({"low": "x"}),
        None,
        &format!(
            "[spec.low: Invalid value: \"string\": spec.low in body must be of type integer: \
             \"string\", spec.percent: Required value, {UNCHECKED}]"
        ),
    );
    check(
        &json!({"percent": 1, "mode": "Z"}),
        None,
        &format!(
            "[spec.mode: Unsupported value: \"Z\": supported values: \"A\", \"B\", {UNCHECKED}]"
        ),
    );
    check(
        &json!({"percent": 1, "low": 2}),
        None,
        "spec: Invalid value: low must not exceed percent",
    );
    check(&json!({"percent": 1, "many": 3}), None, "");
}

#[test]
fn a_transition_rule_holds_on_updates_only() {
    check(&json!({"percent": 1, "id": "x"}), None, "");
    check(
        &json!({"percent": 1, "id": "y"}),
        Some(&json!({"percent": 1, "id": "x"})),
        "spec.id: Invalid value: id is immutable",
    );
}

#[test]
fn what_did_not_change_is_not_held_against_an_update() {
    let bad = json!({"percent": 101});
    check(&bad, Some(&bad), "");
    check(&json!({"percent": 101, "replicas": 2}), Some(&bad), "");
}

#[track_caller]
fn check_definition(schema: &Value, expect: &[(&str, &str)]) {
    let crd = json!({"metadata": {"name": "bads.example.com"}, "spec": {
        "group": "example.com", "scope": "Namespaced", "names": {"plural": "bads", "kind": "Bad"},
        "versions": [{"name": "v1", "served": true, "storage": true,
                      "schema": {"openAPIV3Schema": schema}}]}});
    let got = super::check(&crd);
    let got: Vec<(&str, &str)> =
        got.iter().map(|cause| (cause.field.as_str(), cause.message.as_str())).collect();
    assert_eq!(got, expect);
}

#[test]
fn a_definition_must_be_structural() {
    check_definition(&schema(), &[]);
    check_definition(
        &json!({"type": "object", "properties": {"x": {"type": "array"}}}),
        &[(
            "spec.validation.openAPIV3Schema.properties[x].items",
            "Required value: must be specified",
        )],
    );
    check_definition(
        &json!({"type": "object", "properties": {"x": {"description": "no type"}}}),
        &[(
            "spec.validation.openAPIV3Schema.properties[x].type",
            "Required value: must not be empty for specified object fields",
        )],
    );
}

#[test]
fn a_rule_that_does_not_compile_is_refused() {
    let crd = json!({"metadata": {"name": "bads.example.com"}, "spec": {
        "group": "example.com", "scope": "Namespaced", "names": {"plural": "bads", "kind": "Bad"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
            "openAPIV3Schema": {"type": "object",
                                "x-kubernetes-validations": [{"rule": "self.x >"}]}}}]}});
    let causes = super::check(&crd);
    assert_eq!(causes.len(), 1);
    assert_eq!(causes[0].field, "spec.validation.openAPIV3Schema.x-kubernetes-validations[0].rule");
}

#[test]
fn names_of_a_definition_get_their_defaults() {
    let mut crd = json!({"spec": {"names": {"plural": "gadgets", "kind": "Gadget"}}});
    default_definition(&mut crd);
    assert_eq!(
        crd["spec"],
        json!({"names": {"plural": "gadgets", "kind": "Gadget", "singular": "gadget",
                         "listKind": "GadgetList"}, "conversion": {"strategy": "None"}})
    );
}

#[test]
fn a_rule_sees_what_it_names_and_a_rule_at_the_root_has_no_path() {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "a": {"type": "integer"}, "b": {"type": "integer"}, "more": {"type": "object",
                "x-kubernetes-preserve-unknown-fields": true}},
            "x-kubernetes-validations": [
                {"rule": "self.a < self.b", "messageExpression": "'a is ' + string(self.a)"},
                {"rule": "size(self) < 4", "message": "too many"},
                {"rule": "!has(oldSelf.b) || self.b >= oldSelf.b", "reason": "FieldValueForbidden",
                 "message": "b only grows"}]}},
        "x-kubernetes-validations": [
            {"rule": "self.metadata.name != 'bad'", "message": "not that name"}]});
    let object = |name: &str, spec: Value| json!({"metadata": {"name": name}, "spec": spec});
    let found = |new: &Value, old: Option<&Value>| -> Vec<(String, String)> {
        let causes = validate(&schema, new, old);
        causes.into_iter().map(|cause| (cause.field, cause.message)).collect()
    };
    let pair = |field: &str, message: &str| (field.to_owned(), message.to_owned());
    assert_eq!(found(&object("ok", json!({"a": 1, "b": 2})), None), []);
    assert_eq!(
        found(&object("bad", json!({"a": 3, "b": 2, "more": {"x": 1}})), None),
        [pair("<nil>", "Invalid value: not that name"), pair("spec", "Invalid value: a is 3")]
    );
    let old = object("bad", json!({"a": 1, "b": 5}));
    assert_eq!(
        found(&object("bad", json!({"a": 1, "b": 4, "more": {}})), Some(&old)),
        [pair("spec", "Forbidden: b only grows")]
    );
    assert_eq!(
        found(&object("ok", json!({"a": 1, "b": 2, "more": {}, "c": 1})), None),
        [pair("spec", "Invalid value: too many")]
    );
}

#[test]
fn rows_of_a_list_map_are_compared_by_their_keys() {
    let schema = json!({"type": "object", "properties": {"rows": {"type": "array",
        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
        "items": {"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"}, "n": {"type": "integer", "x-kubernetes-validations": [
                {"rule": "self >= oldSelf", "message": "n only grows"}]}}}}}});
    let old = json!({"rows": [{"name": "a", "n": 1}, {"name": "b", "n": 5}]});
    let moved = json!({"rows": [{"name": "b", "n": 5}, {"name": "a", "n": 2}]});
    assert_eq!(validate(&schema, &moved, Some(&old)), []);
    let less = json!({"rows": [{"name": "b", "n": 4}]});
    let causes = validate(&schema, &less, Some(&old));
    assert_eq!(causes.len(), 1);
    assert_eq!(causes[0].field, "rows[0].n");
    let twice = json!({"rows": [{"name": "a"}, {"name": "a"}]});
    assert_eq!(validate(&schema, &twice, None)[0].message, "Duplicate value: {\"name\":\"a\"}");
}
