//! The phases, and what is looked at before any of them.

use super::status::{Canary, ConditionKind, Phase, Reason, StepState};
use super::world::Workload;
use super::{Action, Flow, Turn, change, finalise, progress, release};

/// The message while there is no workload.
pub(super) const NOT_FOUND: &str = "Workload Not Found";
const HEALTHY: &str = "rollout is healthy";

/// Where the Rollout goes from here.
pub(super) fn next(turn: &mut Turn<'_>) -> Flow {
    let rollout = &turn.world.rollout;
    let seen = turn.workload().filter(|w| w.seen() && !w.update_revision.is_empty());
    if let Some(workload) = seen {
        refresh(turn, workload);
    }
    if rollout.deleted {
        return terminate(turn);
    }
    if !rollout.finalizer {
        // First of all: what comes after it has to be given back.
        return turn.act(Action::Adopt);
    }
    let phase = turn.status.phase.unwrap_or(Phase::Initial);
    turn.status.phase = Some(phase);
    if phase == Phase::Disabling {
        return disable(turn);
    }
    if rollout.disabled {
        let engaged = phase == Phase::Progressing || engaged(turn);
        return match (engaged, phase) {
            (true, _) => turn.enter(Phase::Disabling, "Disabling rollout, release resources"),
            (false, Phase::Disabled) => Flow::Rest,
            (false, _) => turn.enter(Phase::Disabled, "Rollout is disabled"),
        };
    }
    if let Some((reason, message)) = obstacle(turn) {
        turn.status.message.clone_from(&message);
        turn.status.say(ConditionKind::Blocked, true, reason, message, turn.now);
        return Flow::Rest;
    }
    let blocked = turn.status.condition(ConditionKind::Blocked);
    let blocked = blocked.is_some_and(|it| !it.reason.is_of_release());
    if blocked {
        turn.status.unsay(ConditionKind::Blocked);
    }
    let Some(workload) = turn.workload() else { return missing(turn, phase) };
    if blocked || turn.status.message == NOT_FOUND {
        speak_again(turn, phase);
    }
    if !workload.labelled {
        // Before it is called healthy: a change that comes earlier is not held.
        return turn.act(Action::Label);
    }
    if seen.is_none() {
        // A workload whose partition is opened every second is hardly ever seen as it is, and is stopped all
        // the same.
        let rolls = turn.status.condition(ConditionKind::Progressing);
        let rolls = rolls.is_some_and(|it| matches!(it.reason, Reason::InRolling | Reason::Paused));
        let stop = rollout.paused && rolls && phase == Phase::Progressing;
        return if stop { release::pause(turn) } else { Flow::Rest };
    }
    match phase {
        Phase::Initial | Phase::Disabled => {
            // What changed while it was disabled, or was made anew, was nobody's business.
            change::take(turn, workload);
            turn.enter(Phase::Healthy, HEALTHY)
        }
        Phase::Healthy => healthy(turn, workload),
        Phase::Progressing => progress::next(turn, workload),
        Phase::Terminating | Phase::Disabling => Flow::Rest,
    }
}

/// Says that somebody else drives this Rollout, and leaves all else as it is.
pub(super) fn stand_aside(turn: &mut Turn<'_>, manager: &str) {
    let message = format!(
        "the manager of OpenKruise Rollouts runs on this cluster ({manager}): stop it, and Sluice goes on from \
         where it leaves off"
    );
    turn.status.say(ConditionKind::Blocked, true, Reason::OtherManager, message, turn.now);
}

/// What a user has to mend first.
fn obstacle(turn: &Turn<'_>) -> Option<(Reason, String)> {
    let rollout = &turn.world.rollout;
    if let Some(what) = &rollout.not_served {
        return Some((Reason::NotServed, what.clone()));
    }
    if let Err(why) = &rollout.steps {
        return Some((Reason::InvalidPlan, why.clone()));
    }
    if let Some(rival) = &rollout.rival {
        let text =
            format!("Rollout {rival} releases {} already: delete one of the two", rollout.workload);
        return Some((Reason::WorkloadTaken, text));
    }
    let workload = turn.workload()?;
    if let Some(why) = &workload.unsupported {
        return Some((Reason::UnsupportedWorkload, why.clone()));
    }
    // The label first: by it the webhook is asked, which refuses such a change.
    if workload.recreates && workload.labelled {
        let text = format!(
            "{} has the strategy Recreate, by which its own controller replaces all Pods at once: set \
             spec.strategy.type to RollingUpdate, or no change of it can be released in steps",
            rollout.workload
        );
        return Some((Reason::UnsupportedWorkload, text));
    }
    let foreign = turn.world.release.as_ref().is_some_and(|release| !release.ours);
    (foreign && workload.marked).then(|| {
        let (namespace, name) = (&rollout.namespace, &rollout.name);
        let text = format!(
            "BatchRelease {namespace}/{name} is not this Rollout's: delete it, or give the Rollout another \
             name"
        );
        (Reason::ReleaseTaken, text)
    })
}

