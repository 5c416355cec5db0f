use crate::fixture::{Fixture, daemons, on_delete, partition, set};
use crate::said::{check, names};

fn paused(fixture: Fixture) -> Fixture {
    fixture.release(|release| release.paused = true)
}

#[test]
fn a_pause_holds_every_pod() {
    check(&paused(set(10)), "1 Upgrading: -");
    check(&paused(on_delete(10).budget(3)), "1 Upgrading: -");
    check(&paused(daemons(10)), "1 Upgrading: -");
    let decision = check(&paused(set(10)), "1 Upgrading: -");
    names(&decision.status.message, &["paused", "0 of 2"]);
    assert_eq!(decision.wake, None);
}

#[test]
fn what_is_open_and_has_not_moved_is_closed() {
    let open = set(10).at(1).strategy(partition(4)).updated(&[9, 8]);
    check(&paused(open), "2 Upgrading: strategy partition 8");
    let moved = set(10).strategy(partition(8)).updated(&[9, 8]);
    check(&paused(moved), "1 Upgrading: -");
}

#[test]
fn a_batch_that_was_ready_stays_so() {
    let ready = set(10).strategy(partition(8)).updated(&[9, 8]).again();
    check(&paused(ready), "1 Ready: -");
}

#[test]
fn it_goes_on_where_it_was() {
    let closed = set(10).at(1).strategy(partition(8)).updated(&[9, 8]);
    check(&paused(closed.clone()), "2 Upgrading: -");
    check(&closed, "2 Upgrading: open 4");
}

#[test]
fn a_paused_batch_is_never_stuck() {
    let late = paused(set(10)).status(|it| it.last_progress = Some(crate::fixture::ago(9999)));
    assert_eq!(late.decide().status.last_progress, None);
}
