//! Whether a Rollout, or a BatchRelease of one's own, is where it is wanted.

use api::batches::Rollout;
use serde_json::Value;

use super::{Goal, LASTING, Verdict};
use crate::facts::release::canary;
use crate::show::batch;
use crate::show::release::Summary;
use crate::standing::Standing;

/// Judges. A status of an older generation, or of a workload whose template has changed since, says
/// nothing.
pub(crate) fn judge(
    rollout: &Rollout,
    workload: Option<&Value>,
    all: &Summary,
    goals: &[Goal],
) -> Verdict {
    let where_it_is = format!("{}: {}; {}", all.phase, all.progress(), all.counts());
    let remedy = all.remedy.as_ref().map(|remedy| format!("; {remedy}")).unwrap_or_default();
    match &all.standing {
        Standing::Blocked(reason, message) => {
            return Verdict::Blocked { message: format!("{reason}: {message}"), lasting: true };
        }
        Standing::NoWorkload => {
            return Verdict::Blocked {
                message: format!("{} does not exist{remedy}", all.workload),
                lasting: false,
            };
        }
        Standing::Disabled => {
            return Verdict::Blocked {
                message: "it is disabled and holds no change: set spec.disabled to false"
                    .to_owned(),
                lasting: true,
            };
        }
        _ => {}
    }
    if let Some(unseen) = all.unseen() {
        return Verdict::Waiting(format!("no operator has looked at {unseen} yet"));
    }
    if goals.iter().any(|goal| reached(rollout, workload, all, *goal)) {
        return Verdict::Reached(where_it_is);
    }
    match &all.standing {
        Standing::Healthy if is_done(workload, all) => Verdict::Blocked {
            message: "nothing is being released, and every Pod runs what is asked for".to_owned(),
            lasting: true,
        },
        Standing::Healthy => Verdict::Waiting(format!(
            "not every Pod runs what is asked for and is ready: {}",
            all.counts()
        )),
        _ => match &all.blocked {
            Some(blocked) => Verdict::Blocked {
                lasting: LASTING.contains(&blocked.reason.as_str()),
                message: format!("{}: {}", blocked.reason, blocked.message),
            },
            None => Verdict::Waiting(format!("it waits for {}{remedy}", all.waits_for)),
        },
    }
}

fn reached(rollout: &Rollout, workload: Option<&Value>, all: &Summary, goal: Goal) -> bool {
    let done = all.standing == Standing::Healthy && is_done(workload, all);
    match goal {
        Goal::Done => done,
        Goal::Paused => matches!(all.standing, Standing::Approval(_) | Standing::Paused(_)),
        Goal::Percent(percent) => {
            let ready = u32::try_from(all.updated_ready_replicas).unwrap_or(0);
            let wanted = percent.of(all.replicas);
            done || (all.standing.is_under_way() && all.replicas > 0 && ready >= wanted)
        }
        Goal::Step(step) => {
            let step = i64::from(step);
            let ready = ["StepPaused", "StepReady", "Completed"];
            let is_there = canary(rollout).is_some_and(|it| {
                it.current_step_index > step
                    || (it.current_step_index == step
                        && ready.contains(&it.current_step_state.as_str()))
            });
            done || (all.standing.is_under_way() && is_there) || all.standing == Standing::Ending
        }
    }
}

/// Every Pod runs the template and is ready, by the word of the workload's own controller. A roll back is
/// over for the operator as soon as the Pods are there.
fn is_done(workload: Option<&Value>, all: &Summary) -> bool {
    // Of a kind that is not read here, the operator's word counts.
    let Some(raw) = workload else { return true };
    let status = |field: &str| raw["status"][field].as_i64().unwrap_or(0);
    let generation = raw["metadata"]["generation"].as_i64().unwrap_or(0);
    let all_updated = match raw["spec"]["replicas"].as_i64() {
        Some(replicas) => {
            status("updatedReplicas") >= replicas && status("replicas") <= status("updatedReplicas")
        }
        // A DaemonSet.
        None => status("updatedNumberScheduled") >= status("desiredNumberScheduled"),
    };
    let ready = all.ready_replicas >= i64::from(all.replicas);
    status("observedGeneration") >= generation && all_updated && ready
}

/// Judges a BatchRelease of one's own.
pub(crate) fn judge_release(all: &batch::Summary, goals: &[Goal]) -> Verdict {
    if !all.current {
        return Verdict::Waiting(format!(
            "no operator has looked at generation {} yet (its status speaks of {})",
            all.generation, all.observed_generation
        ));
    }
    let done = all.phase == "Completed";
    let reached = |goal: &Goal| match goal {
        Goal::Done => done,
        Goal::Paused => all.waits(),
        Goal::Percent(percent) => {
            let ready = u32::try_from(all.updated_ready_replicas).unwrap_or(0);
            done || (all.replicas > 0 && ready >= percent.of(all.replicas))
        }
        Goal::Step(step) => {
            let step = i64::from(*step);
            done || all.batch > step || (all.batch == step && all.batch_state == "Ready")
        }
    };
    if goals.iter().any(reached) {
        return Verdict::Reached(format!("{}: batch {}; {}", all.phase, all.batch, all.counts()));
    }
    if done {
        return Verdict::Blocked { message: "it is completed".to_owned(), lasting: true };
    }
    Verdict::Waiting(if all.waits() {
        format!(
            "batch {} is ready; go on with `sluice approve batchrelease/{}`",
            all.batch, all.name
        )
    } else {
        all.message.clone()
    })
}
