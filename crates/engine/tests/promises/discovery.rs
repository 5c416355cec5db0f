//! Service discovery: what it has to see before a Pod counts.

use engine::status::ConditionKind;
use engine::world::Discovery;

use crate::fixture::{ago, check, names, world};

#[test]
fn a_pod_counts_only_when_every_existing_service_lists_it() {
    let fixture = world().percent(25).budget(1).updated(3).passing(&[0, 1, 2]);
    let decision = check(&fixture, "InProgress WaitingForPods: -");
    names(&decision.status.reason, &["web-3", "service discovery"]);
    check(&world().percent(25).budget(1).updated(3).passing(&[0, 1, 2, 3]), "Done Completed: -");
}

#[test]
fn a_pod_that_discovery_does_not_see_uses_up_the_budget() {
    let fixture = world().budget(2).updated(3).passing(&[0, 1, 2]);
    check(&fixture, "InProgress Evicting: evict 2");
    check(&world().budget(1).updated(3).passing(&[0, 1, 2]), "InProgress WaitingForPods: -");
}

#[test]
fn services_that_do_not_exist_gate_nothing() {
    let fixture = world().percent(25).budget(1).updated(3).with(|world| {
        world.rollout.services = vec!["web".into()];
        world.discovery = Discovery::Read { at: ago(1), services: Vec::new(), passing: [].into() };
    });
    let decision = check(&fixture, "Done Completed: -");
    assert_eq!(decision.status.discovery_ready, None);
}

#[test]
fn a_service_that_was_seen_in_this_rollout_and_vanishes_holds_it() {
    let seen = world().percent(50).budget(1).updated(3).passing(&[0, 1, 2, 3]).again();
    let fixture = seen.with(|world| {
        world.discovery = Discovery::Read { at: ago(1), services: Vec::new(), passing: [].into() };
    });
    let decision = fixture.decide();
    assert_eq!(decision.action, None, "{}", decision.status.reason);
    names(&decision.status.reason, &["web", "service"]);
}

#[test]
fn discovery_that_cannot_be_reached_moves_no_further_pod_and_says_so() {
    let fixture = world().budget(2).with(|world| {
        world.rollout.services = vec!["web".into()];
        world.discovery =
            Discovery::Unreachable { since: ago(20), message: "connection refused".into() };
    });
    let decision = check(&fixture, "InProgress DiscoveryUnreachable: -");
    names(&decision.status.reason, &["service discovery", "connection refused"]);
}

#[test]
fn done_is_not_said_while_discovery_cannot_be_reached() {
    let fixture = world().percent(25).budget(2).updated(3).with(|world| {
        world.rollout.services = vec!["web".into()];
        world.discovery =
            Discovery::Unreachable { since: ago(20), message: "connection refused".into() };
    });
    check(&fixture, "InProgress DiscoveryUnreachable: -");
}

#[test]
fn discovery_that_is_not_configured_gates_nothing_and_a_condition_says_so() {
    let fixture = world().percent(25).budget(1).updated(3).with(|world| {
        world.rollout.services = vec!["web".into()];
        world.rollout.channel = Some("#releases".into());
        world.discovery = Discovery::NotConfigured;
    });
    let decision = check(&fixture, "Done Completed: -");
    let conditions = &decision.status.conditions;
    let condition = conditions.iter().find(|c| c.kind == ConditionKind::NotGated).unwrap();
    names(&condition.message, &["services web", "#releases"]);
}
