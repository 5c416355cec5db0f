use super::*;

fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).expect("short");
    [&[number << 3 | 2, length], bytes].concat()
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
    assert_eq!(decode(&body("v1", "ConfigMap", &object)), Some(expected));
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
    assert!(decode(&whole).is_some());
    assert_eq!(decode(&whole[..whole.len() - 1]), None);
    assert_eq!(decode(&body("example.com/v1", "Boat", b"")), None);
}
