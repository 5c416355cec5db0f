use engine::front::batch_release::ConditionKind;

use crate::fixture::{Fixture, daemons, partition, pod, set};
use crate::said::{check, names};

fn scaled(fixture: Fixture, replicas: u32) -> Fixture {
    fixture.workload(|workload| workload.replicas = replicas)
}

#[test]
fn a_scaling_keeps_the_share_of_the_batch() {
    let first = set(5).strategy(partition(4)).updated(&[4]);
    // Nothing has been made of the new ordinals yet: the partition goes up before.
    check(&scaled(first.clone(), 10), "1 Upgrading: strategy partition 9");
    let mut made = scaled(first, 10).strategy(partition(9));
    made.world.pods.extend((5..9).map(|number| pod(number, "v1")));
    made.world.pods.push(pod(9, "v2"));
    check(&made, "1 Ready: -");
}

#[test]
fn what_the_sets_controller_made_before_is_counted_and_not_turned_back() {
    let mut made = scaled(set(5).strategy(partition(4)).updated(&[4]), 10);
    made.world.pods.extend((5..8).map(|number| pod(number, "v2")));
    let decision = check(&made, "1 Upgrading: strategy partition 10");
    let surplus = decision.status.condition(ConditionKind::Surplus).expect("surplus");
    names(&surplus.message, &["2 Pods more than the 2 of batch 1"]);
    let mut all = scaled(set(5).strategy(partition(4)).updated(&[4]), 10);
    all.world.pods.extend((5..10).map(|number| pod(number, "v2")));
    let decision = check(&all, "1 Ready: -");
    assert!(decision.status.condition(ConditionKind::Surplus).is_some());
}

#[test]
fn scaled_in_the_share_is_kept_too() {
    let second = set(10).at(1).strategy(partition(4)).updated(&[9, 8, 7, 6, 5, 4]);
    let mut fewer = scaled(second, 5);
    fewer.world.pods.retain(|pod| pod.ordinal < 5);
    check(&fewer, "2 Upgrading: open 2");
}

#[test]
fn more_nodes_are_more_of_each_batch() {
    check(&daemons(5).updated(&[0]), "1 Ready: -");
    let mut more = scaled(daemons(5).updated(&[0]), 10);
    more.world.pods.extend((5..10).map(|number| pod(number, "v2")));
    let decision = check(&more, "1 Ready: -");
    assert!(decision.status.condition(ConditionKind::Surplus).is_some());
}
