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
        Front::Release if writes::is_held(found) => Ok(Change::none("is paused already")),
        Front::Release => Ok(Change::by(writes::hold(found, true), message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::far_side::web::{release_of_ones_own, rollout};
    use crate::far_side::{FarSide, Paper, flags};

    #[tokio::test(start_paused = true)]
    async fn each_resource_is_paused_in_its_own_field() {
        async fn check(far_side: FarSide, name: &str, write: serde_json::Value) {
            let paper = Paper::default();
            let out = &mut Out::to(paper.clone());
            pause(&far_side.session(), &flags(&[name]), out).await.unwrap();
            let says = format!("is to pause; go on with `sluice resume {name}`");
            assert!(paper.text().contains(&says), "{}", paper.text());
            assert_eq!(far_side.patches(), [write]);
        }
        let percent = json!({"spec": {"pauseRequested": true}});
        check(FarSide::rolling_out(), "statefulsetrollout/tester", percent).await;
        let steps = json!({"spec": {"strategy": {"paused": true}}});
        check(FarSide::in_steps(), "rollout/web", steps).await;
        let path = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/batchreleases/own";
        let own = FarSide::default().with(path, &release_of_ones_own());
        let held = json!({"metadata": {"annotations": {"sluice.dev/paused": "true"}}});
        check(own, "batchrelease/own", held).await;
        let mut paused = rollout();
        paused["spec"]["strategy"]["paused"] = json!(true);
        let far_side = FarSide::in_steps_with(&paused, &crate::far_side::web::deployment("v2"));
        pause(&far_side.session(), &flags(&["web"]), &mut Out::nowhere()).await.unwrap();
        assert_eq!(far_side.patches().len(), 0);
    }
}
