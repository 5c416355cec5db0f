//! What Kruise's kinds have beside the others: units of a partition, and a pause of their own.

use super::*;

/// As one of Kruise's stands in release, of five Pods; its own partition was 0.
pub(super) fn kruise(within: Option<&str>, partition: Value) -> Value {
    let bounds = json!({"partition": partition, "paused": false});
    let strategy = within.map_or(bounds.clone(), |within| json!({within: bounds}));
    let own = within.map_or_else(|| json!({"partition": 0}), |it| json!({it: {"partition": 0}}));
    let stamp = partition.as_str().map_or_else(|| partition.to_string(), str::to_owned);
    let marks = [(IN_PROGRESSING, "m"), (CONTROL_INFO, "c"), (HELD_PARTITION, stamp.as_str())];
    let mut object = object(json!({"replicas": 5, "updateStrategy": strategy}));
    object["status"] = json!({"desiredNumberScheduled": 5});
    annotated(&annotated(&object, &marks), &[(ORIGINAL_STRATEGY, &own.to_string())])
}

#[test]
fn kruises_workloads_stay_held_in_whatever_units_and_what_is_asked_for_is_kept() {
    fn check(kind: Kind, within: Option<&str>, held: Value, asked: Value, stays: Value) {
        let object = kruise(within, held);
        let write = |partition: &Value| {
            let bounds = json!({"partition": partition});
            let strategy = within.map_or(bounds.clone(), |within| json!({within: bounds}));
            json!({"spec": {"updateStrategy": strategy}})
        };
        let bounds = json!({"partition": asked, "paused": false});
        let own = within.map_or(bounds.clone(), |within| json!({within: bounds}));
        let own = json!({"metadata": {"annotations": {ORIGINAL_STRATEGY: own.to_string()}}});
        let expect = with(&write(&stays), own);
        kept(kind, &object, write(&asked), KeepHeld::default(), expect);
    }
    let (clones, sets) = (Kind::CloneSet, Kind::AdvancedStatefulSet);
    check(clones, None, json!("80%"), json!(3), json!("80%"));
    check(clones, None, json!("80%"), json!("60%"), json!("80%"));
    check(clones, None, json!("80%"), json!("75%"), json!("75%"));
    check(clones, None, json!("100%"), json!("99%"), json!("100%"));
    check(clones, None, json!("100%"), json!(9), json!("100%"));
    check(clones, None, json!(3), json!("40%"), json!(3));
    check(clones, None, json!(3), json!("100%"), json!("100%"));
    let within = Some("rollingUpdate");
    check(sets, within, json!(4), json!(2), json!(4));
    check(sets, within, json!(4), json!(9), json!(9));
    check(Kind::AdvancedDaemonSet, within, json!(2), json!("40%"), json!("40%"));
    check(Kind::AdvancedDaemonSet, within, json!(2), json!("39%"), json!(2));
}

#[test]
fn a_partition_of_a_cloneset_is_written_as_a_percentage_where_one_comes_to_it() {
    fn check(replicas: u32, pods: u32, percent: Option<u32>, expect: Value) {
        let live = object(json!({"replicas": replicas, "updateStrategy": {}}));
        let hand = Kind::CloneSet.adapter().hand;
        let strategy = Strategy::RollingUpdate { partition: pods };
        let patch = hand.set_strategy(&live, strategy, percent).unwrap();
        assert_eq!(patch["spec"]["updateStrategy"]["partition"], expect, "{pods} of {replicas}");
        let written = with(&live, patch);
        let body = &written["spec"]["updateStrategy"]["partition"];
        let read = count(body).unwrap().of_deployment(replicas);
        assert_eq!(read, pods.min(replicas), "read again, {pods} of {replicas}");
    }
    check(10, 8, Some(80), json!("80%"));
    check(10, 7, None, json!("70%"));
    check(7, 5, None, json!("71%"));
    // All but one, of however many there will be.
    check(5, 4, None, json!("99%"));
    check(28, 27, None, json!("99%"));
    // None comes to these.
    check(250, 167, None, json!(167));
    check(1000, 999, None, json!(999));
    check(10, 0, None, json!(0));
    check(1, 1, None, json!("100%"));
    check(10, ABOVE_ALL, None, json!("100%"));
}

