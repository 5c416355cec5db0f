//! Where a Rollout stands, in one word that commands decide by: what it says, and what that waits for.

use api::batches::{Condition, Rollout, StepPause};
use engine::front::rollout::{Phase, Reason, StepState};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::facts::release::{canary, condition, plan, status};
use crate::facts::workload::is_marked;

/// How the status says that the workload is gone; in mid-release the phase and the step stay as they are.
const GONE: &str = "Workload Not Found";

/// Where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nobody has looked at it.
    Unseen,
    /// Something has to be mended first: reason and message.
    Blocked(String, String),
    /// The workload does not exist.
    NoWorkload,
    /// Nothing is released.
    Healthy,
    /// A change is held, and the operator has not taken it up.
    Held,
    /// A release begins.
    Beginning,
    /// Pods of this step are updated.
    Updating(i64),
    /// This step waits for an approval.
    Approval(i64),
    /// This step goes on at this time by itself.
    Clock(i64, Option<Timestamp>),
    /// This step is approved, and goes on.
    Approved(i64),
    /// Told to stand still, at this step.
    Paused(i64),
    /// All steps are done; the workload is given back.
    Ending,
    /// Back to the stable revision.
    RollingBack,
    /// Deleted, or disabled, and the workload is not given back yet.
    Leaving,
    /// Disabled.
    Disabled,
}

impl Standing {
    /// Of a Rollout and its workload.
    pub(crate) fn of(rollout: &Rollout, workload: Option<&Value>) -> Self {
        let Some(status) = status(rollout) else { return Self::Unseen };
        if let Some(blocked) = blocked(rollout).filter(|it| !is_of_release(it)) {
            return Self::Blocked(blocked.reason.clone(), blocked.message.clone());
        }
        match Phase::of(&status.phase) {
            None => Self::Unseen,
            Some(Phase::Initial) => Self::NoWorkload,
            Some(Phase::Healthy) if workload.is_some_and(is_marked) => Self::Held,
            Some(Phase::Healthy) => Self::Healthy,
            Some(Phase::Terminating | Phase::Disabling) => Self::Leaving,
            Some(Phase::Disabled) => Self::Disabled,
            Some(Phase::Progressing) if status.message == GONE => Self::NoWorkload,
            Some(Phase::Progressing) => progressing(rollout),
        }
    }

    /// Whether a release is under way that can be told to stop or to go back.
    pub(crate) fn is_under_way(&self) -> bool {
        matches!(
            self,
            Self::Held
                | Self::Beginning
                | Self::Updating(_)
                | Self::Approval(_)
                | Self::Clock(..)
                | Self::Approved(_)
                | Self::Paused(_)
        )
    }

    /// What it waits for, in words.
    pub(crate) fn waits_for(&self) -> String {
        match self {
            Self::Unseen => "the operator: no status has been written yet".to_owned(),
            Self::Blocked(reason, message) => format!("a change: {reason}: {message}"),
            Self::NoWorkload => "the workload, which does not exist".to_owned(),
            Self::Healthy => "the next change of its workload".to_owned(),
            Self::Held => "the operator: a change of the workload is held".to_owned(),
            Self::Beginning => "its first step".to_owned(),
            Self::Updating(step) => format!("the Pods of step {step}"),
            Self::Approval(step) => format!("an approval of step {step}"),
            Self::Clock(step, None) => format!("the pause of step {step}"),
            Self::Clock(step, Some(until)) => {
                // A time and not what is left: a view is new only where something is.
                format!("the pause of step {step}, until {}", until.strftime("%H:%M:%SZ"))
            }
            Self::Approved(step) => format!("the operator: step {step} is approved"),
            Self::Paused(step) => format!("a resume: it is paused at step {step}"),
            Self::Ending => "the workload to be given back".to_owned(),
            Self::RollingBack => "the Pods to be back at the stable revision".to_owned(),
            Self::Leaving => "the workload to be given back: its release is ended".to_owned(),
            Self::Disabled => "somebody to enable it: disabled, it holds no change".to_owned(),
        }
    }

