//! Whether a rollout is where it is wanted, by a status that speaks of what is asked for now.

pub(crate) mod steps;

use std::str::FromStr;

use api::bedrock::{Phase, StatefulsetRollout};
use engine::quantity::Percent;

use crate::show::tree::counts;
use crate::show::view::{Summary, condition};

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// What the rollout asks for is reached.
    Done,
    /// It stands still.
    Paused,
    /// This part of its Pods runs the update revision and is available.
    Percent(Percent),
    /// The Pods of this step, from 1, are updated and ready.
    Step(u32),
}

impl FromStr for Goal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "done" => Ok(Self::Done),
            None if text == "paused" => Ok(Self::Paused),
            Some(("percent", number)) => {
                let number = number.strip_suffix('%').unwrap_or(number);
                let number: i64 =
                    number.parse().map_err(|_| format!("{number:?} is no whole number"))?;
                Percent::new(number).map(Self::Percent).map_err(|error| error.to_string())
            }
            Some(("step", number)) => match number.parse() {
                Ok(step) if step > 0 => Ok(Self::Step(step)),
                _ => Err(format!("{number:?} is the number of no step; the first is 1")),
            },
            _ => Err("done, paused, percent=N or step=N".to_owned()),
        }
    }
}

/// Where it stands with regard to what is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// There.
    Reached(String),
    /// Will not get there: given up.
    Failed(String),
    /// Something else has to happen first.
    Blocked {
        message: String,
        /// Whether only a person can lift it.
        lasting: bool,
    },
    /// On its way, or nobody has looked yet.
    Waiting(String),
}

/// Blocks that don't pass by themselves: somebody has to change an object.
const LASTING: [&str; 7] = [
    "BudgetNeverAllows",
    "AmbiguousBudget",
    "OwnedByAnother",
    "CannotHold",
    "HoldLost",
    "LeakFound",
    "WorkloadPaused",
];

/// Judges. A status of an older generation or of another rolloutIdentity says nothing.
pub(crate) fn judge(rollout: &StatefulsetRollout, goals: &[Goal]) -> Verdict {
    let all = Summary::of(rollout);
    let Some(status) = rollout.status.as_ref().filter(|_| all.current) else {
        return Verdict::Waiting(format!(
            "no operator has looked at generation {} yet (its status speaks of {})",
            all.generation, all.observed_generation
        ));
    };
    let where_it_is = format!("{}: {}", all.phase, counts(&all));
    if goals.iter().any(|goal| reached(rollout, *goal)) {
        return Verdict::Reached(where_it_is);
    }
    let reason = if status.reason.is_empty() { where_it_is } else { status.reason.clone() };
    let code = condition(rollout, "Progressing").map_or("", |one| one.reason.as_str());
    match status.phase {
        Some(Phase::RolloutFailed) => Verdict::Failed(format!("RolloutFailed: {reason}")),
        Some(Phase::RolloutDone) => Verdict::Blocked {
            message: format!(
                "the rollout is done at {}% and goes no further until its spec is changed",
                all.percent
            ),
            lasting: true,
        },
        // A pause that nobody asked for: only a person ends it.
        Some(Phase::RolloutPaused) if LASTING.contains(&code) => {
            Verdict::Blocked { message: reason, lasting: true }
        }
        Some(Phase::RolloutPaused) => {
            Verdict::Waiting(format!("paused; go on with `sluice resume {}`", all.name))
        }
        _ => match all.blocked {
            Some(blocked) => Verdict::Blocked {
                lasting: LASTING.contains(&blocked.reason.as_str()),
                message: format!("{}: {}", blocked.reason, blocked.message),
            },
            None => Verdict::Waiting(reason),
        },
    }
}

fn reached(rollout: &StatefulsetRollout, goal: Goal) -> bool {
    let Some(status) = &rollout.status else { return false };
    match goal {
        Goal::Done => status.phase == Some(Phase::RolloutDone),
        Goal::Paused => status.phase == Some(Phase::RolloutPaused),
        // It has none; that is told before.
        Goal::Step(_) => false,
        Goal::Percent(percent) => {
            let replicas = u32::try_from(status.replicas).unwrap_or(0);
            let good = status.pods.iter().filter(|pod| pod.state == "Updated").count();
            let done = status.phase == Some(Phase::RolloutDone);
            replicas > 0
                && !is_before(rollout)
                && (good >= usize::try_from(percent.of(replicas)).unwrap_or(usize::MAX)
                    || (done && rollout.spec.percent() >= i64::from(percent.get())))
        }
    }
}

