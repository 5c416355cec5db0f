//! What a rollout names and this operator cannot serve.

use serde_json::json;

use crate::env::{Env, Outcome, ensure, same, says};
use crate::kit::{condition, rollout};

/// "No address by flag or environment ⇒ a CR that asks for Consul is not gated and a condition says
/// so."
pub(crate) async fn services_without_a_consul_gate_nothing_and_this_is_said(env: Env) -> Outcome {
    let services = json!({"dc": "cloud1", "serviceNames": ["web-service"]});
    let mut web = env.deploy(rollout("web").with("spec/serviceDiscovery", services)).await?;
    web.change(|r| r.percent(50).image("app:v2")).await?;
    let done = web.done().await?;
    let said = condition(&done, "NotGated").and_then(|c| c["message"].as_str());
    says("the condition NotGated", said.unwrap_or_default(), &["web-service"])?;
    let services = &done["status"]["consulServices"];
    same("consulServices", services, &serde_json::Value::Null)
}

/// "(the same for a channel without a token)"
pub(crate) async fn a_channel_without_a_token_is_told_nothing_and_this_is_said(
    env: Env,
) -> Outcome {
    let web = env.deploy(rollout("web").replicas(1).with("spec/channel", "#devel")).await?;
    let done = web.stored().await?;
    let said = condition(&done, "NotGated").and_then(|c| c["message"].as_str());
    says("the condition NotGated", said.unwrap_or_default(), &["#devel"])
}

/// A rollout that names none of it has no such condition.
pub(crate) async fn a_rollout_that_names_nothing_is_told_nothing(env: Env) -> Outcome {
    let web = env.deploy(rollout("web").replicas(1)).await?;
    let done = web.stored().await?;
    ensure(condition(&done, "NotGated").is_none(), || format!("{}", done["status"]["conditions"]))
}
