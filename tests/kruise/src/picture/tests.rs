use simcluster::json::json;
use simcluster::object::PODS;

use super::*;

fn pod(name: &str, uid: &str, revision: u64) -> Value {
    json!({"metadata": {
        "name": name, "namespace": "ns", "uid": uid, "resourceVersion": revision.to_string(),
    }})
}

fn key(name: &str) -> Key {
    Key::new(PODS, "ns", name)
}

/// Two Pods as of revision 10.
fn listed() -> Picture {
    let mut picture = Picture::of([PODS]);
    assert!(!picture.is_whole());
    let objects = vec![pod("a", "1", 5), pod("b", "2", 6)];
    assert_eq!(picture.take(&PODS, Told::All { objects, revision: 10, asked: 0 }).len(), 2);
    assert!(picture.is_whole());
    picture
}

/// What a change says of a name, before and after.
fn words(changes: &[Change]) -> Vec<(&str, u64, u64)> {
    let at = |object: &Option<Object>| object.as_deref().map_or(0, revision);
    changes.iter().map(|c| (c.key.name.as_str(), at(&c.before), at(&c.after))).collect()
}

#[test]
fn what_a_new_list_no_longer_has_is_gone_and_what_it_has_as_before_is_no_change() {
    let mut picture = listed();
    let objects = vec![pod("b", "2", 6), pod("c", "3", 12)];
    let changes = picture.take(&PODS, Told::All { objects, revision: 12, asked: 1 });
    assert_eq!(words(&changes), [("a", 5, 0), ("c", 0, 12)]);
}

#[test]
fn an_object_never_goes_back_in_time() {
    let mut picture = listed();
    assert_eq!(words(&picture.take(&PODS, Told::There(pod("a", "1", 4)))), []);
    assert_eq!(words(&picture.take(&PODS, Told::There(pod("a", "1", 11)))), [("a", 5, 11)]);
    assert_eq!(words(&picture.take(&PODS, Told::Gone(pod("a", "1", 13)))), [("a", 11, 0)]);
    assert_eq!(words(&picture.take(&PODS, Told::Gone(pod("a", "1", 13)))), []);
}

#[test]
fn what_was_written_is_shown_once_the_watch_is_as_far() {
    let mut picture = listed();
    let written = Owed::Reached(PODS, 12);
    assert!(picture.shows(&Owed::Reached(PODS, 10)));
    assert!(!picture.shows(&written));
    picture.take(&PODS, Told::There(pod("a", "1", 11)));
    assert!(!picture.shows(&written));
    picture.take(&PODS, Told::Reached(12));
    assert!(picture.shows(&written));
}

#[test]
fn what_was_deleted_is_shown_when_it_goes_is_gone_or_is_another() {
    let mut picture = listed();
    let deleted = Owed::Going(key("a"), "1".to_owned());
    assert!(!picture.shows(&deleted));
    let mut going = pod("a", "1", 11);
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    picture.take(&PODS, Told::There(going));
    assert!(picture.shows(&deleted));
    picture.take(&PODS, Told::There(pod("a", "7", 12)));
    assert!(picture.shows(&deleted));
    assert!(!picture.shows(&Owed::Going(key("a"), "7".to_owned())));
    picture.take(&PODS, Told::Gone(pod("a", "7", 13)));
    assert!(picture.shows(&Owed::Going(key("a"), "7".to_owned())));
}

#[test]
fn after_a_lost_answer_only_a_list_that_began_later_will_do() {
    let mut picture = listed();
    let owed = Owed::Listed(PODS, 1);
    picture.take(&PODS, Told::All { objects: vec![], revision: 20, asked: 0 });
    assert!(!picture.shows(&owed));
    picture.take(&PODS, Told::All { objects: vec![], revision: 20, asked: 1 });
    assert!(picture.shows(&owed));
}

#[test]
fn a_look_where_no_watch_looks_is_noticed() {
    let picture = listed();
    assert!(picture.get(&key("a")).is_some());
    assert_eq!(picture.blind_spot(), None);
    let nodes = simcluster::object::NODES;
    assert_eq!(picture.list(&nodes, None).count(), 0);
    assert_eq!(picture.blind_spot(), Some(nodes));
    assert_eq!(picture.blind_spot(), None);
}
