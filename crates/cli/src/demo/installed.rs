//! What has to be there before a story begins: the custom resources, and the answer of the webhook.

use serde_json::Value;
use tokio::time::Instant;

use super::{EVERY, PATIENCE};
use crate::exit::Failure;
use crate::session::Session;

/// Makes the kinds known that the operator serves.
pub(crate) async fn install(session: &Session) -> Result<(), Failure> {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for crd in api::crds() {
        let name = crd.metadata.name.clone().unwrap_or_default();
        let body =
            serde_json::to_value(&crd).map_err(|error| Failure::Failed(error.to_string()))?;
        session.create(path, &body, &format!("customresourcedefinition {name}")).await?;
    }
    // A kind is served a moment after its definition is taken.
    let (percent, steps) =
        (crate::facts::rollouts_path(None), crate::facts::release::rollouts_path(None));
    for (path, kind) in [(percent, "statefulsetrollouts"), (steps, "rollouts")] {
        let began = Instant::now();
        loop {
            match session.list(&path, kind).await {
                Ok(_) => break,
                Err(Failure::NotServed(_)) if began.elapsed() < PATIENCE => {
                    tokio::time::sleep(EVERY).await;
                }
                Err(failure) => return Err(failure),
            }
        }
    }
    Ok(())
}

/// Waits until the operator has told the API server whom to ask about changes of workloads.
pub(super) async fn asked(session: &Session) -> Result<(), Failure> {
    let path =
        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/sluice".to_owned();
    let began = Instant::now();
    loop {
        let found = session.find(&path, "mutatingwebhookconfiguration sluice").await?;
        if found.is_some_and(|found| is_reachable(&found)) {
            return Ok(());
        }
        if began.elapsed() >= PATIENCE {
            let words = "the operator of the demo has not registered its webhook";
            return Err(Failure::Failed(words.to_owned()));
        }
        tokio::time::sleep(EVERY).await;
    }
}

fn is_reachable(configuration: &Value) -> bool {
    let hooks = configuration["webhooks"].as_array().map_or(&[][..], Vec::as_slice);
    !hooks.is_empty() && hooks.iter().all(|hook| hook["clientConfig"]["caBundle"].is_string())
}
