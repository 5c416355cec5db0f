//! `sluice undo`: the template of an earlier revision becomes the one that is asked for.

use api::batches::names::ROLLBACK_IN_BATCH;
use serde::Serialize;
use serde_json::json;

use super::change::{retried, write};
use super::rollback::{Nothing, asks_for, moves, target, words as named};
use crate::exit::{Exit, Failure, Outcome};
use crate::facts::revision::Revision;
use crate::facts::workload::Workload;
use crate::facts::{Facts, release};
use crate::find::{Found, Front, find};
use crate::name::Named;
use crate::out::{Out, PlainFormat};
use crate::session::{Connection, Session};
use crate::standing::Standing;
use crate::writes::{self, Write};

/// Roll back to an earlier revision
///
/// By percent: its Pod template in the rollout, at 100 percent. By steps: its Pod template in the
/// workload; in the midst of a release the stable revision comes back at once, afterwards an earlier
/// revision is released like any other change.
#[derive(clap::Args, Debug)]
pub(crate) struct Flags {
    /// The rollout, as NAME or TYPE/NAME
    #[arg(value_name = "NAME", value_parser = crate::name::object)]
    name: Named,

    /// Number of the revision, as `sluice history` shows it; without it the one before this rollout
    #[arg(long, value_name = "NUMBER")]
    to_revision: Option<i64>,

    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,

    /// How the result is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: PlainFormat,

    #[command(flatten)]
    connection: Connection,
}

/// What was done.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Done {
    kind: &'static str,
    namespace: String,
    name: String,
    action: &'static str,
    dry_run: bool,
    from_version: String,
    to_revision: i64,
    to_version: String,
    to_image: String,
    /// How the Pods get there: `at 100%`, `at once`, `through the steps`.
    how: &'static str,
    /// Pods that do not run it.
    moves: usize,
    /// Of the object that was written.
    generation: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

/// What is to be done.
struct Back<'a> {
    workload: &'a Workload,
    to: &'a Revision,
    from_version: String,
    how: &'static str,
    write: Write,
    warning: Option<String>,
}

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    undo(&flags.connection.open().await?, flags, out).await
}

async fn undo(session: &Session, flags: &Flags, out: &mut Out) -> Outcome {
    let (done, text) = retried(async || attempt(session, flags).await).await?;
    out.document(flags.output.into(), &done, |_| text)?;
    Ok(Exit::Done)
}

/// Looks, decides and writes; what was done, as a document and in words.
async fn attempt(session: &Session, flags: &Flags) -> Result<(Done, String), Failure> {
    let found = find(session, &flags.name).await?;
    match found.front {
        Front::Percent => {
            let facts = Facts::around(session, found.raw.clone()).await?;
            let back = by_percent(&found, &facts, flags.to_revision);
            carry_out(session, &found, flags, told(&found, back)?).await
        }
        Front::Steps => {
            let facts = release::Facts::around(session, found.raw.clone()).await?;
            let back = by_steps(&found, &facts, flags.to_revision);
            carry_out(session, &found, flags, told(&found, back)?).await
        }
        Front::Release => found.refuse(
            "follows whatever its workload asks for: put the earlier template into the workload",
        ),
    }
}

fn told<'a>(found: &Found, back: Result<Back<'a>, Nothing>) -> Result<Back<'a>, Failure> {
    back.map_err(|why| {
        let words = format!("{}: {}", found.title(), why.words);
        if why.absent { Failure::NotFound(words) } else { Failure::Failed(words) }
    })
}

fn nothing<T>(words: &str) -> Result<T, Nothing> {
    Err(Nothing { absent: false, words: words.to_owned() })
}

