//! What the verbs share that change something: find it, decide, write once, say what is so then.
//!
//! A write is refused by the server where somebody changed the object in between; then everything is
//! looked at and decided again.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure, Outcome};
use crate::find::{Found, find};
use crate::name::Named;
use crate::out::{Out, PlainFormat};
use crate::session::{Connection, Session};
use crate::writes::Write;

/// The flags of a command that changes a rollout.
#[derive(clap::Args, Debug)]
pub(crate) struct Flags {
    /// The rollout, as NAME or TYPE/NAME
    #[arg(value_name = "NAME", value_parser = crate::name::object)]
    pub(crate) name: Named,

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
    pub(crate) kind: &'static str,
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// The command.
    pub(crate) action: &'static str,
    /// Whether anything had to be changed.
    pub(crate) changed: bool,
    /// The generation of the object that was written, or that needed no write.
    pub(crate) generation: i64,
    /// A sentence.
    pub(crate) message: String,
}

/// A change that a command decides on after it has looked.
pub(crate) struct Change {
    /// In this order; none when it is so already.
    pub(crate) writes: Vec<Write>,
    /// What is so then.
    pub(crate) message: String,
}

impl Change {
    /// One write.
    pub(crate) fn by(write: Write, message: impl Into<String>) -> Self {
        Self { writes: vec![write], message: message.into() }
    }

    /// Nothing to write.
    pub(crate) fn none(message: impl Into<String>) -> Self {
        Self { writes: Vec::new(), message: message.into() }
    }
}

/// How often it is looked again after a conflict.
const TRIES: u32 = 5;

/// Finds the rollout, decides, changes it, and says so.
pub(crate) async fn make(
    session: &Session,
    flags: &Flags,
    action: &'static str,
    out: &mut Out,
    decide: impl AsyncFn(&Found) -> Result<Change, Failure>,
) -> Outcome {
    let done = carry_out(session, &flags.name, action, decide).await?;
    say(&done, flags.output, out)
}

/// The sentence, or the document.
fn say(done: &Done, output: PlainFormat, out: &mut Out) -> Outcome {
    out.document(output.into(), done, |_| {
        let kind = done.kind.to_ascii_lowercase();
        format!("{kind} {}/{} {}\n", done.namespace, done.name, done.message)
    })?;
    Ok(Exit::Done)
}

async fn carry_out(
    session: &Session,
    named: &Named,
    action: &'static str,
    decide: impl AsyncFn(&Found) -> Result<Change, Failure>,
) -> Result<Done, Failure> {
    retried(async || {
        let found = find(session, named).await?;
        let change = decide(&found).await?;
        let written = write(session, &change.writes).await?;
        let now = written.as_ref().unwrap_or(&found.raw);
        Ok(Done {
            kind: found.front.kind(),
            namespace: found.namespace.clone(),
            name: found.name.clone(),
            action,
            changed: written.is_some(),
            generation: now["metadata"]["generation"].as_i64().unwrap_or(0),
            message: change.message,
        })
    })
    .await
}

/// Looks and decides again where somebody else's write came in between.
pub(super) async fn retried<T>(
    attempt: impl AsyncFn() -> Result<T, Failure>,
) -> Result<T, Failure> {
    for tries in 1..TRIES {
        match attempt().await {
            Err(Failure::Conflict(_)) => {
                tokio::time::sleep(Duration::from_millis(50) * tries).await;
            }
            other => return other,
        }
    }
    attempt().await
}

/// Sends them; answers with what the last one made.
pub(super) async fn write(session: &Session, writes: &[Write]) -> Result<Option<Value>, Failure> {
    let mut made = None;
    for write in writes {
        made = Some(write.send(session).await?);
    }
    Ok(made)
}

/// A merge patch of the spec.
pub(crate) fn spec(found: &Found, spec: &Value, message: impl Into<String>) -> Change {
    Change::by(crate::writes::merge(found, json!({"spec": spec})), message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::far_side::{FarSide, Paper, flags, rollout};

    #[derive(clap::Args)]
    #[group(skip)]
    struct Outer {
        #[command(flatten)]
        flags: Flags,
    }

    async fn made(far_side: &FarSide, arguments: &[&str], new: Option<Value>) -> (Outcome, String) {
        let (paper, flags) = (Paper::default(), flags::<Outer>(arguments).flags);
        let decide = async |found: &Found| {
            Ok(match &new {
                Some(new) => spec(found, new, "is so"),
                None => Change::none("is so"),
            })
        };
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

    #[tokio::test(start_paused = true)]
    async fn a_conflict_is_answered_with_another_look_and_in_the_end_with_its_words() {
        let conflict = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
            "code": 409, "reason": "Conflict", "message": "modified", "details": {"name": "tester"}});
        let path = crate::facts::rollouts_path(Some("default")) + "/tester";
        // Looked at, refused, looked at, taken.
        let answers = [rollout(), conflict.clone(), rollout()];
        let far_side = FarSide::default().with_each(&path, &answers);
        let new = Some(json!({"pauseRequested": true}));
        made(&far_side, &["ssr/tester"], new.clone()).await.0.unwrap();
        assert_eq!(far_side.patches().len(), 2);
        let answers: Vec<Value> = (0..10).flat_map(|_| [rollout(), conflict.clone()]).collect();
        let far_side = FarSide::default().with_each(&path, &answers);
        let failure = made(&far_side, &["ssr/tester"], new).await.0.unwrap_err();
        assert!(failure.to_string().contains("somebody else"), "{failure}");
        assert_eq!(far_side.patches().len(), 5);
    }
}
