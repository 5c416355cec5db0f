use engine::front::batch_release::{Marks, Phase};

use crate::fixture::{Fixture, on_delete, partition, pods, set, uid};
use crate::said::{check, names};

/// v1 again, when the two highest of five had moved to v2.
fn turned_back(fixture: Fixture) -> Fixture {
    fixture.updated(&[4, 3]).workload(|workload| workload.update_revision = "v1".into())
}

fn in_batches(fixture: Fixture) -> Fixture {
    turned_back(fixture).release(|release| {
        release.rollback_in_batches = true;
        release.rollout_id = "back".into();
        release.batches = vec![pods(1), pods(2)];
    })
}

fn marked(mut fixture: Fixture) -> Fixture {
    for number in 0..3 {
        let marks = Marks { no_need_update: "back".into(), ..Marks::default() };
        fixture.world.marks.insert(uid(number, "v1"), marks);
    }
    fixture
}

#[test]
fn a_template_of_another_release_moves_nothing() {
    let other = set(5).at(1).strategy(partition(2)).updated(&[4, 3]).workload(|workload| {
        workload.update_revision = "v3".into();
    });
    let decision = check(&other, "2 Upgrading: strategy partition 5");
    names(&decision.status.message, &["v3", "v2"]);
    check(&other.strategy(partition(5)), "2 Upgrading: -");
    let on_delete = on_delete(5).workload(|workload| workload.update_revision = "v3".into());
    check(&on_delete, "1 Upgrading: -");
}

#[test]
fn what_needs_no_update_is_marked_first() {
    let back = in_batches(set(5));
    let decision = check(&back, "Preparing: label 2=none 1=none 0=none");
    assert_eq!(decision.status.no_need_update, None);
    let decision = check(&marked(back), "1 Upgrading: open 4");
    assert_eq!(decision.status.no_need_update, Some(3));
    assert_eq!(decision.status.update_revision, "v1");
}

#[test]
fn batches_are_of_what_has_to_go_back() {
    let first = marked(in_batches(set(5))).strategy(partition(4)).status(|status| {
        status.no_need_update = Some(3);
        status.update_revision = "v1".into();
        status.phase = Some(Phase::Progressing);
    });
    // Those that were there don't take the place of one that is on its way.
    check(&first, "1 Upgrading: -");
    // web-4 is back at v1; it is labelled before those that were there.
    let back = first.change(4, |it| *it = crate::fixture::pod(4, "v1"));
    check(&back, "1 Upgrading: label 4=1");
    let labelled = back.labelled("back", &[(4, 1)]);
    check(&labelled, "1 Ready: -");
    check(&labelled.at(1), "2 Upgrading: open 3");
}
