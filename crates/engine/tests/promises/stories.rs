//! Shrunk failures of the walks, told as stories; each broke a promise once.

use engine::status::Phase;
use engine::world::{PodManagement, Strategy, VersionLeak};

use crate::judge::judge;
use crate::kubernetes::Crash;
use crate::model::Make;
use crate::walk::{Event, cluster, ends_in, walk};

const IGNORE: (VersionLeak, bool, i64) = (VersionLeak::Ignore, false, 0);
const PREVENT: (VersionLeak, bool, i64) = (VersionLeak::Prevent, false, 0);

#[test]
fn a_foreign_restart_while_a_set_is_settled_moves_no_more_than_the_percentage() {
    let make = Make { max_unavailable: Some(2), ..Make::default() };
    let steps =
        [(Event::Leak(VersionLeak::Prevent), 0), (Event::Percent(0), 1), (Event::Restart, 0)];
    walk(make, IGNORE, &steps);
}

#[test]
fn a_foreign_restart_at_rest_waits_for_its_percentage() {
    let events = [Event::Leak(VersionLeak::Prevent), Event::Percent(0), Event::Restart];
    let (phase, leaked, revisions, strategy) = ends_in(Make::default(), IGNORE, &events, None);
    assert_eq!((phase, leaked), (Some(Phase::Done), 0));
    assert!(revisions.iter().all(|(_, revision)| revision == "a"), "{revisions:?}");
    assert_eq!(strategy, Some(Strategy::RollingUpdate { partition: 4 }));
}

#[test]
fn a_crash_after_a_deleted_set_was_made_again_does_not_wait_for_its_predecessors_generation() {
    let make = Make { replicas: 6, max_unavailable: None, ..Make::default() };
    let events = [Event::Restart, Event::DeleteSet, Event::Percent(0)];
    let calm = ends_in(make, IGNORE, &events, None);
    assert_eq!(calm.0, Some(Phase::Done));
    assert_eq!(ends_in(make, IGNORE, &events, Some((&[Crash::AfterPart], 1))), calm);
}

#[test]
fn a_set_scaled_up_at_rest_is_closed_though_no_event_tells_that_its_pods_are_available() {
    let make = Make { replicas: 1, min_ready: 4, max_unavailable: None, ..Make::default() };
    let end = ends_in(make, PREVENT, &[Event::Scale(2)], None);
    assert_eq!(end.3, Some(Strategy::RollingUpdate { partition: 2 }));
}

#[test]
fn a_broken_template_below_a_good_pod_does_not_lock_the_partition_for_good() {
    let make = Make { replicas: 1, start_up: 1, owns_replicas: true, ..Make::default() };
    let steps = [(Event::Scale(2), 0), (Event::Template("bad"), 3), (Event::Scale(3), 0)];
    walk(make, PREVENT, &steps);
}

#[test]
fn a_set_that_scales_up_in_order_at_one_revision_leaks_nothing() {
    let make = Make { replicas: 1, management: PodManagement::OrderedReady, ..Make::default() };
    let asked = (VersionLeak::Report, false, 0);
    let (phase, leaked, ..) = ends_in(make, asked, &[Event::Percent(0), Event::Scale(3)], None);
    assert_eq!((phase, leaked), (Some(Phase::Done), 0));
}

#[test]
fn a_rollback_moves_only_the_pods_that_moved() {
    for asked in [IGNORE, PREVENT] {
        let mut cluster = cluster(Make::default(), asked);
        let before = cluster.uids();
        cluster.template("bad");
        cluster.run(100, &mut judge);
        assert_eq!(cluster.status.phase, Some(Phase::Failed));
        assert_eq!(
            cluster.kubernetes.at("bad"),
            1,
            "the budget is 1, and the first that moved is broken"
        );
        cluster.template("a");
        cluster.run(100, &mut judge);
        assert_eq!(cluster.status.phase, Some(Phase::Done));
        assert_eq!(cluster.kubernetes.at("a"), 4);
        assert_eq!(cluster.uids()[..3], before[..3]);
    }
}

