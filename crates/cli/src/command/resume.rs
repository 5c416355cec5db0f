//! `sluice resume`: a paused rollout goes on.

use serde_json::json;

use super::change::{self, Change};
use crate::exit::Outcome;
use crate::out::Out;

/// Let a paused rollout go on
#[derive(clap::Args, Debug)]
#[group(skip)]
pub(crate) struct Flags {
    #[command(flatten)]
    change: change::Flags,
}

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    let flags = &flags.change;
    let session = flags.connection.open().await?;
    change::make(&session, flags, "resume", out, |rollout| {
        if rollout.spec.pause_requested() {
            return Change {
                spec: Some(json!({"pauseRequested": false})),
                message: "goes on".to_owned(),
            };
        }
        let paused = rollout.status.as_ref().is_some_and(|status| status.paused);
        let message = if paused {
            // It paused itself: a leak, or a hold that was lost. Nothing in the spec asks for it.
            format!(
                "was not paused by pauseRequested, so there is nothing to take back; see `sluice \
                 describe {name}`, and go on all the same with `sluice retry {name}`",
                name = flags.name
            )
        } else {
            "is not paused".to_owned()
        };
        Change { spec: None, message }
    })
    .await
}
