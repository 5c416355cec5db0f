//! Worlds in a line, and what comes out of them in a line.

use engine::front::rollout::{
    Action, BatchRelease, BatchState, Canary, Condition, ConditionKind, Decision, Pause, Phase,
    Policy, Reason, ReleasePhase, ReleasePlan, Rollout, Settings, Status, Step, StepState,
    Workload, World, decide,
};
use engine::quantity::IntOrPercent::{self, Percent};
use engine::world::Uid;
use jiff::{SignedDuration, Timestamp};

/// The time of each look.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).expect("a time")
}

pub(crate) fn ago(seconds: i64) -> Timestamp {
    now() - SignedDuration::from_secs(seconds)
}

/// Steps of these sizes, each with an approval.
pub(crate) fn steps(sizes: &[IntOrPercent]) -> Vec<Step> {
    sizes.iter().map(|replicas| Step { replicas: *replicas, pause: Pause::Approval }).collect()
}

pub(crate) fn rollout() -> Rollout {
    Rollout {
        namespace: "shop".to_owned(),
        name: "web".to_owned(),
        generation: 2,
        deleted: false,
        finalizer: true,
        workload: "Deployment shop/web".to_owned(),
        disabled: false,
        paused: false,
        rollback_in_batch: false,
        steps: Ok(steps(&[Percent(20), Percent(60), Percent(100)])),
        failure_threshold: None,
        hash: "plan".to_owned(),
        marked_hash: Some("plan".to_owned()),
        not_served: None,
        rival: None,
    }
}

/// Five Pods at v1.
pub(crate) fn workload() -> Workload {
    Workload {
        unsupported: None,
        recreates: false,
        rolls_back_in_batches: false,
        generation: 1,
        observed_generation: 1,
        replicas: 5,
        updated: 5,
        old: 0,
        stable_revision: String::new(),
        update_revision: "v1".to_owned(),
        pod_template_hash: "hash-v1".to_owned(),
        in_rollback: false,
        marked: false,
        held: false,
        rollout_id: None,
        labelled: true,
    }
}

/// At rest, as nothing was ever released.
pub(crate) fn healthy() -> World {
    let canary = Canary {
        observed_workload_generation: 1,
        observed_rollout_id: "v1".to_owned(),
        rollout_hash: "plan".to_owned(),
        canary_revision: "v1".to_owned(),
        current_step: 3,
        next_step: -1,
        state: StepState::Completed,
        ..Canary::default()
    };
    let status = Status {
        observed_generation: 2,
        phase: Some(Phase::Healthy),
        message: "workload deployment is completed".to_owned(),
        conditions: Vec::new(),
        canary: Some(canary),
    };
    World {
        rollout: rollout(),
        status,
        workload: Some(workload()),
        release: None,
        other_manager: None,
        settings: Settings::default(),
    }
}

pub(crate) fn condition(reason: Reason, message: &str) -> Condition {
    Condition {
        kind: ConditionKind::Progressing,
        holds: true,
        reason,
        message: message.to_owned(),
        updated: ago(60),
        since: ago(60),
    }
}

/// A change to v2 is held.
pub(crate) fn changed() -> World {
    let mut world = healthy();
    set(&mut world, |workload| {
        (workload.generation, workload.observed_generation) = (2, 2);
        (workload.updated, workload.old, workload.marked) = (0, 5, true);
        workload.stable_revision = "v1".to_owned();
        workload.update_revision = "v2".to_owned();
        workload.pod_template_hash = String::new();
    });
    world
}

/// In the step, in the state, its Pods updated and ready.
pub(crate) fn rolling(step: u32, state: StepState) -> World {
    let mut world = changed();
    let moved = [1, 3, 5][usize::try_from(step - 1).expect("few")];
    set(&mut world, |workload| {
        (workload.updated, workload.old) = (moved, 5 - moved);
        workload.pod_template_hash = "hash-v2".to_owned();
    });
    let message = match state {
        StepState::StepUpgrade => {
            format!("Rollout is in step({step}/3), and upgrade workload to new version")
        }
        _ => format!(
            "Rollout is in step({step}/3), and you need manually confirm to enter the next step"
        ),
    };
    world.status = Status {
        observed_generation: 2,
        phase: Some(Phase::Progressing),
        conditions: vec![condition(Reason::InRolling, &message)],
        message,
        canary: Some(Canary {
            observed_workload_generation: 2,
            observed_rollout_id: "v2".to_owned(),
            rollout_hash: "plan".to_owned(),
            stable_revision: "v1".to_owned(),
            canary_revision: "v2".to_owned(),
            pod_template_hash: "hash-v2".to_owned(),
            canary_replicas: moved,
            canary_ready_replicas: moved,
            current_step: step,
            next_step: if step < 3 { i64::from(step) + 1 } else { -1 },
            state,
            finalising: None,
            message: format!("BatchRelease is at state Ready, rollout-id v2, step {step}"),
            last_update: Some(ago(60)),
        }),
    };
    world.release = Some(release(step, moved));
    world
}

