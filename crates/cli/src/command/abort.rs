//! `sluice abort`: back to the stable revision at once, also while paused.

use api::batches::names::ROLLBACK_IN_BATCH;
use serde_json::json;

use super::change::{self, Change};
use super::rollback::{asks_for, moves, target, words};
use crate::exit::{Failure, Outcome};
use crate::facts::{Facts, release};
use crate::find::{Found, Front};
use crate::out::Out;
use crate::session::Session;
use crate::standing::Standing;
use crate::writes;

/// Give up what is being released: back to the stable revision at once, also while paused
#[derive(clap::Args, Debug)]
#[group(skip)]
pub(crate) struct Flags {
    #[command(flatten)]
    change: change::Flags,
}

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    abort(&flags.change.connection.open().await?, flags, out).await
}

pub(super) async fn abort(session: &Session, flags: &Flags, out: &mut Out) -> Outcome {
    change::make(session, &flags.change, "abort", out, async |found: &Found| {
        decide(session, found).await
    })
    .await
}

async fn decide(session: &Session, found: &Found) -> Result<Change, Failure> {
    match found.front {
        Front::Percent => by_percent(found, &Facts::around(session, found.raw.clone()).await?),
        Front::Steps => by_steps(found, &release::Facts::around(session, found.raw.clone()).await?),
        Front::Release => found.refuse(
            "follows whatever its workload asks for: put the earlier template into the workload",
        ),
    }
}

fn by_percent(found: &Found, facts: &Facts) -> Result<Change, Failure> {
    let Some(workload) = &facts.workload else {
        return found.refuse("has no StatefulSet yet, so there is nothing to go back to");
    };
    let to = match target(workload, facts.stable(), None) {
        Ok(to) => to,
        Err(why) => return found.refuse(&format!("cannot go back: {}", why.words)),
    };
    let (moving, all) = moves(workload, to);
    if workload.pods.iter().all(|pod| pod.revision == workload.update) {
        return found.refuse(&format!(
            "is not in the midst of a rollout: every Pod runs what is asked for; an earlier revision \
             comes back with `sluice undo {}`",
            found.argument()
        ));
    }
    let fields = [
        ("/spec/statefulset/spec/template", to.template.clone()),
        ("/spec/percent", json!(100)),
        ("/spec/pauseRequested", json!(false)),
    ];
    let message = format!("goes back to {} at once; {moving} of {all} Pods move", words(to));
    Ok(Change::by(writes::replace(found, &fields), message))
}

fn by_steps(found: &Found, facts: &release::Facts) -> Result<Change, Failure> {
    let Some(workload) = &facts.workload else {
        return found.refuse(&format!(
            "cannot go back: {} does not exist, or is of a kind whose revisions are not read",
            release::workload_title(&facts.rollout)
        ));
    };
    let name = found.argument();
    let standing = Standing::of(&facts.rollout, Some(&workload.raw));
    if standing == Standing::RollingBack {
        return Ok(Change::none("goes back to the stable revision already"));
    }
    if !standing.is_under_way() {
        return found.refuse(&format!(
            "has no release to abort: it waits for {}; an earlier revision comes back with `sluice undo \
             {name}`",
            standing.waits_for()
        ));
    }
    let Some(to) = facts.stable() else {
        return found.refuse(&format!(
            "cannot go back: nothing is left of its stable revision; apply the earlier manifest, or see \
             `sluice history {name}` and give one to `sluice undo {name} --to-revision`"
        ));
    };
    if to.hash == workload.update && asks_for(workload.template(), to) {
        return Ok(Change::none("goes back to the stable revision already"));
    }
    let mut writes = Vec::new();
    let mut besides = String::new();
    let annotations = &found.raw["metadata"]["annotations"];
    if annotations[ROLLBACK_IN_BATCH] == "true" && workload.kind.facts().rolls_back_in_batches {
        // First: the template that comes after it would be taken back through the steps.
        let body = json!({"metadata": {"annotations": {ROLLBACK_IN_BATCH: null}}});
        writes.push(writes::merge(found, body));
        besides = format!("; its annotation {ROLLBACK_IN_BATCH} is taken off");
    }
    writes.push(writes::template(workload, &to.template));
    let (moving, all) = moves(workload, to);
    let message =
        format!("goes back to {} at once; {moving} of {all} Pods move{besides}", words(to));
    Ok(Change { writes, message })
}

#[cfg(test)]
mod tests;
