//! `sluice demo`: a StatefulsetRollout to 25 and to 100 percent, each step watched until it is done.

mod view;

use cluster::Clock;
use serde_json::{Value, json};

use super::stage::Stage;
use crate::command::verdict::{Goal, judge};
use crate::exit::{Exit, Failure, Outcome};
use crate::facts::{Facts, rollouts_path};
use crate::out::Out;
use crate::session::Session;
use crate::show::view::View;

/// The rollout of the demo.
pub(crate) const NAME: &str = "bedrock-tester-sts-dev";

const MANIFEST: &str = include_str!("bedrock-tester.yaml");

/// Plays all steps; the last of them ends with every Pod at v2.
pub(crate) async fn play(session: &Session, out: &mut Out, clock: &Clock) -> Outcome {
    let mut stage = Stage::new(clock.now());
    stage.step(out, "1/3  deploy v1: 20 Pods")?;
    apply(session).await?;
    let exit = watched(session, &mut stage, out, clock).await?;
    if exit != Exit::Done {
        return Ok(exit);
    }
    stage.step(out, "2/3  roll out v2 to 25 percent")?;
    let image = "registry.example.com/bedrock-tester:v2";
    let container = "/spec/statefulset/spec/template/spec/containers/0/image";
    change(
        session,
        &json!([
            {"op": "replace", "path": container, "value": image},
            {"op": "replace", "path": "/spec/percent", "value": 25},
        ]),
    )
    .await?;
    let exit = watched(session, &mut stage, out, clock).await?;
    if exit != Exit::Done {
        return Ok(exit);
    }
    stage.step(out, "3/3  go on to 100 percent")?;
    change(session, &json!([{"op": "replace", "path": "/spec/percent", "value": 100}])).await?;
    watched(session, &mut stage, out, clock).await
}

/// The rollout as it is now, with everything around it.
pub(crate) async fn view(session: &Session) -> Result<View, Failure> {
    Ok(View::of(&Facts::read(session, NAME).await?))
}

async fn apply(session: &Session) -> Result<(), Failure> {
    let objects = api::parse(MANIFEST).map_err(|error| Failure::Failed(error.to_string()))?;
    for object in objects {
        let namespace = &session.namespace;
        let (path, kind) = match object["kind"].as_str() {
            Some("PodDisruptionBudget") => (
                format!("/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"),
                "poddisruptionbudget",
            ),
            _ => (rollouts_path(Some(namespace)), "statefulsetrollout"),
        };
        session.create(&path, &object, &format!("{kind} {namespace}/{NAME}")).await?;
    }
    Ok(())
}

async fn change(session: &Session, patch: &Value) -> Result<(), Failure> {
    let path = format!("{}/{NAME}", rollouts_path(Some(&session.namespace)));
    session
        .patch(&path, patch, &format!("statefulsetrollout {}/{NAME}", session.namespace))
        .await?;
    Ok(())
}

/// Shows the rollout until it is done, or cannot be.
async fn watched(session: &Session, stage: &mut Stage, out: &mut Out, clock: &Clock) -> Outcome {
    let look = async || {
        let facts = Facts::read(session, NAME).await?;
        Ok((judge(&facts.rollout, &[Goal::Done]), View::of(&facts)))
    };
    stage.watch(out, clock, look).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_wrong_with_the_manifest_of_the_demo() {
        let objects = api::parse(MANIFEST).unwrap();
        let rollout = objects.iter().find(|one| one["kind"] == "StatefulsetRollout").unwrap();
        let findings = api::bedrock::validate(rollout, &api::bedrock::Capabilities::default());
        assert_eq!(findings, []);
    }
}