    /// What to do next, where somebody has to; `name` as an argument.
    pub(crate) fn remedy(&self, name: &str) -> Option<String> {
        match self {
            Self::Approval(_) => {
                Some(format!("sluice approve {name}   (or back: sluice abort {name})"))
            }
            Self::Clock(..) => Some(format!("sluice approve {name} goes on at once")),
            Self::Paused(_) => {
                Some(format!("sluice resume {name}   (or back: sluice abort {name})"))
            }
            Self::Unseen | Self::Held => {
                Some("is `sluice operator` running, and does it serve this namespace?".to_owned())
            }
            Self::Updating(_) => Some(format!("back, if it does not come: sluice abort {name}")),
            Self::NoWorkload => Some(
                "create the workload; or mend spec.workloadRef, in mid-release by a new Rollout"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

/// The condition Blocked.
fn blocked(rollout: &Rollout) -> Option<&Condition> {
    condition(rollout, "Blocked").filter(|it| it.status == "True")
}

/// That its release goes on, but for what holds the Pods of its step.
pub(crate) fn held(rollout: &Rollout) -> Option<&Condition> {
    blocked(rollout).filter(|it| is_of_release(it))
}

fn is_of_release(blocked: &Condition) -> bool {
    Reason::of_release(&blocked.reason).is_some()
}

fn progressing(rollout: &Rollout) -> Standing {
    let reason = condition(rollout, "Progressing").map_or("", |it| it.reason.as_str());
    let Some(canary) = canary(rollout) else { return Standing::Beginning };
    let step = canary.current_step_index;
    match reason {
        "Initializing" => return Standing::Beginning,
        "Finalising" | "Completed" => return Standing::Ending,
        "Cancelling" => return Standing::RollingBack,
        _ if rollout.spec.strategy.paused == Some(true) => return Standing::Paused(step),
        _ => {}
    }
    match StepState::of(&canary.current_step_state) {
        Some(StepState::StepPaused) => {
            let index = usize::try_from(step - 1).ok();
            let plan = plan(rollout).ok();
            let pause = index.and_then(|index| plan?.steps.get(index).map(|step| step.pause));
            match pause {
                Some(StepPause::Seconds(seconds)) => {
                    let pause = SignedDuration::from_secs(i64::from(seconds));
                    let since = canary.last_update_time;
                    Standing::Clock(step, since.and_then(|since| since.checked_add(pause).ok()))
                }
                _ => Standing::Approval(step),
            }
        }
        Some(StepState::StepReady) => Standing::Approved(step),
        Some(StepState::Completed) => Standing::Ending,
        _ => Standing::Updating(step),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::far_side::web::{deployment, deployment_done, healthy, rollout_at};

    fn check(rollout: &Value, workload: &Value, expect: &Standing) {
        let rollout: Rollout = serde_json::from_value(rollout.clone()).unwrap();
        let found = Standing::of(&rollout, Some(workload));
        assert_eq!(&found, expect, "{:?}", rollout.status);
    }

    #[test]
    fn a_release_stands_where_its_step_and_its_conditions_say() {
        let at = |canary: Value| rollout_at(&json!({}), &canary);
        let because = |reason: &str| {
            let progressing = json!({"type": "Progressing", "status": "True", "reason": reason,
                "message": ""});
            rollout_at(&json!({"conditions": [progressing]}), &json!({}))
        };
        let held = deployment("v2");
        check(&at(json!({})), &held, &Standing::Approval(2));
        check(&at(json!({"currentStepState": "StepUpgrade"})), &held, &Standing::Updating(2));
        check(&at(json!({"currentStepState": "StepReady"})), &held, &Standing::Approved(2));
        check(&at(json!({"currentStepState": "Completed"})), &held, &Standing::Ending);
        check(&because("Initializing"), &held, &Standing::Beginning);
        check(&because("Finalising"), &held, &Standing::Ending);
        check(&because("Cancelling"), &held, &Standing::RollingBack);
        let mut clock = at(json!({}));
        clock["spec"]["strategy"]["canary"]["steps"][1]["pause"] = json!({"duration": 30});
        let until = "2026-11-29T11:58:30Z".parse().ok();
        check(&clock, &held, &Standing::Clock(2, until));
        clock["spec"]["strategy"]["paused"] = json!(true);
        check(&clock, &held, &Standing::Paused(2));
    }

    #[test]
    fn outside_of_a_release_the_phase_says_it_and_the_mark_of_the_workload() {
        let at = |phase: &str| rollout_at(&json!({"phase": phase}), &json!({}));
        let (held, free) = (deployment("v2"), deployment_done());
        check(&healthy("True"), &free, &Standing::Healthy);
        check(&healthy("True"), &held, &Standing::Held);
        check(&at(""), &free, &Standing::Unseen);
        check(&at("Initial"), &free, &Standing::NoWorkload);
        check(&at("Disabling"), &held, &Standing::Leaving);
        check(&at("Terminating"), &held, &Standing::Leaving);
        check(&at("Disabled"), &free, &Standing::Disabled);
        // In mid-release it keeps its step, and an approval would lead to nothing.
        let gone = rollout_at(&json!({"message": "Workload Not Found"}), &json!({}));
        check(&gone, &Value::Null, &Standing::NoWorkload);
    }
}
