use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// Whether two values are one in memory.
fn one(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => a.is(b),
        (Value::Array(a), Value::Array(b)) => a.is(b),
        (Value::String(a), Value::String(b)) => a.is(b),
        _ => false,
    }
}

#[test]
fn a_tree_is_what_is_written_and_reads_as_its_text() {
    fn check(tree: &Value, text: &str) {
        assert_eq!(tree.to_string(), text);
        assert_eq!(serde_json::from_str::<Value>(text).ok().as_ref(), Some(tree), "{text}");
    }
    let (name, none, key) = ("web", None::<i64>, "k".to_owned());
    check(&json!(null), "null");
    check(&json!([]), "[]");
    check(&json!({}), "{}");
    check(&json!({"b": 1, "a": [null, {}, [true], name]}), r#"{"a":[null,{},[true],"web"],"b":1}"#);
    check(&json!({(key): none, "n": -1, "f": 1.5}), r#"{"f":1.5,"k":null,"n":-1}"#);
    check(&json!({"a": {"b": [{"c": 1}, 2,],},}), r#"{"a":{"b":[{"c":1},2]}}"#);
    check(
        &json!({"a": [1, 2].len(), "b": if name.is_empty() { 0 } else { 1 }}),
        r#"{"a":2,"b":1}"#,
    );
    check(&json!(BTreeMap::from([("z", vec![1]), ("a", vec![])])), r#"{"a":[],"z":[1]}"#);
    check(&json!("a\"b\n"), r#""a\"b\n""#);
}

#[test]
fn of_a_key_that_is_told_twice_the_last_counts() {
    fn check(text: &str, expect: &str) {
        let read: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(read.to_string(), expect);
    }
    check(r#"{"b":1,"a":2,"b":3}"#, r#"{"a":2,"b":3}"#);
    check(r#"{"a":1,"a":{"b":2,"b":null}}"#, r#"{"a":{"b":null}}"#);
    check(r#"{"c":1,"b":1,"c":2,"a":1,"c":3,"b":2}"#, r#"{"a":1,"b":2,"c":3}"#);
}

#[test]
fn a_pointer_leads_through_maps_and_lists() {
    let mut tree = json!({"a": [{"b/c": 1}, {"~": 2}], "": 3});
    let check = |pointer: &str, expect: Option<i64>| {
        assert_eq!(tree.pointer(pointer).and_then(Value::as_i64), expect, "{pointer}");
    };
    check("/a/0/b~1c", Some(1));
    check("/a/1/~0", Some(2));
    check("/", Some(3));
    check("/a/01/~0", None);
    check("/a/2", None);
    check("a", None);
    *tree.pointer_mut("/a/0/b~1c").expect("it is there") = json!(4);
    assert_eq!(tree["a"][0]["b/c"], 4);
    assert_eq!(tree.pointer(""), Some(&tree));
}

#[test]
fn who_changes_a_copy_changes_the_way_to_it_alone() {
    let before = json!({"spec": {"a": [1]}, "status": {"b": {"c": 1}, "d": {"e": 1}}});
    let mut after = before.clone();
    assert!(one(&before, &after));
    after["status"]["b"]["c"] = json!(2);
    after["metadata"]["name"] = json!("x");
    assert_eq!(before["status"]["b"]["c"], 1);
    assert_eq!(before.get("metadata"), None);
    assert_eq!(after["status"]["b"]["c"], 2);
    assert!(one(&before["spec"], &after["spec"]));
    assert!(one(&before["status"]["d"], &after["status"]["d"]));
    let list = after["spec"]["a"].as_array_mut().expect("a list");
    list.push(json!(2));
    assert_eq!(
        (before["spec"]["a"].to_string(), after["spec"]["a"][1].as_i64()),
        ("[1]".to_owned(), Some(2))
    );
}

#[test]
fn what_equals_a_part_of_another_tree_is_held_once() {
    let other =
        json!({"a": {"x": [1, {"y": "text"}]}, "b": {"c": "same", "d": 1}, "e": ["f", "g"]});
    let mut tree =
        json!({"a": {"x": [1, {"y": "text"}]}, "b": {"c": "same", "d": 2}, "e": ["f"], "z": 0});
    let meant = tree.to_string();
    assert!(!tree.share(&other));
    assert_eq!(tree.to_string(), meant);
    assert!(one(&tree["a"], &other["a"]));
    assert!(one(&tree["b"]["c"], &other["b"]["c"]));
    assert!(one(&tree["e"][0], &other["e"][0]));
    let mut copy: Value = serde_json::from_str(&other.to_string()).expect("JSON");
    assert!(!one(&copy, &other));
    assert!(copy.share(&other));
    assert!(one(&copy, &other));
}

#[test]
fn what_somebody_else_holds_is_shared_as_a_whole_or_not_at_all() {
    let other = json!({"same": {"a": [1]}, "not": {"a": [1], "b": 2}});
    let mut tree: Value = serde_json::from_str(&other.to_string()).expect("JSON");
    tree["not"]["b"] = json!(3);
    let held = (tree["same"].clone(), tree["not"].clone());
    assert!(!tree.share(&other));
    assert!(one(&tree["same"], &other["same"]));
    assert!(one(&tree["not"], &held.1));
    assert_eq!(held.0, other["same"]);
}

fn any() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any_bool().prop_map(serde_json::Value::from),
        (-3i64..3).prop_map(serde_json::Value::from),
        "[a-c\"\u{e9}]{0,2}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::btree_map("[a-d~/]{0,2}", inner, 0..5)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

fn any_bool() -> impl Strategy<Value = bool> {
    proptest::bool::ANY
}

proptest! {
    #[test]
    fn a_tree_is_to_others_what_its_text_is(plain in any()) {
        let tree = Value::from(plain.clone());
        prop_assert_eq!(tree.to_string(), plain.to_string());
        let read: Value = serde_json::from_str(&plain.to_string()).expect("JSON");
        prop_assert_eq!(&read, &tree);
        prop_assert_eq!(serde_json::Value::from(&tree), plain);
    }

    #[test]
    fn sharing_changes_nothing_but_where_it_is(mine in any(), theirs in any(), held in any_bool()) {
        let (mut tree, other) = (Value::from(mine.clone()), Value::from(theirs.clone()));
        let _holder = held.then(|| tree.clone());
        prop_assert_eq!(tree.share(&other), mine == theirs);
        prop_assert_eq!(tree.to_string(), mine.to_string());
        prop_assert_eq!(other.to_string(), theirs.to_string());
    }

    #[test]
    fn a_map_is_one_of_the_standard_library(writes in prop::collection::vec((any_bool(), "[a-e]", 0i64..9), 0..20)) {
        let (mut map, mut plain) = (Map::new(), BTreeMap::new());
        let mut copies = Vec::new();
        for (inserts, key, number) in writes {
            copies.push((map.clone(), plain.clone()));
            if inserts {
                let old = plain.insert(key.clone(), number);
                prop_assert_eq!(map.insert(key, number.into()), old.map(Value::from));
            } else {
                prop_assert_eq!(map.remove(&key), plain.remove(&key).map(Value::from));
            }
        }
        copies.push((map, plain));
        for (map, plain) in copies {
            prop_assert_eq!(map.len(), plain.len());
            prop_assert_eq!(tree(&map), tree(&plain));
            prop_assert!(plain.iter().all(|(key, number)| map.get(key).is_some_and(|one| one == number)));
        }
    }
}
