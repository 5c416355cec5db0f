//! What `pause`, `resume` and `retry` share: one merge patch on a rollout's spec, and what is said.

use api::bedrock::StatefulsetRollout;
use serde::Serialize;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure, Outcome};
use crate::facts::{decoded, rollout, rollouts_path};
use crate::out::{Out, PlainFormat};
use crate::session::{Connection, Session};

/// The flags of a command that changes a rollout.
#[derive(clap::Args, Debug)]
pub struct Flags {
    /// The rollout
    #[arg(value_name = "NAME", value_parser = crate::name::object)]
    pub name: String,

    /// How the result is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    pub output: PlainFormat,

    #[command(flatten)]
    pub connection: Connection,
}

/// What was done.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Done {
    pub namespace: String,
    pub name: String,
    /// The command.
    pub action: &'static str,
    /// Whether anything had to be changed.
    pub changed: bool,
    /// The generation that `sluice status` is going to wait for.
    pub generation: i64,
    /// A sentence.
    pub message: String,
}

/// A change that a command decides on after it has seen the rollout.
pub struct Change {
    /// Merged into `spec`; `None` when it is so already.
    pub spec: Option<Value>,
    /// What is so then.
    pub message: String,
}

/// Reads the rollout, decides, changes it, and says so.
pub async fn make(
    session: &Session,
    flags: &Flags,
    action: &'static str,
    out: &mut Out,
    decide: impl FnOnce(&StatefulsetRollout) -> Change,
) -> Outcome {
    let raw = rollout(session, &flags.name).await?;
    let seen: StatefulsetRollout = decoded(&raw, "statefulsetrollout")?;
    let change = decide(&seen);
    let changed = change.spec.is_some();
    let now = match change.spec {
        Some(spec) => merge(session, &flags.name, &spec).await?,
        None => raw,
    };
    let done = Done {
        namespace: session.namespace.clone(),
        name: flags.name.clone(),
        action,
        changed,
        generation: now["metadata"]["generation"].as_i64().unwrap_or(0),
        message: change.message,
    };
    out.document(flags.output.into(), &done, |_| {
        format!("statefulsetrollout {}/{} {}\n", done.namespace, done.name, done.message)
    })?;
    Ok(Exit::Done)
}

/// Merges into the spec of a rollout.
async fn merge(session: &Session, name: &str, spec: &Value) -> Result<Value, Failure> {
    let path = format!("{}/{name}", rollouts_path(Some(&session.namespace)));
    let object = format!("statefulsetrollout {}/{name}", session.namespace);
    session.merge(&path, &json!({"spec": spec}), &object).await
}
