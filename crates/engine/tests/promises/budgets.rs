//! Who says no, and in which words.

use engine::world::{Budget, PodManagement, Refusal};

use crate::fixture::{ahead, budget_over, check, names, world};

fn change(max: u32, change: impl FnOnce(&mut Budget)) -> crate::fixture::Fixture {
    world().with(|world| {
        let mut budget = budget_over(&world.pods, 4, max);
        change(&mut budget);
        world.budgets = vec![budget];
    })
}

#[test]
fn without_a_budget_one_pod_goes_at_a_time_and_the_reason_says_so() {
    let decision = check(&world(), "InProgress Evicting: evict 3");
    names(&decision.status.reason, &["no PodDisruptionBudget", "one"]);
    let decision = check(&world().starting(3), "InProgress WaitingForPods: -");
    names(&decision.status.reason, &["no PodDisruptionBudget", "web-3"]);
}

#[test]
fn without_a_budget_pods_that_are_not_ready_go_alone() {
    check(&world().unready(0).unready(1), "InProgress Evicting: evict 1 0");
}

#[test]
fn two_budgets_block_and_both_are_named() {
    let fixture = world().budget(2).with(|world| {
        let mut other = budget_over(&world.pods, 4, 1);
        other.name = "all-pods".into();
        world.budgets = vec![other];
    });
    let decision = check(&fixture, "InProgress AmbiguousBudget: -");
    names(&decision.status.reason, &["web-pdb", "all-pods", "shop", "delete one"]);
}

#[test]
fn a_budget_that_never_allows_blocks_with_the_remedy() {
    let decision = check(&world().budget(0), "InProgress BudgetNeverAllows: -");
    names(&decision.status.reason, &["shop/web-pdb", "maxUnavailable: 0", "at least 1"]);
}

#[test]
fn the_remedy_for_a_budget_that_never_allows_is_in_its_own_terms() {
    let all = "minAvailable: 100%";
    let fixture = change(0, |budget| {
        (budget.limit, budget.desired_healthy) = (all.to_owned(), budget.expected);
    });
    let decision = check(&fixture, "InProgress BudgetNeverAllows: -");
    names(&decision.status.reason, &[all, "lower minAvailable", "in its place"]);
}

#[test]
fn a_budget_without_a_limit_never_allows_either_and_says_what_it_lacks() {
    let fixture = change(0, |budget| {
        budget.limit = Budget::NO_LIMIT.to_owned();
        (budget.expected, budget.desired_healthy) = (0, 0);
    });
    let decision = check(&fixture, "InProgress BudgetNeverAllows: -");
    names(
        &decision.status.reason,
        &["shop/web-pdb", Budget::NO_LIMIT, "maxUnavailable to at least 1"],
    );
}

#[test]
fn what_blocks_is_told_without_a_word_about_the_pace() {
    let fixture = world().budget(0).with_set(|set| set.management = PodManagement::OrderedReady);
    let reason = check(&fixture, "InProgress BudgetNeverAllows: -").status.reason;
    assert!(!reason.contains("OrderedReady"), "{reason}");
}

#[test]
fn a_budget_whose_status_is_behind_its_ready_pods_is_not_blamed_on_others() {
    let fixture = change(1, |budget| (budget.current_healthy, budget.allowed) = (3, 0));
    let decision = check(&fixture, "InProgress WaitingForPods: -");
    names(&decision.status.reason, &["shop/web-pdb", "all 4 Pods are ready", "3 healthy"]);
}

#[test]
fn a_budget_that_its_controller_has_not_seen_is_not_used() {
    let fixture = change(2, |budget| budget.observed = false);
    let decision = check(&fixture, "InProgress BudgetNotReady: -");
    names(&decision.status.reason, &["shop/web-pdb"]);
}