/// The step waits for approval.
pub(crate) fn waiting(step: u32) -> World {
    rolling(step, StepState::StepPaused)
}

/// The step waits for its Pods: none of them is ready.
pub(crate) fn upgrading(step: u32) -> World {
    let mut world = rolling(step, StepState::StepUpgrade);
    let release = world.release.as_mut().expect("there");
    release.batch_state = Some(BatchState::Verifying);
    release.updated_ready = 0;
    world
}

/// A BatchRelease whose batch is ready.
pub(crate) fn release(step: u32, moved: u32) -> BatchRelease {
    BatchRelease {
        uid: Uid("release-1".to_owned()),
        ours: true,
        deleting: false,
        generation: 1,
        observed_generation: 1,
        plan: ReleasePlan {
            batches: vec![Percent(20), Percent(60), Percent(100)],
            partition: Some(step - 1),
            rollout_id: "v2".to_owned(),
            failure_threshold: None,
            policy: None,
            rollback_in_batch: false,
            paused: false,
        },
        as_written: true,
        plan_seen: true,
        phase: Some(ReleasePhase::Progressing),
        batch_state: Some(BatchState::Ready),
        current_batch: step - 1,
        updated: moved,
        updated_ready: moved,
        observed_rollout_id: "v2".to_owned(),
        message: String::new(),
        held: None,
        surplus: None,
    }
}

pub(crate) fn set(world: &mut World, change: impl FnOnce(&mut Workload)) {
    change(world.workload.as_mut().expect("a workload"));
}

pub(crate) fn canary(world: &mut World, change: impl FnOnce(&mut Canary)) {
    change(world.status.canary.as_mut().expect("a release"));
}

pub(crate) fn on_release(world: &mut World, change: impl FnOnce(&mut BatchRelease)) {
    change(world.release.as_mut().expect("a BatchRelease"));
}

fn say_plan(plan: &ReleasePlan) -> String {
    let sizes: Vec<String> = plan.batches.iter().map(ToString::to_string).collect();
    let mut text = format!("{} ", sizes.join(" "));
    match plan.partition {
        Some(batch) => text.push_str(&format!("to {batch} of {}", plan.rollout_id)),
        None => text.push_str(&format!("all of {}", plan.rollout_id)),
    }
    if let Some(threshold) = plan.failure_threshold {
        text.push_str(&format!(" but {threshold}"));
    }
    for (word, so) in [("back", plan.rollback_in_batch), ("paused", plan.paused)] {
        if so {
            text.push_str(&format!(" {word}"));
        }
    }
    text
}

pub(crate) fn say_action(action: Option<&Action>) -> String {
    match action {
        None => "-".to_owned(),
        Some(Action::Create(plan)) => format!("create {}", say_plan(plan)),
        Some(Action::Update(plan)) => format!("update {}", say_plan(plan)),
        Some(Action::Promote(Policy::WaitResume)) => "promote WaitResume".to_owned(),
        Some(Action::Promote(Policy::Immediate)) => "promote Immediate".to_owned(),
        Some(Action::Release { freeze: true }) => "release frozen".to_owned(),
        Some(other) => other.name().to_owned(),
    }
}

/// `Progressing InRolling 1>2 StepPaused: -`
pub(crate) fn say(decision: &Decision) -> String {
    let status = &decision.status;
    let mut text = status.phase.map_or("-", Phase::name).to_owned();
    if let Some(condition) = status.condition(ConditionKind::Progressing) {
        text.push_str(&format!(" {}", condition.reason.name()));
    }
    if let Some(canary) = &status.canary {
        let (step, next, state) = (canary.current_step, canary.next_step, canary.state.name());
        text.push_str(&format!(" {step}>{next} {state}"));
        if let Some(finalising) = canary.finalising {
            text.push_str(&format!(" {}", finalising.name()));
        }
    }
    text.push_str(&format!(": {}", say_action(decision.action.as_ref())));
    text
}

#[track_caller]
pub(crate) fn check(world: &World, expect: &str) -> Decision {
    let decision = decide(world, now());
    assert_eq!(say(&decision), expect, "{}\n{decision:#?}", decision.status.message);
    settled(world, &decision);
    decision
}

/// A look at what a look without an action left says nothing new.
#[track_caller]
fn settled(world: &World, decision: &Decision) {
    if decision.action.is_some() {
        return;
    }
    let again = World { status: decision.status.clone(), ..world.clone() };
    let again = decide(&again, now());
    assert_eq!((again.status, again.action), (decision.status.clone(), None));
}

/// The reasons of the Events.
pub(crate) fn told(decision: &Decision) -> Vec<String> {
    decision.told.iter().map(|notice| notice.reason.clone()).collect()
}
