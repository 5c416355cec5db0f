//! What happens in the demo, one step after another, each watched until it is done.

use std::time::Duration;

use cluster::Clock;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::view::Stage;
use crate::command::verdict::{Goal, Verdict, judge};
use crate::exit::{Exit, Failure, Outcome};
use crate::facts::{Facts, rollouts_path};
use crate::out::Out;
use crate::session::Session;

/// The rollout of the demo.
pub(crate) const NAME: &str = "bedrock-tester-sts-dev";

const MANIFEST: &str = include_str!("bedrock-tester.yaml");

/// How long one step may take; none takes a tenth of it on a slow machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Time between two looks.
const EVERY: Duration = Duration::from_millis(250);

/// Makes the kinds known that the operator serves.
pub(crate) async fn install(session: &Session) -> Result<(), Failure> {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for crd in api::crds() {
        let name = crd.metadata.name.clone().unwrap_or_default();
        let body =
            serde_json::to_value(&crd).map_err(|error| Failure::Failed(error.to_string()))?;
        session.create(path, &body, &format!("customresourcedefinition {name}")).await?;
    }
    // The kind is served a moment after its definition is taken.
    let began = Instant::now();
    loop {
        match session.list(&rollouts_path(None), "statefulsetrollouts").await {
            Ok(_) => return Ok(()),
            Err(Failure::NotServed(_)) if began.elapsed() < PATIENCE => {
                tokio::time::sleep(EVERY).await;
            }
            Err(failure) => return Err(failure),
        }
    }
}

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
    let began = Instant::now();
    loop {
        let facts = Facts::read(session, NAME).await?;
        stage.show(out, &facts, clock.now())?;
        let exit = match judge(&facts.rollout, &[Goal::Done]) {
            Verdict::Reached(_) => Some(Exit::Done),
            Verdict::Failed(_) => Some(Exit::Failed),
            Verdict::Blocked { lasting: true, .. } => Some(Exit::Blocked),
            Verdict::Blocked { .. } | Verdict::Waiting(_) => {
                (began.elapsed() >= PATIENCE).then_some(Exit::TimedOut)
            }
        };
        if let Some(exit) = exit {
            stage.settle(out, &facts, exit)?;
            return Ok(exit);
        }
        tokio::time::sleep(EVERY).await;
    }
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
