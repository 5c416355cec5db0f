//! `sluice restart`: every Pod is made anew, as carefully as a new version is released.

use cluster::Clock;
use jiff::Timestamp;
use serde_json::json;

use super::change::{self, Change, spec};
use crate::exit::{Failure, Outcome};
use crate::facts::workload::{Workload, WorkloadKind};
use crate::facts::{Facts, release};
use crate::find::{Found, Front};
use crate::out::Out;
use crate::session::Session;
use crate::standing::Standing;
use crate::writes;

/// Make every Pod anew, as carefully as a new version: by percent or in steps, within the budget
#[derive(clap::Args, Debug)]
#[group(skip)]
pub(crate) struct Flags {
    #[command(flatten)]
    change: change::Flags,
}

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    restart(&flags.change.connection.open().await?, flags, out).await
}

pub(super) async fn restart(session: &Session, flags: &Flags, out: &mut Out) -> Outcome {
    let now = Clock::system().now();
    change::make(session, &flags.change, "restart", out, async |found: &Found| {
        decide(session, found, now).await
    })
    .await
}

async fn decide(session: &Session, found: &Found, now: Timestamp) -> Result<Change, Failure> {
    match found.front {
        Front::Percent => by_percent(found, &Facts::around(session, found.raw.clone()).await?, now),
        Front::Steps => {
            by_steps(found, &release::Facts::around(session, found.raw.clone()).await?, now)
        }
        Front::Release => found
            .refuse("releases what its workload asks for: change the workload, or restart that"),
    }
}

fn by_percent(found: &Found, facts: &Facts, now: Timestamp) -> Result<Change, Failure> {
    let Some(workload) = &facts.workload else {
        return found.refuse("has no StatefulSet yet, so there is no Pod to restart");
    };
    budget(found, workload)?;
    let percent = facts.rollout.spec.percent();
    let body = json!({"statefulset": {"spec": {"template": writes::restarted(now)}}});
    let mut message = format!("restarts its Pods, as a rollout to {percent}%");
    if percent < 100 {
        message.push_str("; raise spec.percent for the others");
    }
    if facts.rollout.spec.pause_requested() {
        message.push_str("; it is paused and moves nothing before it is resumed");
    }
    Ok(spec(found, &body, message))
}

fn by_steps(found: &Found, facts: &release::Facts, now: Timestamp) -> Result<Change, Failure> {
    let Some(workload) = &facts.workload else {
        return found.refuse(&format!(
            "cannot restart anything: {} does not exist, or is of a kind that is not read",
            release::workload_title(&facts.rollout)
        ));
    };
    let (title, name) = (workload.title(), found.argument());
    let standing = Standing::of(&facts.rollout, Some(&workload.raw));
    let message = match &standing {
        Standing::Healthy => format!("restarts the Pods of {title}, through its steps"),
        Standing::Disabled => {
            format!("restarts the Pods of {title}; it is disabled, so not through its steps")
        }
        other => {
            return found.refuse(&format!(
                "cannot restart {title} now: it would begin its release again at step 1. It waits for {}; \
                 finish it first (`sluice approve {name}`) or give it up (`sluice abort {name}`)",
                other.waits_for()
            ));
        }
    };
    budget(found, workload)?;
    Ok(Change::by(writes::restart(workload, now), message))
}

/// What no budget ever allows would never come to an end.
fn budget(found: &Found, workload: &Workload) -> Result<(), Failure> {
    // A Deployment's Pods go by its own bounds: a budget is not asked.
    if workload.kind == WorkloadKind::Deployment {
        return Ok(());
    }
    let never = workload.budgets.iter().map(|seen| &seen.budget).find(|budget| {
        budget.expected > 0 && budget.desired_healthy >= budget.expected && budget.allowed == 0
    });
    match never {
        Some(budget) => found.refuse(&format!(
            "cannot be restarted: PodDisruptionBudget {} ({}) wants all {} Pods healthy, so none may ever \
             go; allow one, or add a replica",
            budget.name, budget.limit, budget.expected
        )),
        None => Ok(()),
    }
}