/// The workload may come back: what is known of its release is kept.
fn missing(turn: &mut Turn<'_>, phase: Phase) -> Flow {
    if phase != Phase::Progressing {
        turn.status.phase = Some(Phase::Initial);
    }
    NOT_FOUND.clone_into(&mut turn.status.message);
    Flow::Rest
}

/// What hid the message is gone.
fn speak_again(turn: &mut Turn<'_>, phase: Phase) {
    let release = turn.status.condition(ConditionKind::Progressing);
    let release = release.filter(|_| phase == Phase::Progressing);
    turn.status.message = release.map_or(HEALTHY, |condition| &condition.message).to_owned();
}

/// As long as the revision stays, generation and id may change. A roll back keeps its id to its end, though
/// nothing is left to roll back then: under another one its batches would be gone through again.
fn refresh(turn: &mut Turn<'_>, workload: &Workload) {
    let under_way = turn.status.phase == Some(Phase::Progressing);
    let Some(canary) = &mut turn.status.canary else { return };
    if !workload.is_at(&canary.canary_revision) {
        return;
    }
    canary.observed_workload_generation = workload.generation;
    let back = Workload { in_rollback: true, ..workload.clone() }.id(&canary.canary_revision);
    if !(under_way && canary.observed_rollout_id == back) {
        canary.observed_rollout_id = workload.id(&canary.canary_revision);
    }
}

fn healthy(turn: &mut Turn<'_>, workload: &Workload) -> Flow {
    if workload.marked {
        turn.status.unsay(ConditionKind::Succeeded);
        turn.status.phase = Some(Phase::Progressing);
        return turn.go_on(Reason::Initializing, "Rollout is in Progressing");
    }
    let Some(canary) = &turn.status.canary else {
        let last = turn.step_count();
        "workload deployment is completed".clone_into(&mut turn.status.message);
        turn.status.canary = Some(Canary {
            observed_workload_generation: workload.generation,
            observed_rollout_id: workload.id(&workload.update_revision),
            rollout_hash: turn.world.rollout.hash.clone(),
            stable_revision: workload.stable_revision.clone(),
            pod_template_hash: workload.pod_template_hash.clone(),
            canary_revision: workload.update_revision.clone(),
            current_step: last,
            next_step: -1,
            state: StepState::Completed,
            ..Canary::default()
        });
        return Flow::Rest;
    };
    if workload.is_at(&canary.canary_revision) {
        return Flow::Rest;
    }
    // A change that no webhook saw: the label came later, or the webhook was down.
    let remade = workload.generation < canary.observed_workload_generation;
    if workload.old == 0 || workload.replicas == 0 || remade {
        change::take(turn, workload);
        return Flow::Rest;
    }
    let text = format!(
        "a change of {} was not held when it came: {} of {} Pods run it already, the others are held \
         from here on",
        turn.world.rollout.workload, workload.updated, workload.replicas
    );
    turn.tell("ChangeNotHeld", true, text);
    turn.act(Action::Hold)
}

/// Whether anything of a release is still there.
fn engaged(turn: &Turn<'_>) -> bool {
    turn.release().is_some() || turn.led().is_some_and(|it| it.marked || it.held)
}

fn disable(turn: &mut Turn<'_>) -> Flow {
    if !finalise::give_back(turn, finalise::Why::Disabled) {
        return Flow::Rest;
    }
    let message = "Rollout is disabled";
    if turn.status.condition(ConditionKind::Progressing).is_some_and(|c| c.holds) {
        let (kind, reason) = (ConditionKind::Progressing, Reason::Disabled);
        turn.status.say(kind, false, reason, message, turn.now);
    }
    turn.enter(Phase::Disabled, message)
}

fn terminate(turn: &mut Turn<'_>) -> Flow {
    if !turn.world.rollout.finalizer {
        return Flow::Rest;
    }
    turn.status.phase = Some(Phase::Terminating);
    let message = "Rollout is in terminating";
    message.clone_into(&mut turn.status.message);
    let done = finalise::give_back(turn, finalise::Why::Deleted);
    let reason = if done { Reason::Completed } else { Reason::InTerminating };
    turn.status.say(ConditionKind::Terminating, !done, reason, message, turn.now);
    if done { turn.act(Action::Forget) } else { Flow::Rest }
}

/// What may wait until there is nothing else to do.
pub(super) fn upkeep(turn: &mut Turn<'_>) {
    let rollout = &turn.world.rollout;
    let stale = rollout.marked_hash.as_ref() != Some(&rollout.hash);
    let ours = rollout.finalizer && !rollout.deleted && rollout.steps.is_ok();
    if turn.action.is_none() && ours && stale {
        turn.action = Some(Action::MarkHash);
    }
}