/// Whether the rows of Pods still speak of the revision before: the new template is not applied, or
/// the StatefulSet controller has not made a revision of it.
fn is_before(rollout: &StatefulsetRollout) -> bool {
    let code = condition(rollout, "Progressing").map_or("Pending", |one| one.reason.as_str());
    matches!(code, "Pending" | "Creating" | "Applying" | "Settling" | "WaitingForController")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn rollout(status: &Value) -> StatefulsetRollout {
        serde_json::from_value(json!({
            "apiVersion": "bedrock.operator.slack.com/v1",
            "kind": "StatefulsetRollout",
            "metadata": {"name": "tester", "namespace": "default", "uid": "u", "generation": 3},
            "spec": {"percent": 50, "rolloutIdentity": "two", "statefulset": {}},
            "status": status,
        }))
        .unwrap()
    }

    fn status(phase: &str, more: &Value) -> Value {
        let mut status = json!({
            "phase": phase, "observedGeneration": 3, "rolloutIdentity": "two", "replicas": 4,
            "targetReplicas": 2, "updatedReplicas": 1, "reason": "because",
        });
        for (key, value) in more.as_object().unwrap() {
            status[key] = value.clone();
        }
        status
    }

    fn check(goals: &[&str], status: &Value, expect: &str) {
        let goals: Vec<Goal> = goals.iter().map(|goal| goal.parse().unwrap()).collect();
        let verdict = format!("{:?}", judge(&rollout(status), &goals));
        assert!(verdict.starts_with(expect), "{goals:?} {status}: {verdict}");
    }

    #[test]
    fn an_old_status_is_never_judged_by() {
        check(&["done"], &status("RolloutDone", &json!({})), "Reached");
        check(&["done"], &status("RolloutDone", &json!({"observedGeneration": 2})), "Waiting");
        check(&["done"], &status("RolloutDone", &json!({"rolloutIdentity": "one"})), "Waiting");
        check(&["done"], &status("RolloutFailed", &json!({"observedGeneration": 2})), "Waiting");
        check(&["paused"], &status("RolloutPaused", &json!({"observedGeneration": 2})), "Waiting");
        check(&["done"], &Value::Null, "Waiting");
    }

    #[test]
    fn a_failure_ends_every_wait_but_one_that_is_over() {
        check(&["done"], &status("RolloutFailed", &json!({})), "Failed(\"RolloutFailed: because");
        check(&["paused"], &status("RolloutFailed", &json!({})), "Failed");
    }

    #[test]
    fn a_pause_is_waited_for_or_waited_out() {
        check(&["paused"], &status("RolloutPaused", &json!({})), "Reached");
        check(&["done", "paused"], &status("RolloutPaused", &json!({})), "Reached");
        check(&["done"], &status("RolloutPaused", &json!({})), "Waiting(\"paused; go on with");
        let leak = json!({"conditions": [
            {"type": "Progressing", "status": "False", "reason": "LeakFound"}]});
        check(&["done"], &status("RolloutPaused", &leak), "Blocked");
        check(&["paused"], &status("RolloutDone", &json!({})), "Blocked");
    }

    #[test]
    fn a_percentage_is_reached_by_pods_that_are_updated_and_available() {
        let pods = |states: &[&str]| {
            let rows: Vec<Value> = states.iter().map(|state| json!({"state": state})).collect();
            let moving =
                json!([{"type": "Progressing", "status": "True", "reason": "WaitingForPods"}]);
            json!({"Pods": rows, "conditions": moving})
        };
        let going = |states: &[&str]| status("RolloutInProgress", &pods(states));
        check(&["percent=25"], &going(&["Updated", "Old"]), "Reached");
        check(&["percent=25"], &going(&["Starting", "Old"]), "Waiting");
        check(&["percent=50"], &going(&["Updated", "Old"]), "Waiting");
        let mut before = going(&["Updated", "Updated"]);
        before["conditions"][0]["reason"] = json!("WaitingForController");
        check(&["percent=25"], &before, "Waiting");
        check(&["percent=50"], &status("RolloutDone", &pods(&[])), "Reached");
        check(&["percent=75"], &status("RolloutDone", &json!({})), "Blocked");
    }

    #[test]
    fn a_block_is_told_with_its_reason_and_whether_it_may_pass() {
        let blocked = |reason: &str| {
            let conditions = json!({"conditions": [
                {"type": "Blocked", "status": "True", "reason": reason, "message": "words"}]});
            status("RolloutInProgress", &conditions)
        };
        let lasting = "Blocked { message: \"BudgetNeverAllows: words\", lasting: true";
        check(&["done"], &blocked("BudgetNeverAllows"), lasting);
        let passing = "Blocked { message: \"BudgetExhausted: words\", lasting: false";
        check(&["done"], &blocked("BudgetExhausted"), passing);
    }

    #[test]
    fn a_goal_is_done_paused_or_a_percentage() {
        fn check(text: &str, expect: Option<Goal>) {
            assert_eq!(text.parse::<Goal>().ok(), expect, "{text}");
        }
        check("done", Some(Goal::Done));
        check("paused", Some(Goal::Paused));
        check("percent=25", Some(Goal::Percent(Percent::new(25).unwrap())));
        check("percent=25%", Some(Goal::Percent(Percent::new(25).unwrap())));
        check("step=2", Some(Goal::Step(2)));
        check("step=0", None);
        check("percent=101", None);
        check("percent", None);
        check("ready", None);
    }
}
