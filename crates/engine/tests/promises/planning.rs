//! What `plan` promises is what decisions then do.

use engine::plan::plan;
use engine::world::PodManagement;

use crate::fixture::{Fixture, moved, names, noon, world};

fn order(fixture: &Fixture, fresh: bool) -> Vec<String> {
    let plan = plan(&fixture.build(), fresh, noon()).expect("a plan");
    plan.order.into_iter().map(|pod| pod.name).collect()
}

#[test]
fn a_plan_names_the_pods_in_the_order_in_which_they_go() {
    let fixture = world().percent(75).budget(1).pending(0);
    assert_eq!(order(&fixture, false), ["web-0", "web-3", "web-2"]);
    assert_eq!(moved(&fixture.decide())[0], 0);
}

#[test]
fn a_template_that_is_not_applied_yet_moves_every_pod() {
    let fixture = world().budget(1).updated(3);
    assert_eq!(order(&fixture, true).len(), 4);
    assert_eq!(order(&fixture, false), ["web-2", "web-1", "web-0"]);
}

#[test]
fn a_plan_says_what_paces_and_what_guards_it() {
    let plan_of = |fixture: &Fixture| plan(&fixture.build(), false, noon()).expect("a plan");
    let free = plan_of(&world().budget(2));
    assert_eq!((free.at_once, free.now), (2, 2));
    names(&free.pace, &["web-pdb", "2 at a time"]);
    names(&free.guard, &["OnDelete", "leaked"]);
    let ordered =
        plan_of(&world().budget(2).with_set(|set| set.management = PodManagement::OrderedReady));
    assert_eq!(ordered.at_once, 1);
    let blocked = plan_of(&world().budget(0));
    assert_eq!(blocked.now, 0);
    assert!(blocked.hold.is_some());
    names(&plan_of(&world().held(4)).guard, &["partition"]);
}
