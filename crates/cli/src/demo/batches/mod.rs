//! `sluice demo batches`: a Deployment of twenty Pods through 1, 50 % and 100 %, with an approval between.

mod view;

use api::batches::names::IN_PROGRESSING;
use cluster::Clock;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::PATIENCE;
use super::installed::asked;
use super::stage::Stage;
use crate::command::verdict::Goal;
use crate::exit::{Exit, Failure, Outcome};
use crate::facts::release::{Facts, rollouts_path};
use crate::find::{Found, find};
use crate::look::Look;
use crate::name::{Kind, Named};
use crate::out::Out;
use crate::session::Session;
use crate::show::release::View;
use crate::writes;

/// The Rollout of the demo, and its Deployment.
pub(crate) const NAME: &str = "web";

const MANIFEST: &str = include_str!("web.yaml");

const IMAGE: &str = "registry.example.com/web:v2";

/// What is approved after a step, and what that is called.
const APPROVALS: [(&str, &str); 2] =
    [("3/4  step 2: half of them", "step 1"), ("4/4  step 3: all of them", "step 2")];

/// Plays all steps; the last of them ends with every Pod at v2.
pub(crate) async fn play(session: &Session, out: &mut Out, clock: &Clock) -> Outcome {
    asked(session).await?;
    let mut stage = Stage::new(clock.now());
    stage.step(out, "1/4  a Deployment of 20 Pods at v1, and a Rollout that leads it")?;
    apply(session).await?;
    let exit = watched(session, &mut stage, out, clock, Goal::Done).await?;
    if exit != Exit::Done {
        return Ok(exit);
    }
    stage.step(out, "2/4  the image becomes v2: the change is held, and step 1 is one Pod")?;
    stage.say(out, &format!("$ kubectl set image deployment/{NAME} web={IMAGE}"), clock.now())?;
    change(session).await?;
    let exit = watched(session, &mut stage, out, clock, Goal::Paused).await?;
    if exit != Exit::Done {
        return Ok(exit);
    }
    for (index, (title, approved)) in APPROVALS.into_iter().enumerate() {
        stage.step(out, title)?;
        stage.say(out, &format!("$ sluice approve rollout/{NAME}   ({approved})"), clock.now())?;
        approve(session).await?;
        let is_last = index + 1 == APPROVALS.len();
        let goal = if is_last { Goal::Done } else { Goal::Paused };
        let exit = watched(session, &mut stage, out, clock, goal).await?;
        if exit != Exit::Done {
            return Ok(exit);
        }
    }
    Ok(Exit::Done)
}

/// The Rollout as it is now, with everything around it.
pub(crate) async fn view(session: &Session) -> Result<View, Failure> {
    Ok(View::of(&Facts::around(session, rollout(session).await?.raw).await?))
}

async fn rollout(session: &Session) -> Result<Found, Failure> {
    find(session, &Named { kind: Some(Kind::Rollout), name: NAME.to_owned() }).await
}

async fn apply(session: &Session) -> Result<(), Failure> {
    let objects = api::parse(MANIFEST).map_err(|error| Failure::Failed(error.to_string()))?;
    let namespace = &session.namespace;
    for object in objects {
        let (path, kind) = match object["kind"].as_str() {
            Some("Deployment") => (deployments(namespace), "deployment"),
            _ => (rollouts_path(Some(namespace)), "rollout"),
        };
        session.create(&path, &object, &format!("{kind} {namespace}/{NAME}")).await?;
    }
    Ok(())
}

fn deployments(namespace: &str) -> String {
    format!("/apis/apps/v1/namespaces/{namespace}/deployments")
}

/// Another image. What the API server answers with is already held: it has asked the operator.
async fn change(session: &Session) -> Result<(), Failure> {
    let path = format!("{}/{NAME}", deployments(&session.namespace));
    let title = format!("deployment {}/{NAME}", session.namespace);
    let image = "/spec/template/spec/containers/0/image";
    let patch = json!([{"op": "replace", "path": image, "value": IMAGE}]);
    let made = session.patch(&path, &patch, &title).await?;
    if is_held(&made) {
        return Ok(());
    }
    Err(Failure::Failed(format!("{title}: the change was not held by the operator of the demo")))
}

fn is_held(deployment: &Value) -> bool {
    deployment["metadata"]["annotations"][IN_PROGRESSING].is_string()
        && deployment["spec"]["paused"] == true
}

/// What `sluice approve` writes.
async fn approve(session: &Session) -> Result<(), Failure> {
    let began = Instant::now();
    loop {
        match writes::approve(&rollout(session).await?).send(session).await {
            Ok(_) => return Ok(()),
            // The operator was faster with a status of its own.
            Err(Failure::Conflict(_)) if began.elapsed() < PATIENCE => {}
            Err(failure) => return Err(failure),
        }
    }
}

/// Shows the Rollout until it is where it is wanted, or cannot be.
async fn watched(
    session: &Session,
    stage: &mut Stage,
    out: &mut Out,
    clock: &Clock,
    goal: Goal,
) -> Outcome {
    let look = async || {
        let found = rollout(session).await?;
        let look = Look::at(session, &found, &[goal]).await?;
        Ok((look.verdict, View::of(&Facts::around(session, found.raw).await?)))
    };
    stage.watch(out, clock, look).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_wrong_with_the_manifest_of_the_demo() {
        let objects = api::parse(MANIFEST).unwrap();
        let rollout = objects.iter().find(|one| one["kind"] == "Rollout").unwrap();
        let findings = api::batches::validate(rollout, &api::batches::Context::default());
        assert_eq!(findings, []);
    }

    #[test]
    fn a_change_is_held_if_it_is_marked_and_paused() {
        let deployment = |marks: Value, paused: bool| {
            is_held(&json!({"metadata": {"annotations": marks}, "spec": {"paused": paused}}))
        };
        assert!(deployment(json!({IN_PROGRESSING: "{}"}), true));
        assert!(!deployment(json!({IN_PROGRESSING: "{}"}), false));
        assert!(!deployment(json!({}), true));
    }
}
