use crate::fixture::{Fixture, deployment, partition, set, sized};
use crate::said::check;

fn named(fixture: Fixture) -> Fixture {
    fixture.release(|release| release.rollout_id = "r1".into())
}

#[test]
fn pods_get_the_label_of_their_batch_and_then_it_is_ready() {
    let first = named(set(5)).strategy(partition(4)).updated(&[4]);
    check(&first, "1 Upgrading: label 4=1");
    check(&first.clone().labelled("r1", &[(4, 1)]), "1 Ready: -");
    check(&first.labelled("r0", &[(4, 1)]), "1 Upgrading: label 4=1");
    check(&set(5).strategy(partition(4)).updated(&[4]), "1 Ready: -");
}

#[test]
fn pods_that_are_still_to_move_come_before_labels() {
    let batch = named(set(10)).at(1).budget(2).strategy(partition(8)).updated(&[9, 8]);
    check(&batch.labelled("r1", &[(9, 1), (8, 1)]), "2 Upgrading: open 6");
}

#[test]
fn those_that_come_up_are_labelled_while_others_are_waited_for() {
    let batch = named(set(10)).at(1).strategy(partition(4)).updated(&[9, 8, 7]).gone(6);
    check(&batch.labelled("r1", &[(9, 1), (8, 1)]), "2 Upgrading: label 7=2");
}

#[test]
fn a_pod_that_was_lost_belongs_to_the_batch_that_it_came_again_in() {
    let second = named(set(10)).at(1).strategy(partition(4)).updated(&[9, 8, 7, 6, 5, 4]);
    let labelled = second.labelled("r1", &[(8, 1), (7, 2), (6, 2), (5, 2), (4, 2)]);
    check(&labelled, "2 Upgrading: label 9=1");
    let all = named(set(10)).at(1).strategy(partition(4)).updated(&[9, 8, 7, 6, 5, 4]);
    check(&all, "2 Upgrading: label 4=2 5=2 6=2 7=2 8=1 9=1");
}

#[test]
fn a_batch_number_that_has_no_place_is_given_another() {
    let second = named(set(10)).at(1).strategy(partition(4)).updated(&[9, 8, 7, 6, 5, 4]);
    let labels = [(9, 7), (8, 1), (7, 1), (6, 1), (5, 2), (4, 2)];
    check(&second.labelled("r1", &labels), "2 Upgrading: label 6=2 9=2");
}

#[test]
fn surplus_pods_stay_without_a_label() {
    let more = named(set(10)).strategy(partition(7)).updated(&[9, 8, 7]);
    check(&more, "1 Upgrading: label 7=1 8=1");
    check(&more.labelled("r1", &[(7, 1), (8, 1)]), "1 Ready: -");
}

#[test]
fn the_pods_of_a_deployment_are_labelled_too() {
    let batch = named(deployment(5)).updated(&[0]).machinery(|deployment| {
        deployment.new = Some(sized("web-v2", 2, 1, 5));
        deployment.old = vec![sized("web-v1", 1, 4, 5)];
    });
    check(&batch, "1 Upgrading: label 0=1");
}