#[test]
fn a_budget_that_cannot_be_computed_blocks_in_its_controllers_words() {
    let fixture = change(2, |budget| budget.sync_failed = Some("found no controllers".into()));
    let decision = check(&fixture, "InProgress BudgetNotReady: -");
    names(&decision.status.reason, &["shop/web-pdb", "found no controllers"]);

    let no_scale = "daemonsets.apps does not implement the scale subresource";
    let fixture = change(2, |budget| budget.sync_failed = Some(no_scale.into()));
    let decision = check(&fixture, "InProgress BudgetNotReady: -");
    names(&decision.status.reason, &["shop/web-pdb", no_scale, "minAvailable as a number"]);
}

#[test]
fn a_budget_used_up_by_pods_of_others_blocks_and_says_so() {
    let fixture = change(2, |budget| (budget.expected, budget.allowed) = (9, 0));
    let decision = check(&fixture, "InProgress BudgetExhausted: -");
    names(&decision.status.reason, &["shop/web-pdb", "do not belong to this StatefulSet"]);
}

#[test]
fn the_pods_that_use_up_the_budget_are_named() {
    // Old Pods that are not ready; unless they may go themselves they block.
    let fixture = world().budget(1).unready(1).unready(0);
    let decision = check(&fixture, "InProgress UnhealthyPodsHoldBudget: -");
    names(&decision.status.reason, &["web-1", "shop/web-pdb", "unhealthyPodEvictionPolicy"]);
}

#[test]
fn waiting_for_our_own_pods_outranks_blocked() {
    let fixture = world().budget(1).broken(3, "ImagePullBackOff");
    let decision = check(&fixture, "InProgress WaitingForPods: -");
    names(&decision.status.reason, &["web-3", "ImagePullBackOff"]);
}

#[test]
fn waiting_for_our_own_pods_outranks_blocked_beside_unready_old_ones() {
    // The broken update used up the budget, and an old Pod has gone unready beside it: 2 of 3 healthy.
    let fixture = world().budget(1).broken(3, "ImagePullBackOff").unready(0);
    let decision = check(&fixture, "InProgress WaitingForPods: -");
    names(&decision.status.reason, &["web-3", "ImagePullBackOff"]);
}

#[test]
fn a_refusal_of_the_eviction_is_told_and_waited_out() {
    let refusals = [
        (
            Refusal::Budget("Cannot evict pod as it would violate".into()),
            "BudgetExhausted",
            "violate",
        ),
        (Refusal::AmbiguousBudget("more than one".into()), "AmbiguousBudget", "more than one"),
        (Refusal::Policy("admission webhook denied".into()), "EvictionRefused", "webhook denied"),
        (Refusal::Overloaded, "ApiServerBusy", "busy"),
    ];
    for (refusal, reason, words) in refusals {
        let fixture = world().budget(2).refused(3, refusal);
        let decision = check(&fixture, &format!("InProgress {reason}: -"));
        names(&decision.status.reason, &["web-3", words]);
        assert_eq!(decision.wake, Some(ahead(5)), "five intervals after the refusal");
    }
}

#[test]
fn a_pod_that_was_gone_already_or_not_tried_is_no_refusal() {
    let fixture = world().budget(2).refused(3, Refusal::NotTried).refused(2, Refusal::Gone);
    check(&fixture, "InProgress Evicting: evict 3 2");
}

#[test]
fn a_server_that_asks_to_be_left_alone_is() {
    let fixture = world().budget(2).with(|world| world.outcome.hold_until = Some(ahead(7)));
    let decision = check(&fixture, "InProgress ApiServerBusy: -");
    assert_eq!(decision.wake, Some(ahead(7)));
}

#[test]
fn a_server_that_asks_to_be_left_alone_gets_no_write_at_all() {
    let busy = |fixture: crate::fixture::Fixture| {
        fixture.with(|world| {
            world.outcome.hold_until = Some(ahead(7));
            world.rollout.generation = 3;
        })
    };
    let unready = check(&busy(world().budget(2).pending(1)), "InProgress ApiServerBusy: -");
    assert_eq!(unready.wake, Some(ahead(7)));
    let template = busy(world()).with(|world| world.rollout.desired_hash = "hash-v3".into());
    check(&template, "InProgress ApiServerBusy: -");
}