#[test]
fn a_lost_pod_comes_back_at_the_stable_revision_for_as_long_as_a_held_rollout_stands() {
    let events = [Event::Percent(50), Event::Template("b"), Event::Drain(0), Event::Drain(3)];
    let (phase, leaked, revisions, _) = ends_in(Make::default(), PREVENT, &events, None);
    assert_eq!((phase, leaked), (Some(Phase::Done), 0));
    let revisions: Vec<&str> = revisions.iter().map(|(_, revision)| revision.as_str()).collect();
    assert_eq!(revisions, ["a", "a", "b", "b"]);
}

#[test]
fn under_on_delete_the_same_loss_leaks_and_is_counted() {
    let events = [Event::Percent(50), Event::Template("b"), Event::Drain(0), Event::Drain(3)];
    let asked = (VersionLeak::Report, false, 0);
    let (phase, leaked, revisions, _) = ends_in(Make::default(), asked, &events, None);
    assert_eq!((phase, leaked), (Some(Phase::Done), 1));
    let revisions: Vec<&str> = revisions.iter().map(|(_, revision)| revision.as_str()).collect();
    assert_eq!(revisions, ["b", "a", "b", "b"]);
}

#[test]
fn a_new_template_supersedes_a_broken_one_whose_pods_go_at_once() {
    let make = Make { replicas: 6, max_unavailable: Some(3), ..Make::default() };
    for asked in [IGNORE, PREVENT] {
        let mut cluster = cluster(make, asked);
        cluster.template("bad");
        cluster.run(100, &mut judge);
        assert_eq!((cluster.status.phase, cluster.kubernetes.at("bad")), (Some(Phase::Failed), 3));
        cluster.template("b");
        cluster.run(8, &mut judge);
        assert_eq!(cluster.kubernetes.at("bad"), 0, "{:?}", cluster.revisions());
        cluster.run(100, &mut judge);
        assert_eq!((cluster.status.phase, cluster.kubernetes.at("b")), (Some(Phase::Done), 6));
    }
}

#[test]
fn a_rollback_of_a_held_set_replaces_broken_pods_within_its_target() {
    let make = Make { start_up: 1, max_unavailable: Some(2), ..Make::default() };
    let events = [Event::Percent(75), Event::Template("bad"), Event::Template("a")];
    let end = ends_in(make, PREVENT, &events, Some((&[Crash::BeforeStatus], 1)));
    assert_eq!(end.0, Some(Phase::Done));
}

#[test]
fn a_set_that_is_made_again_in_order_leaks_nothing() {
    let management = PodManagement::OrderedReady;
    let make = Make { replicas: 2, management, max_unavailable: None, ..Make::default() };
    let asked = (VersionLeak::Report, false, 0);
    let events = [Event::Template("b"), Event::DeleteSet, Event::Percent(0)];
    let (phase, leaked, ..) = ends_in(make, asked, &events, None);
    assert_eq!((phase, leaked), (Some(Phase::Done), 0));
}

#[test]
fn a_broken_pod_below_good_ones_does_not_lock_a_held_set_that_is_to_move_whole() {
    let make = Make { replicas: 2, start_up: 1, max_unavailable: None, ..Make::default() };
    let steps = [
        (Event::DeleteSet, 0),
        (Event::Template("bad"), 1),
        (Event::Percent(1), 0),
        (Event::Template("a"), 0),
    ];
    walk(make, PREVENT, &steps);
}

#[test]
fn a_set_scaled_to_none_and_back_in_mid_rollout_leaks() {
    let events = [Event::Percent(50), Event::Template("b"), Event::Scale(0), Event::Scale(4)];
    let asked = (VersionLeak::Report, false, 0);
    let (phase, leaked, ..) = ends_in(Make::default(), asked, &events, None);
    assert_eq!((phase, leaked), (Some(Phase::Done), 4));
    let asked = (VersionLeak::Pause, false, 0);
    let (phase, leaked, ..) = ends_in(Make::default(), asked, &events, None);
    assert_eq!((phase, leaked), (Some(Phase::Paused), 4));
}
