//! `sluice pause`: no further Pod is moved until it is resumed.

use serde_json::json;

use super::change::{self, Change};
use crate::exit::Outcome;
use crate::out::Out;

/// Hold a rollout where it is
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
    change::make(&session, flags, "pause", out, |rollout| {
        if rollout.spec.pause_requested() {
            return Change { spec: None, message: "is paused already".to_owned() };
        }
        Change {
            spec: Some(json!({"pauseRequested": true})),
            message: format!("is to pause; go on with `sluice resume {}`", flags.name),
        }
    })
    .await
}
