//! `sluice plan`: what would move, in which order, under which budget, and what is waited for.
//!
//! [`percent`] is of a StatefulsetRollout, [`steps`] of a Rollout.

mod pace;
mod percent;
mod steps;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::exit::{Exit, Failure, Outcome};
use crate::facts::release;
use crate::find::{Front, find};
use crate::name::Named;
use crate::out::{Out, PlainFormat};
use crate::session::Connection;

/// Show what a rollout would do from here, and do nothing
///
/// Of a Rollout whose workload is in the file too, or with --replicas, no cluster is asked.
#[derive(clap::Args, Debug)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["name", "filename"])))]
pub(crate) struct Flags {
    /// A rollout in the cluster, as NAME or TYPE/NAME
    #[arg(value_name = "NAME", value_parser = crate::name::object)]
    name: Option<Named>,

    /// A manifest as it would be applied; - is standard input
    #[arg(short, long, value_name = "FILE")]
    filename: Option<PathBuf>,

    /// Plan the steps of a Rollout for so many Pods, whatever its workload has
    #[arg(long, value_name = "NUMBER")]
    replicas: Option<u32>,

    /// How the result is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: PlainFormat,

    #[command(flatten)]
    connection: Connection,
}

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    match (&flags.name, &flags.filename) {
        (Some(name), _) => of_name(flags, name, out).await,
        (None, Some(path)) => of_file(flags, path, out).await,
        (None, None) => Err(Failure::Usage("give a NAME or -f FILE".to_owned())),
    }
}

async fn of_name(flags: &Flags, name: &Named, out: &mut Out) -> Outcome {
    let session = flags.connection.open().await?;
    let found = find(&session, name).await?;
    match found.front {
        Front::Percent => {
            no_replicas(flags)?;
            // Everything is read once here for the sake of clear failures.
            let facts = crate::facts::Facts::around(&session, found.raw).await?;
            say_percent(flags, &percent::planned(&session, &facts.raw).await?, out)
        }
        Front::Steps => {
            let facts = release::Facts::around(&session, found.raw.clone()).await?;
            let workload = facts.workload.as_ref().map(|workload| &workload.raw);
            let standing = crate::standing::Standing::of(&facts.rollout, workload);
            let source = steps::Source { workload, replicas: flags.replicas };
            let budgets = facts.workload.as_ref().map_or(&[][..], |it| &it.budgets);
            let planned = steps::planned(&found.raw, &source, Some(&standing), budgets)?;
            say_steps(flags, &planned, out)
        }
        Front::Release => found.refuse(
            "is a BatchRelease: plan the Rollout that is to replace it, or see `sluice get`",
        ),
    }
}

async fn of_file(flags: &Flags, path: &Path, out: &mut Out) -> Outcome {
    let file = path.display();
    let objects = api::parse(&super::lint::read(path)?)
        .map_err(|error| Failure::Failed(format!("{file}: {error}")))?;
    let front = |object: &Value| super::lint::kind::front(object);
    let is_planned = |one: &&Value| matches!(front(one), Some(Front::Percent | Front::Steps));
    let rollouts: Vec<&Value> = objects.iter().filter(is_planned).collect();
    let [rollout] = rollouts.as_slice() else {
        let name = |one: &&Value| one["metadata"]["name"].as_str().unwrap_or("?").to_owned();
        let names: Vec<String> = rollouts.iter().map(name).collect();
        return Err(Failure::Failed(format!(
            "{file}: a plan is of exactly one StatefulsetRollout or Rollout; this has {}",
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        )));
    };
    let rollout: &Value = rollout;
    if front(rollout) == Some(Front::Percent) {
        no_replicas(flags)?;
        percent::check(&file.to_string(), rollout)?;
        let mut session = flags.connection.open().await?;
        own_namespace(flags, rollout, &file.to_string(), &mut session.namespace)?;
        let object = percent::grafted(&session, rollout.clone()).await?;
        return say_percent(flags, &percent::planned(&session, &object).await?, out);
    }
    let stored = steps::check(&file.to_string(), rollout)?;
    let inside = super::lint::cross::workload_of(&stored, &objects).cloned();
    let workload = match inside {
        Some(workload) => Some(workload),
        None if flags.replicas.is_some() => None,
        None => {
            let mut session = flags.connection.open().await.map_err(|failure| {
                Failure::Failed(format!(
                    "{file}: the workload is not in the file, and no cluster has it: give --replicas \
                     NUMBER ({failure})"
                ))
            })?;
            own_namespace(flags, rollout, &file.to_string(), &mut session.namespace)?;
            steps::in_cluster(&session, &stored).await?
        }
    };
    let source = steps::Source { workload: workload.as_ref(), replicas: flags.replicas };
    let budgets = workload.as_ref().map(|it| super::lint::cross::budgets_of(it, &objects));
    let budgets = budgets.unwrap_or_default();
    say_steps(flags, &steps::planned(&stored, &source, None, &budgets)?, out)
}

/// The namespace of a manifest; a flag must not say another.
fn own_namespace(
    flags: &Flags,
    manifest: &Value,
    file: &str,
    namespace: &mut String,
) -> Result<(), Failure> {
    let Some(own) = manifest["metadata"]["namespace"].as_str() else { return Ok(()) };
    if flags.connection.namespace.as_deref().is_some_and(|asked| asked != own) {
        return Err(Failure::Usage(format!(
            "{file}: the rollout is in namespace {own}, and -n names another"
        )));
    }
    own.clone_into(namespace);
    Ok(())
}

fn no_replicas(flags: &Flags) -> Result<(), Failure> {
    if flags.replicas.is_none() {
        return Ok(());
    }
    let why = "--replicas is for a Rollout: a StatefulsetRollout says its replicas itself";
    Err(Failure::Usage(why.to_owned()))
}

fn say_percent(flags: &Flags, planned: &percent::Planned, out: &mut Out) -> Outcome {
    let room = out.room();
    let text = |paint| percent::words(planned, paint, room);
    out.document(flags.output.into(), planned, text)?;
    Ok(if planned.is_blocked() { Exit::Blocked } else { Exit::Done })
}

fn say_steps(flags: &Flags, planned: &steps::Planned, out: &mut Out) -> Outcome {
    let room = out.room();
    out.document(flags.output.into(), planned, |paint| steps::words(planned, paint, room))?;
    Ok(Exit::Done)
}
