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
pub(crate) struct Flags {
    /// The rollout
    #[arg(value_name = "NAME", value_parser = crate::name::object)]
    pub(crate) name: String,

    /// How the result is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    pub(crate) output: PlainFormat,

    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// What was done.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Done {
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// The command.
    pub(crate) action: &'static str,
    /// Whether anything had to be changed.
    pub(crate) changed: bool,
    /// The generation that `sluice status` is going to wait for.
    pub(crate) generation: i64,
    /// A sentence.
    pub(crate) message: String,
}

/// A change that a command decides on after it has seen the rollout.
pub(crate) struct Change {
    /// Merged into `spec`; `None` when it is so already.
    pub(crate) spec: Option<Value>,
    /// What is so then.
    pub(crate) message: String,
}

/// Reads the rollout, decides, changes it, and says so.
pub(crate) async fn make(
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::far_side::{FarSide, Paper, flags};

    #[derive(clap::Args)]
    #[group(skip)]
    struct Outer {
        #[command(flatten)]
        flags: Flags,
    }

    async fn made(
        far_side: &FarSide,
        arguments: &[&str],
        spec: Option<Value>,
    ) -> (Outcome, String) {
        let (paper, flags) = (Paper::default(), flags::<Outer>(arguments).flags);
        let decide = |_: &StatefulsetRollout| Change { spec, message: "is so".to_owned() };
        let out = &mut Out::to(paper.clone());
        let outcome = make(&far_side.session(), &flags, "try", out, decide).await;
        (outcome, paper.text())
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_is_one_merge_patch_of_the_spec() {
        let far_side = FarSide::rolling_out();
        let (_, text) = made(&far_side, &["tester"], Some(json!({"pauseRequested": true}))).await;
        assert_eq!(text, "statefulsetrollout default/tester is so\n");
        assert_eq!(far_side.patches(), [json!({"spec": {"pauseRequested": true}})]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_so_already_is_not_written_again() {
        let far_side = FarSide::rolling_out();
        let (_, text) = made(&far_side, &["tester", "-o", "json"], None).await;
        let done: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&done["changed"], &done["generation"]), (&json!(false), &json!(3)));
        assert_eq!(far_side.patches().len(), 0);
    }
}
