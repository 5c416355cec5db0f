//! `sluice approve`: a step that waits goes on, or another one than the next comes.

use api::batches::{BatchRelease, Rollout};
use serde_json::json;

use super::change::{self, Change};
use crate::exit::{Failure, Outcome};
use crate::facts::decoded;
use crate::facts::release::{canary, plan};
use crate::find::{Found, Front};
use crate::out::Out;
use crate::session::Session;
use crate::standing::Standing;
use crate::writes;

/// Go on from a step that waits, or to a step of your choice
#[derive(clap::Args, Debug)]
#[group(skip)]
pub(crate) struct Flags {
    /// Go on with this step instead of the next, forwards or backwards; Pods that are updated stay so
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    step: Option<u32>,

    #[command(flatten)]
    change: change::Flags,
}

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    approve(&flags.change.connection.open().await?, flags, out).await
}

pub(super) async fn approve(session: &Session, flags: &Flags, out: &mut Out) -> Outcome {
    let decide = async |found: &Found| decide(found, flags.step.map(i64::from));
    change::make(session, &flags.change, "approve", out, decide).await
}

fn decide(found: &Found, step: Option<i64>) -> Result<Change, Failure> {
    match found.front {
        Front::Steps => steps(found, step),
        Front::Release => batches(found, step),
        Front::Percent => found.refuse(
            "has no steps to approve: it moves the percentage of its spec; raise spec.percent, or, if it \
             is paused, use `sluice resume`",
        ),
    }
}

fn steps(found: &Found, step: Option<i64>) -> Result<Change, Failure> {
    let rollout: Rollout = decoded(&found.raw, "rollout")?;
    let standing = Standing::of(&rollout, None);
    let name = found.argument();
    let count = plan(&rollout).map_or(0, |plan| plan.steps.len());
    let waits = canary(&rollout).is_some_and(|it| it.current_step_state == "StepPaused")
        && rollout.status.as_ref().is_some_and(|status| status.phase == "Progressing");
    let (current, next) =
        canary(&rollout).map_or((0, 0), |it| (it.current_step_index, it.next_step_index));
    let later = match standing {
        Standing::Paused(_) => {
            format!("; it is paused, and goes on after `sluice resume {name}`")
        }
        _ => String::new(),
    };
    if let Some(step) = step.filter(|step| !(waits && *step == next)) {
        let known = usize::try_from(step).is_ok_and(|step| step <= count);
        if !known {
            return found.refuse(&format!(
                "has {count} steps, and {step} is none of them; give 1 to {count}"
            ));
        }
        let runs = standing.is_under_way() && canary(&rollout).is_some();
        if !runs {
            return found.refuse(&format!(
                "is not in the midst of a release, so there is no step to go to: it waits for {}",
                standing.waits_for()
            ));
        }
        if step == next {
            return found.refuse(&format!(
                "goes on to step {step} by itself after step {current}, and is not that far: it waits for \
                 {}",
                standing.waits_for()
            ));
        }
        let back = if step <= current { "; Pods that are updated stay so" } else { "" };
        return Ok(Change::by(
            writes::jump(found, step),
            format!("goes from step {current} of {count} to step {step}{back}{later}"),
        ));
    }
    if !waits {
        let remedy = standing.remedy(&name).map_or(String::new(), |remedy| format!("; {remedy}"));
        return found.refuse(&format!(
            "has no step that waits for an approval: it waits for {}{remedy}",
            standing.waits_for()
        ));
    }
    let then = if usize::try_from(current).is_ok_and(|current| current >= count) {
        "the release comes to its end, with all Pods".to_owned()
    } else {
        let size = plan(&rollout).ok().and_then(|plan| {
            let index = usize::try_from(current).ok()?;
            plan.steps.get(index).map(|step| step.replicas.to_string())
        });
        let size = size.map(|size| format!(" ({size})")).unwrap_or_default();
        format!("step {}{size} comes next", current + 1)
    };
    let message = format!("step {current} of {count} is approved: {then}{later}");
    Ok(Change::by(writes::approve(found), message))
}

/// A BatchRelease of one's own: its partition is how far it may go.
fn batches(found: &Found, step: Option<i64>) -> Result<Change, Failure> {
    let release: BatchRelease = decoded(&found.raw, "batchrelease")?;
    let plan = &release.spec.release_plan;
    let count = plan.batches.as_ref().map_or(0, Vec::len);
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let Some(partition) = plan.batch_partition else {
        return found.refuse("has no batchPartition, so it goes to its end without waiting");
    };
    let status = release.status.unwrap_or_default();
    let ready = status.canary_status.batch_state == "Ready"
        && status.canary_status.current_batch >= partition;
    if step.is_none() && !ready {
        return found.refuse(&format!(
            "has no batch that waits: batch {} of {count} is {}",
            status.canary_status.current_batch + 1,
            if status.canary_status.batch_state.is_empty() {
                "not begun"
            } else {
                &status.canary_status.batch_state
            }
        ));
    }
    // Batches are counted from 0 in the partition, and from 1 here.
    let to = step.map_or(partition + 1, |step| step - 1);
    let (partition, words) = match to {
        to if to < count => (json!(to), format!("may go on to batch {} of {count}", to + 1)),
        _ if step.is_some() => {
            return found.refuse(&format!("has {count} batches; give 1 to {count}"));
        }
        _ => (json!(null), "comes to its end: its workload goes on by itself".to_owned()),
    };
    let body = json!({
        "metadata": {"resourceVersion": found.version()},
        "spec": {"releasePlan": {"batchPartition": partition}},
    });
    Ok(Change::by(writes::merge(found, body), words))
}

#[cfg(test)]
mod tests;
