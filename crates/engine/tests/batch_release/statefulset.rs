use engine::world::{ApplyRefused, Refusal};

use crate::fixture::{ago, ahead, noon, on_delete, partition, percent, pods, set, uid};
use crate::said::{check, names};

#[test]
fn without_a_budget_the_batch_is_opened_at_once_and_the_sets_own_controller_sets_the_pace() {
    check(&set(10).at(1), "2 Upgrading: open 4");
    let waits = set(10).at(1).strategy(partition(4)).updated(&[9, 8]).starting(7);
    let decision = check(&waits, "2 Upgrading: -");
    names(&decision.status.message, &["3 of 6 Pods", "web-7"]);
}

#[test]
fn inside_a_budget_a_batch_goes_in_parallel() {
    let batch = set(10).at(1).budget(3);
    check(&batch, "2 Upgrading: open 7");
    check(&batch.clone().strategy(partition(7)), "2 Upgrading: evict 9 8 7");
    let next = batch.strategy(partition(7)).updated(&[9, 8, 7]);
    check(&next, "2 Upgrading: open 4");
}

#[test]
fn no_more_move_than_the_batch_has() {
    check(&set(10).budget(5), "1 Upgrading: open 8");
    check(&set(10).budget(5).strategy(partition(8)), "1 Upgrading: evict 9 8");
    check(&set(10).budget(5).strategy(partition(8)).updated(&[9, 8]), "1 Ready: -");
}

#[test]
fn counts_and_percentages_may_be_mixed() {
    let steps = [percent(20), pods(5), percent(100)];
    let set = set(10).batches(&steps);
    check(&set, "1 Upgrading: open 8");
    let second = set.at(1).strategy(partition(8)).updated(&[9, 8]);
    check(&second, "2 Upgrading: open 5");
    let third = second.at(2).strategy(partition(5)).updated(&[7, 6, 5]);
    check(&third, "3 Upgrading: open 0");
}

#[test]
fn a_broken_batch_stops_the_rest() {
    let broken = set(10).at(1).budget(3).strategy(partition(7)).updated(&[9, 8]).broken(7);
    let decision = check(&broken, "2 Upgrading: -");
    names(&decision.status.message, &["web-7", "ImagePullBackOff"]);
}

#[test]
fn on_delete_goes_by_eviction() {
    check(&on_delete(10).budget(3), "1 Upgrading: evict 9 8");
    check(&on_delete(10).at(1).budget(3), "2 Upgrading: evict 9 8 7");
    check(&on_delete(10), "1 Upgrading: evict 9");
    check(&on_delete(10).unready(3).budget(3), "1 Upgrading: evict 3 9");
    check(&on_delete(10).budget(3).updated(&[9, 8]), "1 Ready: -");
}

#[test]
fn what_somebody_else_does_to_the_partition_is_put_right() {
    let lowered = set(10).strategy(partition(0)).updated(&[9, 8]);
    check(&lowered, "1 Upgrading: strategy partition 8");
    let raised = set(10).at(1).strategy(partition(10)).updated(&[9, 8]);
    check(&raised, "2 Upgrading: open 4");
}

#[test]
fn a_write_that_is_refused_is_told_and_tried_again_later() {
    let refused = set(10).with(|world| {
        let message = "denied by policy".into();
        world.outcome.apply_refused =
            Some(ApplyRefused { hash: String::new(), invalid: false, message });
        world.outcome.acted_at = Some(ago(5));
    });
    let decision = check(&refused, "1 Upgrading: -");
    names(&decision.status.message, &["StatefulSet web", "denied by policy"]);
    assert_eq!(decision.wake, Some(ahead(25)));
    check(&refused.with(|world| world.outcome.acted_at = Some(ago(30))), "1 Upgrading: open 8");
}

#[test]
fn a_refusal_is_waited_out_and_told() {
    let refused = on_delete(10).budget(3).with(|world| {
        world.outcome.acted_at = Some(noon());
        world.outcome.refused.insert(uid(9, "v1"), Refusal::Policy("not now".into()));
    });
    let decision = check(&refused, "1 Upgrading: -");
    names(&decision.status.message, &["web-9", "not now"]);
}

#[test]
fn what_was_announced_keeps_its_place_in_the_batch() {
    let announced = on_delete(10).budget(5).status(|status| {
        status.evicting = vec![uid(4, "v1")];
        status.last_eviction = Some(ago(5));
    });
    check(&announced, "1 Upgrading: evict 4 9");
}

#[test]
fn nothing_is_written_on_what_the_caches_have_not_seen() {
    let unseen = set(10).with(|world| {
        world.unseen = true;
        world.outcome.acted_at = Some(noon());
    });
    check(&unseen, "1 Upgrading: -");
}
