//! One StatefulSet has one owner.

use std::time::Duration;

use crate::env::{Env, Outcome, ROLLOUTS, ensure, same, says};
use crate::kit::{DONE, phase, pods, reason, rollout};

const NAME: &str = "spec/statefulset/metadata/name";

/// "A second CR … on it is refused with a reason." Both are made before there is a StatefulSet, so
/// that the door cannot tell.
pub(crate) async fn of_two_rollouts_of_one_set_one_is_refused_with_a_reason(env: Env) -> Outcome {
    let first = rollout("first").with(NAME, "web");
    let second = rollout("second").with(NAME, "web").image("app:v2");
    let mut spec = first.0["spec"]["statefulset"]["spec"].clone();
    spec["template"]["spec"]["containers"][0]["image"] = "app:v2".into();
    let second = second.with("spec/statefulset/spec", spec);
    env.apply(ROLLOUTS, &first.0).await?;
    if let Err(refused) = env.apply(ROLLOUTS, &second.0).await {
        return says("the refusal", &refused.message, &["web", "first"]);
    }
    let settled = env.limit(90);
    let blocked = |r: &serde_json::Value| reason(r).contains("belongs to");
    let mut patience = env.patience(settled);
    let (winner, loser) = loop {
        let (one, two) = (env.get(ROLLOUTS, "first").await?, env.get(ROLLOUTS, "second").await?);
        if phase(&one) == DONE && blocked(&two) {
            break ("first", two);
        }
        if phase(&two) == DONE && blocked(&one) {
            break ("second", one);
        }
        patience.rest(|| format!("one has it: {one} {two}")).await?;
    };
    says("the reason", reason(&loser), &["web", winner])?;
    let before = pods(&env, "first").await?;
    tokio::time::sleep(Duration::from_secs(20)).await;
    same("Pods", pods(&env, "first").await?, before)
}

/// When the owner goes, the other takes over, and the Pods stay until there is something to move.
pub(crate) async fn the_second_takes_over_when_the_first_is_deleted(env: Env) -> Outcome {
    let first = env.deploy(rollout("web")).await?;
    let before = first.pods().await?;
    env.delete(ROLLOUTS, "web").await?;
    let spec = first.rollout.0["spec"]["statefulset"]["spec"].clone();
    let second = rollout("heir").with(NAME, "web").with("spec/statefulset/spec", spec);
    // The webhook knows the first one from a watch, which may be a moment behind the delete.
    let mut patience = env.patience(env.limit(30));
    while let Err(refused) = env.apply(ROLLOUTS, &second.0).await {
        ensure(refused.message.contains("belongs to"), || format!("the heir: {refused:?}"))?;
        patience.rest(|| format!("the heir is let in: {refused:?}")).await?;
    }
    let done = |r: &serde_json::Value| phase(r) == DONE;
    env.until(ROLLOUTS, "heir", env.limit(90), "done", done).await?;
    first.only_moved(&before, &[]).await
}

/// "`metadata.name` and `.namespace` default to the CR's."
pub(crate) async fn the_sets_name_defaults_to_the_rollouts(env: Env) -> Outcome {
    let mut nameless = rollout("web").replicas(1);
    if let Some(set) = nameless.0["spec"]["statefulset"].as_object_mut() {
        set.remove("metadata");
    }
    let web = env.deploy(nameless).await?;
    same("statefulsetName", &web.stored().await?["status"]["statefulsetName"], "web")?;
    same("Pods", web.pods().await?.len(), 1)
}

/// A StatefulSet may have another name than its rollout.
pub(crate) async fn the_set_may_have_another_name(env: Env) -> Outcome {
    env.deploy(rollout("web").replicas(1).with(NAME, "other")).await?;
    let set = env.get(crate::env::SETS, "other").await?;
    same("its Pods", &set["status"]["readyReplicas"], 1)
}
