use super::*;

fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).expect("short");
    let tag = match number {
        ..16 => vec![number << 3 | 2],
        _ => vec![number << 3 | 0x82, number >> 4],
    };
    [tag.as_slice(), &[length], bytes].concat()
}

fn body(version: &str, kind: &str, object: &[u8]) -> Vec<u8> {
    let type_meta = [field(1, version.as_bytes()), field(2, kind.as_bytes())].concat();
    [MAGIC.to_vec(), field(1, &type_meta), field(2, object)].concat()
}

#[test]
fn a_config_map_is_read_with_its_data() {
    let data = [field(1, b"a"), field(2, b"b")].concat();
    let object = [field(1, &field(1, b"cm")), field(2, &data)].concat();
    let expected = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "cm"},
        "data": {"a": "b"},
    });
    assert_eq!(decode(&body("v1", "ConfigMap", &object)), Ok(expected));
}

#[test]
fn a_pointer_to_zero_is_kept_and_a_plain_zero_is_not() {
    // replicas (1, a pointer), minReadySeconds (5, none).
    let spec = [0x08, 0, 0x28, 0];
    let object = field(2, &spec);
    let decoded = decode(&body("apps/v1", "Deployment", &object)).expect("it is known");
    assert_eq!(decoded["spec"], json!({"replicas": 0}));
}

#[test]
fn a_budget_of_nothing_is_no_budget_without_a_limit() {
    // maxUnavailable (3) as the number 0: its kind (1), the number (2), no text (3).
    let object = field(2, &field(3, &[0x08, 0, 0x10, 0, 0x1a, 0]));
    let decoded = decode(&body("policy/v1", "PodDisruptionBudget", &object)).expect("it is known");
    assert_eq!(decoded["spec"], json!({"maxUnavailable": 0}));
}

#[test]
fn what_go_embeds_stands_beside_the_other_fields() {
    // volumes (1) of a PodSpec: name (1), volumeSource (2) with emptyDir (2).
    let volume = [field(1, b"v"), field(2, &field(2, b""))].concat();
    let object = field(2, &field(1, &volume));
    let decoded = decode(&body("v1", "Pod", &object)).expect("it is known");
    assert_eq!(decoded["spec"]["volumes"], json!([{"name": "v", "emptyDir": {}}]));
}

#[test]
fn what_is_cut_off_or_unknown_is_not_guessed() {
    let whole = body("v1", "Namespace", &field(1, &field(1, b"a")));
    assert!(decode(&whole).is_ok());
    assert!(decode(&whole[..whole.len() - 1]).is_err());
    assert!(decode(&body("example.com/v1", "Boat", b"")).is_err());
}

#[test]
fn every_built_in_kind_that_can_be_made_is_understood() {
    let registry = crate::kind::Registry::built_in();
    for kind in registry.iter().filter(|kind| kind.custom.is_none()) {
        let decoded = decode(&body(&kind.api_version(), &kind.kind, &field(1, &field(1, b"a"))));
        let name = decoded.map(|object| object["metadata"]["name"].clone());
        assert_eq!(name, Ok(json!("a")), "{} {}", kind.api_version(), kind.kind);
    }
}

#[test]
fn options_of_a_delete_are_known_in_every_group_that_a_client_is_for() {
    fn check(version: &str) {
        let decoded = decode(&body(version, "DeleteOptions", &field(4, b"Foreground")));
        let policy = decoded.map(|options| options["propagationPolicy"].clone());
        assert_eq!(policy, Ok(json!("Foreground")), "{version}");
    }
    for version in ["v1", "apps/v1", "meta.k8s.io/v1", "autoscaling/v2"] {
        check(version);
    }
}

#[test]
fn a_moment_keeps_the_digits_that_its_type_has() {
    // A Lease: spec (2) with renewTime (4), seconds (1) and nanoseconds (2).
    let moment = [vec![0x08, 0x3c, 0x10], vec![0x80, 0xad, 0xe2, 0x04]].concat();
    let lease = field(2, &field(4, &moment));
    let decoded = decode(&body("coordination.k8s.io/v1", "Lease", &lease)).expect("it is known");
    assert_eq!(decoded["spec"]["renewTime"], "1970-01-01T00:01:00.010000Z");
    // metadata (1) of a Pod with deletionTimestamp (9).
    let pod = field(1, &field(9, &moment));
    let decoded = decode(&body("v1", "Pod", &pod)).expect("it is known");
    assert_eq!(decoded["metadata"]["deletionTimestamp"], "1970-01-01T00:01:00Z");
}

#[test]
fn a_schema_of_one_of_several_forms_is_the_form_that_it_has() {
    fn check(number: u8, one: &[u8], expect: &Value) {
        // spec (2), versions (7), schema (4), openAPIV3Schema (1).
        let schema = field(4, &field(1, &field(number, one)));
        let crd = field(2, &field(7, &schema));
        let version = "apiextensions.k8s.io/v1";
        let decoded =
            decode(&body(version, "CustomResourceDefinition", &crd)).expect("it is known");
        let schema = &decoded["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        let found = schema.as_object().and_then(|schema| schema.values().next());
        assert_eq!(found, Some(expect));
    }
    let text = field(5, b"string");
    // default (8) is any JSON; items (24) one schema or several; additionalProperties (30) one or a truth.
    check(8, &field(1, b"3"), &json!(3));
    check(24, &field(1, &text), &json!({"type": "string"}));
    check(24, &field(2, &text), &json!([{"type": "string"}]));
    check(30, &[0x08, 1], &json!(true));
    check(30, &[0x08, 0], &json!(false));
    check(30, &[&[0x08, 1], field(2, &text).as_slice()].concat(), &json!({"type": "string"}));
}