fn by_percent<'a>(
    found: &Found,
    facts: &'a Facts,
    wanted: Option<i64>,
) -> Result<Back<'a>, Nothing> {
    let Some(workload) = &facts.workload else {
        return nothing("its StatefulSet does not exist, so there is nothing to undo");
    };
    let to = target(workload, facts.stable(), wanted)?;
    let spec = &facts.rollout.spec;
    let asked = spec.statefulset.template();
    let same = asked.is_some_and(|asked| asks_for(asked, to) && to.hash == workload.update);
    if same && spec.percent() == 100 {
        return nothing(&format!(
            "it asks for revision {} at 100% already, so there is nothing to undo",
            to.number
        ));
    }
    let fields =
        [("/spec/statefulset/spec/template", to.template.clone()), ("/spec/percent", json!(100))];
    Ok(Back {
        workload,
        to,
        from_version: asked.map(|now| api::bedrock::pod_version(now).version).unwrap_or_default(),
        how: "at 100%",
        write: writes::replace(found, &fields),
        warning: spec.pause_requested().then(|| {
            format!("it is paused and moves nothing before `sluice resume {}`", found.argument())
        }),
    })
}

fn by_steps<'a>(
    found: &Found,
    facts: &'a release::Facts,
    wanted: Option<i64>,
) -> Result<Back<'a>, Nothing> {
    let Some(workload) = &facts.workload else {
        return nothing(&format!(
            "{} does not exist or is of a kind whose revisions are not read, so there is nothing to undo",
            release::workload_title(&facts.rollout)
        ));
    };
    let stable = facts.stable().map(|one| one.hash.clone()).unwrap_or_default();
    let to = target(workload, &stable, wanted)?;
    if asks_for(workload.template(), to) && to.hash == workload.update {
        return nothing(&format!(
            "{} asks for revision {} already, so there is nothing to undo",
            workload.title(),
            to.number
        ));
    }
    let standing = Standing::of(&facts.rollout, Some(&workload.raw));
    let in_batches = found.raw["metadata"]["annotations"][ROLLBACK_IN_BATCH] == "true"
        && workload.kind.facts().rolls_back_in_batches;
    let at_once = standing.is_under_way() && to.hash == stable && !in_batches;
    let name = found.argument();
    let (how, warning) = match &standing {
        Standing::Disabled => (
            "at once",
            Some(
                "the Rollout is disabled: the workload's own controller moves the Pods".to_owned(),
            ),
        ),
        _ if at_once => ("at once", None),
        Standing::Paused(_) => (
            "through the steps",
            Some(format!("it is paused and moves nothing before `sluice resume {name}`")),
        ),
        _ if in_batches && standing.is_under_way() => (
            "through the steps",
            Some(format!(
                "its annotation asks for that; at once it goes with `sluice abort {name}`"
            )),
        ),
        _ => ("through the steps", None),
    };
    Ok(Back {
        workload,
        to,
        from_version: api::bedrock::pod_version(workload.template()).version,
        how,
        write: writes::template(workload, &to.template),
        warning,
    })
}

async fn carry_out(
    session: &Session,
    found: &Found,
    flags: &Flags,
    back: Back<'_>,
) -> Result<(Done, String), Failure> {
    let mut generation = found.raw["metadata"]["generation"].as_i64().unwrap_or(0);
    if !flags.dry_run
        && let Some(written) = write(session, std::slice::from_ref(&back.write)).await?
    {
        generation = written["metadata"]["generation"].as_i64().unwrap_or(0);
    }
    let done = Done {
        kind: found.front.kind(),
        namespace: found.namespace.clone(),
        name: found.name.clone(),
        action: "undo",
        dry_run: flags.dry_run,
        from_version: back.from_version.clone(),
        to_revision: back.to.number,
        to_version: back.to.version.clone(),
        to_image: back.to.image.clone(),
        how: back.how,
        moves: moves(back.workload, back.to).0,
        generation,
        warning: back.warning.clone(),
    };
    let text = words(found, &done, &back);
    Ok((done, text))
}

fn words(found: &Found, done: &Done, back: &Back<'_>) -> String {
    let verb = if done.dry_run { "would roll back" } else { "rolls back" };
    let (title, from, to, how) = (found.title(), &done.from_version, named(back.to), done.how);
    let mut text = format!(
        "{title} {verb} from {from} to {to} {how}; {} of {} Pods move\n",
        done.moves,
        moves(back.workload, back.to).1
    );
    if let Some(warning) = &done.warning {
        text.push_str(&format!("warning: {warning}\n"));
    }
    text
}

#[cfg(test)]
mod tests;
