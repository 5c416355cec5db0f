//! `sluice resume`: a paused rollout goes on.

use api::batches::Rollout;
use api::bedrock::StatefulsetRollout;
use serde_json::json;

use super::change::{self, Change, spec};
use crate::exit::{Failure, Outcome};
use crate::facts::decoded;
use crate::find::{Found, Front};
use crate::out::Out;
use crate::session::Session;
use crate::standing::Standing;
use crate::writes;

/// Let a paused rollout go on
#[derive(clap::Args, Debug)]
#[group(skip)]
pub(crate) struct Flags {
    #[command(flatten)]
    change: change::Flags,
}

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    resume(&flags.change.connection.open().await?, flags, out).await
}

pub(super) async fn resume(session: &Session, flags: &Flags, out: &mut Out) -> Outcome {
    change::make(session, &flags.change, "resume", out, async |found: &Found| decide(found)).await
}

fn decide(found: &Found) -> Result<Change, Failure> {
    match found.front {
        Front::Percent => by_percent(found),
        Front::Steps => by_steps(found),
        Front::Release if writes::is_held(found) => {
            Ok(Change::by(writes::hold(found, false), "goes on"))
        }
        Front::Release => Ok(Change::none(format!(
            "is not paused; where it waits for its next batch, `sluice approve {}` begins that",
            found.argument()
        ))),
    }
}

fn by_percent(found: &Found) -> Result<Change, Failure> {
    let rollout: StatefulsetRollout = decoded(&found.raw, "statefulsetrollout")?;
    if rollout.spec.pause_requested() {
        return Ok(spec(found, &json!({"pauseRequested": false}), "goes on"));
    }
    let paused = rollout.status.as_ref().is_some_and(|status| status.paused);
    if !paused {
        return Ok(Change::none("is not paused"));
    }
    // It paused itself: a leak, or a hold that was lost. Nothing in the spec asks for it.
    let name = &found.name;
    Ok(Change::none(format!(
        "was not paused by pauseRequested, so there is nothing to take back; see `sluice describe \
         {name}`, and go on all the same with `sluice retry {name}`"
    )))
}

fn by_steps(found: &Found) -> Result<Change, Failure> {
    let rollout: Rollout = decoded(&found.raw, "rollout")?;
    if rollout.spec.strategy.paused == Some(true) {
        return Ok(Change::by(writes::pause(found, false), "goes on"));
    }
    let name = found.argument();
    Ok(Change::none(match Standing::of(&rollout, None) {
        Standing::Approval(step) | Standing::Clock(step, _) => format!(
            "is not paused as a whole: it is step {step} that waits; go on with `sluice approve {name}`"
        ),
        _ => "is not paused".to_owned(),
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::far_side::web::{deployment, rollout};
    use crate::far_side::{FarSide, Paper, flags};

    async fn check(rollout: &Value, says: &str, writes: &[Value]) {
        let far_side = FarSide::in_steps_with(rollout, &deployment("v2"));
        let paper = Paper::default();
        let out = &mut Out::to(paper.clone());
        resume(&far_side.session(), &flags(&["web"]), out).await.unwrap();
        assert!(paper.text().contains(says), "{}", paper.text());
        assert_eq!(far_side.patches(), writes);
    }

    #[tokio::test(start_paused = true)]
    async fn a_paused_rollout_goes_on_and_a_step_that_waits_is_told_apart() {
        let mut paused = rollout();
        paused["spec"]["strategy"]["paused"] = json!(true);
        check(&paused, "goes on", &[json!({"spec": {"strategy": {"paused": false}}})]).await;
        let says = "not paused as a whole: it is step 2 that waits; go on with `sluice approve rollout/web`";
        check(&rollout(), says, &[]).await;
    }
}
