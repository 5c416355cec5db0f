use super::*;
use crate::object::PODS;

fn pod(namespace: &str, name: &str, owner: &str) -> (Key, Value) {
    let mut object = json!({"metadata": {"namespace": namespace, "name": name}});
    if !owner.is_empty() {
        object["metadata"]["ownerReferences"] = json!([{"uid": owner, "controller": true}]);
    }
    (Key::new(PODS, namespace, name), object)
}

fn names<'a>(objects: impl Iterator<Item = &'a Object>) -> Vec<String> {
    objects.map(|one| format!("{}/{}", object::namespace(one), object::name(one))).collect()
}

fn filled(pods: &[(&str, &str, &str)]) -> Store {
    let mut store = Store::new(3);
    for (namespace, name, owner) in pods {
        let (key, object) = pod(namespace, name, owner);
        store.put(key, object);
    }
    store
}

#[test]
fn a_list_goes_on_after_any_place_even_one_that_is_gone() {
    let store = filled(&[("b", "1", ""), ("a", "2", ""), ("a", "1", ""), ("b", "3", "")]);
    let check = |namespace, after, expect: &[&str]| {
        assert_eq!(names(store.list_after(&PODS, namespace, after)), expect, "{after:?}");
    };
    check(None, None, &["a/1", "a/2", "b/1", "b/3"]);
    check(None, Some(("a", "2")), &["b/1", "b/3"]);
    check(None, Some(("b", "2")), &["b/3"]);
    check(Some("b"), None, &["b/1", "b/3"]);
    check(Some("b"), Some(("b", "1")), &["b/3"]);
    check(Some("c"), None, &[]);
}

#[test]
fn the_index_by_controller_follows_adoption_release_and_removal() {
    let mut store = filled(&[("a", "1", "x"), ("a", "2", "x"), ("a", "3", "")]);
    assert_eq!(names(store.controlled_by(&PODS, "x")), ["a/1", "a/2"]);
    let (key, adopted) = pod("a", "3", "x");
    store.put(key, adopted);
    let (key, released) = pod("a", "1", "");
    store.put(key, released);
    store.remove(&Key::new(PODS, "a", "2"));
    assert_eq!(names(store.controlled_by(&PODS, "x")), ["a/3"]);
    assert_eq!(names(store.controlled_by(&PODS, "y")), Vec::<String>::new());
    assert_eq!(names(store.controlled_by(&PODS, "")), ["a/1"]);
}

#[test]
fn what_an_object_has_in_common_with_another_of_its_owner_and_with_what_it_was_is_held_once() {
    let mut store = Store::new(10);
    let mut put = |name: &str, phase: &str| {
        let (key, mut object) = pod("a", name, "x");
        object["spec"] = json!({"containers": [{"image": "app:v1"}]});
        object["status"] = json!({"phase": phase});
        store.put(key, object)
    };
    let (first, second, changed) = (put("1", "New"), put("2", "New"), put("2", "Up"));
    // Each spec was made anew: only one in memory is left of them.
    let place = |object: &Object| std::ptr::from_ref(&object["spec"]["containers"][0]);
    assert_eq!(place(&first), place(&second));
    assert_eq!(place(&first), place(&changed));
    assert_eq!(
        (&first["status"]["phase"], &changed["status"]["phase"]),
        (&json!("New"), &json!("Up"))
    );
}

#[test]
fn the_log_keeps_as_much_as_the_window_and_says_when_something_is_gone() {
    let mut store = filled(&[("a", "1", ""), ("a", "2", ""), ("a", "3", ""), ("a", "4", "")]);
    let first = store.revision() - 3;
    let check = |store: &Store, after, expect: Option<usize>| {
        assert_eq!(store.log_of(&PODS, after).map(|log| log.len()), expect, "after {after}");
    };
    check(&store, first - 1, None);
    check(&store, first, Some(3));
    store.compact();
    check(&store, store.revision() - 1, None);
    check(&store, store.revision(), Some(0));
}

#[test]
fn a_removal_is_shown_as_the_last_content_under_a_version_of_its_own() {
    let mut store = filled(&[("a", "1", "")]);
    let before = store.remove(&Key::new(PODS, "a", "1")).expect("it was there");
    let log = store.log_of(&PODS, store.revision() - 1).expect("in the window");
    assert_ne!(object::resource_version(&before), object::resource_version(&log[0].shown));
    assert_eq!(object::resource_version(&log[0].shown), store.revision().to_string());
}

#[test]
fn orphans_and_the_selected_are_those_of_their_namespace_and_no_others() {
    let mut store = Store::new(100);
    for (namespace, name, owner, app) in [
        ("a", "1", "", "web"),
        ("a", "2", "x", "web"),
        ("a", "3", "", "db"),
        ("b", "1", "", "web"),
        ("b", "2", "x", "db"),
    ] {
        let (key, mut object) = pod(namespace, name, owner);
        object["metadata"]["labels"] =
            json!({"app": app, "statefulset.kubernetes.io/pod-name": name});
        store.put(key, object);
    }
    assert_eq!(names(store.orphans(&PODS, "a")), ["a/1", "a/3"]);
    assert_eq!(names(store.orphans(&PODS, "b")), ["b/1"]);
    assert_eq!(names(store.orphans(&PODS, "c")), Vec::<String>::new());
    let check = |store: &Store, selector: Value, expect: &[&str]| {
        assert_eq!(names(store.selected(&PODS, "a", &selector)), expect, "{selector}");
    };
    check(&store, json!({"matchLabels": {"app": "web"}}), &["a/1", "a/2"]);
    check(&store, json!({"matchLabels": {"app": "none"}}), &[]);
    check(&store, json!({}), &["a/1", "a/2", "a/3"]);
    check(&store, Value::Null, &[]);
    let alone = json!({"statefulset.kubernetes.io/pod-name": "2", "app": "web"});
    check(&store, json!({"matchLabels": alone}), &["a/2"]);
    let absent = json!([{"key": "app", "operator": "NotIn", "values": ["db"]}]);
    check(&store, json!({"matchExpressions": absent}), &["a/1", "a/2"]);
    store.remove(&Key::new(PODS, "a", "1"));
    check(&store, json!({"matchLabels": {"app": "web"}}), &["a/2"]);
}

#[test]
fn the_labelled_go_on_after_a_place_and_are_kept_of_pods_alone() {
    let mut store = Store::new(100);
    for (namespace, name) in [("a", "1"), ("a", "2"), ("b", "1"), ("c", "1")] {
        let (key, mut object) = pod(namespace, name, "");
        object["metadata"]["labels"] = json!({"app": "web"});
        store.put(key, object);
    }
    let check = |namespace, after, expect: &[&str]| {
        let found = store.labelled_after(&PODS, namespace, after, ("app", "web"));
        assert_eq!(names(found.expect("it is kept")), expect, "{after:?}");
    };
    check(None, None, &["a/1", "a/2", "b/1", "c/1"]);
    check(None, Some(("a", "1")), &["a/2", "b/1", "c/1"]);
    check(None, Some(("aa", "1")), &["b/1", "c/1"]);
    check(Some("a"), Some(("a", "1")), &["a/2"]);
    let other = Collection::known("", "configmaps");
    assert!(store.labelled_after(&other, None, None, ("app", "web")).is_none());
    assert_eq!(store.count_after(&PODS, None, ("a", "1")), 3);
    assert_eq!(store.count_after(&PODS, Some("a"), ("a", "1")), 1);
}