/// A pause, at its place.
pub(super) fn pause(within: Option<&str>, paused: Value) -> Value {
    let bounds = json!({ "paused": paused });
    let strategy = within.map_or(bounds.clone(), |within| json!({ within: bounds }));
    json!({"spec": {"updateStrategy": strategy}})
}

/// Kinds that know a pause, and where it stands.
pub(super) const PAUSED: [(Kind, Option<&str>); 3] = [
    (Kind::CloneSet, None),
    (Kind::AdvancedStatefulSet, Some("rollingUpdate")),
    (Kind::AdvancedDaemonSet, Some("rollingUpdate")),
];

#[test]
fn a_workload_of_kruise_that_is_paused_in_release_stays_so_until_that_is_taken_back() {
    for (kind, within) in PAUSED {
        let object = kruise(within, json!(4));
        let own = Original::Strategy(Strategy::RollingUpdate { partition: 0 });
        let given_back = |object: &Value| {
            let back = with(object, kind.adapter().hand.release(object, Some(own)));
            let strategy = back["spec"]["updateStrategy"].clone();
            within.map_or(strategy.clone(), |within| strategy[within].clone())
        };
        let new = with(&object, pause(within, json!(true)));
        let stopped = with(&new, kind.keep_held(&object, &new, KeepHeld::default()));
        assert_eq!(stopped["spec"], new["spec"], "{kind:?}");
        assert_eq!(given_back(&stopped), json!({"partition": 0, "paused": true}), "{kind:?}");
        for back in [json!(false), Value::Null] {
            let new = with(&stopped, pause(within, back));
            let found = with(&new, kind.keep_held(&stopped, &new, KeepHeld::default()));
            assert_eq!(found["spec"], new["spec"], "{kind:?}");
            assert_ne!(given_back(&found)["paused"], true, "{kind:?}");
        }
    }
}

#[test]
fn a_workload_of_kruise_that_was_paused_before_is_paused_when_it_is_given_back_unless_he_takes_it_out()
 {
    for (kind, within) in PAUSED {
        let mut object = kruise(within, json!(4));
        let bounds = json!({"partition": 0, "paused": true});
        let own = within.map_or(bounds.clone(), |within| json!({ within: bounds }));
        object["metadata"]["annotations"][ORIGINAL_STRATEGY] = json!(own.to_string());
        let object = with(&object, pause(within, json!(false)));
        // The manifest is applied again.
        let new = with(&object, pause(within, json!(true)));
        let found = with(&new, kind.keep_held(&object, &new, KeepHeld::default()));
        assert_eq!(found["spec"], object["spec"], "{kind:?}");
        let kept = |object: &Value| -> Value {
            serde_json::from_str(annotation(object, ORIGINAL_STRATEGY).unwrap()).unwrap()
        };
        assert_eq!(kept(&found), own, "{kind:?}");
        let new = with(&object, pause(within, Value::Null));
        let found = with(&new, kind.keep_held(&object, &new, KeepHeld::default()));
        let kept = kept(&found);
        assert!(within.map_or(&kept, |within| &kept[within])["paused"].is_null(), "{kind:?}");
    }
}

#[test]
fn whoever_takes_a_paused_workload_of_kruise_over_and_lets_it_move_is_let_do_so() {
    let paused = json!({"spec": {"updateStrategy": {"paused": true}}});
    let own = json!({"partition": 0, "paused": true}).to_string();
    let mut held = with(&kruise(None, json!("100%")), paused);
    held["metadata"]["annotations"] =
        json!({IN_PROGRESSING: "m", HELD_PARTITION: "100%", ORIGINAL_STRATEGY: own});
    let take = Take {
        control: "c",
        keep: None,
        held: engine::front::batch_release::Held::AsItIs,
        stable: None,
        update: "u",
    };
    let patch = Kind::CloneSet.adapter().hand.take(&held, &take);
    assert_eq!(patch["spec"], json!({"updateStrategy": {"partition": "100%", "paused": false}}));
    kept(Kind::CloneSet, &held, patch.clone(), ALL, patch);
}
