//! Operators that serve one namespace each, with the rights of `sluice install --namespace-only` in it
//! and none beside: a scenario for each.

use super::far_side::{Operator, Plane, Serves, tail};
use super::{Given, suite};
use anyhow::Context;

/// One for each thing that an operator does: making and adopting a set, evicting, deleting by UID,
/// lowering a partition, reading budgets, telling Events, taking a rollout that is created again.
const SCENARIOS: [&str; 8] = [
    "published::the_published_example_is_rolled_out",
    "published::what_is_no_longer_asked_for_goes",
    "budget::the_budget_is_used_and_never_overrun",
    "budget::a_budget_that_is_widened_on_the_way_is_used",
    "budget::unhealthy_pods_behind_a_budget_are_replaced_when_asked",
    "prevent::groups_move_in_parallel_within_the_budget",
    "adoption::a_set_that_exists_is_adopted_without_a_restart",
    "status::each_phase_is_told_by_one_event",
];

fn namespaces() -> impl Iterator<Item = String> {
    (0..SCENARIOS.len()).map(|number| format!("confined-{number}"))
}

/// Who they are to the control plane: flags of its `up`.
pub(super) fn users() -> Vec<String> {
    namespaces().map(|name| format!("--user={name}={}", Serves::one(&name).account())).collect()
}

/// Runs them; their accounts.
pub(super) fn run(given: &Given, plane: &Plane) -> anyhow::Result<Vec<String>> {
    let mut operators = Vec::new();
    for namespace in namespaces() {
        let serves = Serves::one(&namespace);
        plane.create_namespace(&namespace)?;
        plane.install(&given.sluice, &serves)?;
        operators.push(Operator::start(given, plane, &serves)?);
    }
    let all: Vec<String> = namespaces().collect();
    let settings = [
        ("SLUICE_SCENARIOS_NAMESPACES", all.join(",")),
        ("SLUICE_SCENARIOS_ONLY", SCENARIOS.join(",")),
    ];
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let outcome = suite(given, plane, &settings);
    for operator in &mut operators {
        operator
            .still_runs()
            .with_context(|| format!("its last words:\n{}", tail(&operator.log)))?;
    }
    outcome?;
    Ok(namespaces().map(|name| Serves::one(&name).account()).collect())
}
