//! The promises, on each decision.

use engine::front::rollout::{
    Action, BatchState, ConditionKind, Decision, Pause, Phase, Reason, ReleasePlan, World,
};

use crate::model::Cluster;

/// Holds a decision against what was seen and what is.
pub(crate) fn judge(cluster: &Cluster, world: &World, decision: &Decision) {
    let release = world.release.as_ref();
    match &decision.action {
        Some(Action::Create(plan)) => allowed(cluster, world, plan, 0),
        Some(Action::Update(plan)) => {
            let before = release.and_then(|it| it.plan.partition).unwrap_or(0);
            allowed(cluster, world, plan, before);
        }
        Some(Action::Promote(_) | Action::Release { .. }) => {
            assert!(ends(decision), "let go in mid-release: {decision:#?}");
        }
        Some(Action::Forget) => {
            let free = |it: &crate::model::Work| {
                !it.marked && (cluster.settings.freeze_on_deletion || !it.held)
            };
            if cluster.lag == 0 {
                assert!(cluster.work.as_ref().is_none_or(free), "gone, and something is held");
                assert!(cluster.batches.is_none(), "gone, and its BatchRelease is not");
            }
        }
        _ => {}
    }
    let said = |kind| decision.status.condition(kind);
    let done =
        said(ConditionKind::Succeeded).is_some_and(|it| it.holds && it.updated == cluster.now);
    if done {
        let workload = world.workload.as_ref().expect("there");
        let canary = decision.status.canary.as_ref().expect("there");
        let next = workload.marked || canary.canary_revision != workload.update_revision;
        assert!(workload.old == 0 || next, "completed, and {} Pods are old", workload.old);
    }
    for kind in ConditionKind::ALL {
        let of_kind = decision.status.conditions.iter().filter(|it| it.kind == *kind);
        assert!(of_kind.count() < 2, "{} twice", kind.name());
    }
}

fn ends(decision: &Decision) -> bool {
    let reason = decision.status.condition(ConditionKind::Progressing).map(|it| it.reason);
    matches!(decision.status.phase, Some(Phase::Terminating | Phase::Disabling))
        || matches!(reason, Some(Reason::Finalising | Reason::Cancelling))
}

/// No step begins that nobody let begin, none while paused, and none before the one before it is ready.
fn allowed(cluster: &Cluster, world: &World, plan: &ReleasePlan, before: u32) {
    if plan.paused {
        return;
    }
    assert!(!world.rollout.paused, "moves while paused: {plan:?}");
    let steps = world.rollout.steps.as_ref().expect("followed");
    let to = plan.partition.expect("a batch");
    let Some(release) = &world.release else { return };
    for step in before + 1..=to {
        let index = usize::try_from(step - 1).expect("few");
        let by_itself = steps.get(index).is_some_and(|it| matches!(it.pause, Pause::Seconds(_)));
        assert!(
            by_itself || cluster.leapt || cluster.approved.contains(&step),
            "nobody approved step {step}: {plan:?}"
        );
    }
    if to > before && !cluster.leapt {
        assert_eq!(release.batch_state, Some(BatchState::Ready), "step {before} was not ready");
    }
}
