use crate::fixture::{Fixture, deployment, percent, pods, sized};
use crate::said::{check, names};

fn grown(replicas: u32, new: u32, old: u32) -> Fixture {
    let numbers: Vec<u32> = (0..new).collect();
    deployment(replicas).updated(&numbers).machinery(|deployment| {
        deployment.new = Some(sized("web-v2", 2, new, replicas));
        deployment.old = vec![sized("web-v1", 1, old, replicas)];
    })
}

#[test]
fn replica_sets_are_sized_to_the_batch() {
    check(&deployment(5), "1 Upgrading: create 1");
    check(&grown(5, 1, 5), "1 Upgrading: size web-v1 4");
    check(&grown(5, 1, 4), "1 Ready: -");
    let second = grown(5, 1, 4).at(1);
    check(&second, "2 Upgrading: size web-v2 2");
}

#[test]
fn a_percentage_below_100_leaves_one_behind() {
    let batch = grown(5, 4, 1).batches(&[percent(99), percent(100)]);
    check(&batch, "1 Ready: -");
    check(&batch.at(1), "2 Upgrading: size web-v2 5");
}

#[test]
fn a_count_may_follow_a_percentage() {
    let steps = [percent(20), pods(5), percent(100)];
    check(&grown(10, 2, 8).batches(&steps).at(1), "2 Upgrading: size web-v2 3");
    check(&grown(10, 5, 5).batches(&steps).at(1), "2 Ready: -");
}

#[test]
fn a_batch_waits_for_its_pods_and_names_what_it_waits_for() {
    let waits = grown(5, 1, 4).change(0, |pod| pod.ready_since = None).machinery(|deployment| {
        deployment.new = deployment
            .new
            .take()
            .map(|set| engine::mover::replica_sets::ReplicaSet { available: 0, ..set });
    });
    let decision = check(&waits, "1 Verifying: -");
    names(&decision.status.message, &["0 of 1 Pods", "Pod web-0 is not ready"]);
}

#[test]
fn a_pause_stops_the_sizes_and_follows_a_scaling() {
    let paused = grown(10, 2, 8).at(1).release(|release| release.paused = true);
    check(&paused, "2 Upgrading: -");
}

#[test]
fn scaled_far_at_one_percent_one_pod_stays_the_batch() {
    let batch = grown(28, 1, 4).batches(&[percent(1), percent(100)]).machinery(|deployment| {
        deployment.old = vec![sized("web-v1", 1, 4, 5)];
    });
    check(&batch, "1 Upgrading: size web-v1 27");
}
