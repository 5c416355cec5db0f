//! Unready Pods at an old revision whose eviction the budget refuses: `unhealthyPods`.

use engine::world::{Refusal, UnhealthyPods};

use crate::fixture::{Fixture, check, names, world};

/// Two of three needed are healthy: the Eviction API refuses the unready ones under the default policy.
fn deadlock() -> Fixture {
    world().budget(1).unready(1).unready(0)
}

fn replace(fixture: Fixture) -> Fixture {
    fixture.with(|world| world.rollout.unhealthy_pods = UnhealthyPods::Replace)
}

#[test]
fn report_names_the_budget_its_policy_and_the_remedy() {
    let decision = check(&deadlock(), "InProgress UnhealthyPodsHoldBudget: -");
    names(
        &decision.status.reason,
        &["web-1", "shop/web-pdb", "unhealthyPodEvictionPolicy", "unhealthyPods: Replace"],
    );
}

#[test]
fn replace_deletes_with_uid_and_resource_version_and_no_more_than_the_unready_ones() {
    let decision = check(&replace(deadlock()), "InProgress Evicting: delete 1 0");
    let victims = decision.action.expect("a delete").victims().to_vec();
    assert!(victims.iter().all(|pod| pod.uid.0.ends_with("@v1") && pod.resource_version == "7"));
}

#[test]
fn replace_evicts_where_the_budget_lets_it() {
    check(&replace(world().budget(1).unready(0)), "InProgress Evicting: evict 0");
}

#[test]
fn replace_turns_to_deleting_when_the_eviction_was_refused() {
    let fixture = world().budget(1).unready(0).refused(0, Refusal::Budget("no room".into()));
    check(&replace(fixture), "InProgress Evicting: delete 0");
}

#[test]
fn a_budget_that_always_allows_unhealthy_pods_lets_them_go() {
    let fixture = world().with(|world| {
        world.pods[0].ready_since = None;
        world.pods[1].ready_since = None;
        let mut budget = crate::fixture::budget_over(&world.pods, 4, 1);
        budget.always_allow_unhealthy = true;
        world.budgets = vec![budget];
    });
    check(&fixture, "InProgress Evicting: evict 1 0");
}

#[test]
fn pods_that_never_started_may_go_whatever_the_budget_says() {
    check(&world().budget(1).pending(1).pending(0), "InProgress Evicting: evict 1 0");
    check(&world().budget(0).pending(1), "InProgress Evicting: evict 1");
}

#[test]
fn replacing_unready_pods_stays_within_the_target() {
    check(&replace(deadlock().percent(25)), "InProgress Evicting: delete 1");
}
