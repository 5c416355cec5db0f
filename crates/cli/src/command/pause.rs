//! `sluice pause`: no further Pod is moved until it is resumed.

use serde_json::json;

use super::change::{self, Change, spec};
use crate::exit::{Failure, Outcome};
use crate::facts::decoded;
use crate::find::{Found, Front};
use crate::out::Out;
use crate::session::Session;
use crate::writes;

/// Hold a rollout where it is
#[derive(clap::Args, Debug)]
#[group(skip)]
pub(crate) struct Flags {
    #[command(flatten)]
    change: change::Flags,
}

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    pause(&flags.change.connection.open().await?, flags, out).await
}

pub(super) async fn pause(session: &Session, flags: &Flags, out: &mut Out) -> Outcome {
    change::make(session, &flags.change, "pause", out, async |found: &Found| decide(found)).await
}

fn decide(found: &Found) -> Result<Change, Failure> {
    let message = format!("is to pause; go on with `sluice resume {}`", found.argument());
    match found.front {
        Front::Percent => {
            let seen: api::bedrock::StatefulsetRollout = decoded(&found.raw, "statefulsetrollout")?;
            if seen.spec.pause_requested() {
                return Ok(Change::none("is paused already"));
            }
            Ok(spec(found, &json!({"pauseRequested": true}), message))
        }
        Front::Steps if found.raw["spec"]["strategy"]["paused"] == true => {
            Ok(Change::none("is paused already"))
        }
        Front::Steps => Ok(Change::by(writes::pause(found, true), message)),
        Front::Release => found.refuse(
            "is no Rollout and has no pause: it stands still after the batch of its batchPartition",
        ),
    }
}
