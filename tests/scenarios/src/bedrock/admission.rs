//! What the admission webhook refuses or warns of, at the moment of writing.

use serde_json::Value;

use crate::env::{BUDGETS, Env, Outcome, ROLLOUTS, Refused, ensure, same, says};
use crate::kit::{budget, rollout};

fn refusal<T>(answer: Result<T, Refused>) -> Result<String, crate::env::Failure> {
    match answer {
        Err(refused) if refused.code != 0 => Ok(refused.message),
        Err(refused) => Err(refused.into()),
        Ok(_) => Err(crate::env::Failure::Broken("let in".to_owned())),
    }
}

/// "A second owner of one StatefulSet" is turned away at the door, and the owner is named.
pub(crate) async fn a_second_owner_is_turned_away(env: Env) -> Outcome {
    let web = env.deploy(rollout("web").replicas(2)).await?;
    let before = web.pods().await?;
    let second = rollout("thief").with("spec/statefulset/metadata/name", "web");
    let message = refusal(env.apply(ROLLOUTS, &second.0).await)?;
    says("the refusal", &message, &["spec.statefulset.metadata.name", "web", "belongs to"])?;
    web.rests(10).await?;
    web.only_moved(&before, &[]).await
}

/// "Immutable StatefulSet changes": object, field and remedy, and nothing half-made.
pub(crate) async fn an_immutable_change_is_turned_away_with_the_remedy(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(2)).await?;
    let stored = web.set().await?;
    let message = refusal(
        web.change(|r| r.with("spec/statefulset/spec/serviceName", "other").image("app:v2")).await,
    )?;
    says(
        "the refusal",
        &message,
        &["web", "spec.statefulset.spec.serviceName", "--cascade=orphan"],
    )?;
    let message = refusal(web.change(crate::kit::Rollout::ordered).await)?;
    says("the refusal", &message, &["spec.statefulset.spec.podManagementPolicy"])?;
    web.rests(10).await?;
    same("the set's spec", &web.set().await?["spec"], &stored["spec"])
}

/// A rollout that would leave its StatefulSet for another.
pub(crate) async fn a_rollout_may_not_change_its_sets_name(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(1)).await?;
    let renamed = web.change(|r| r.with("spec/statefulset/metadata/name", "other")).await;
    says("the refusal", &refusal(renamed)?, &["spec.statefulset.metadata.name", "web"])
}

/// "… may not name another namespace."
pub(crate) async fn another_namespace_is_turned_away(env: Env) -> Outcome {
    let elsewhere = rollout("web").with("spec/statefulset/metadata/namespace", "elsewhere");
    let message = refusal(env.apply(ROLLOUTS, &elsewhere.0).await)?;
    says("the refusal", &message, &["spec.statefulset.metadata.namespace", "elsewhere"])
}

/// "Warnings for what will block": let in, and told.
pub(crate) async fn what_will_block_is_warned_of(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(0)).await?;
    let web = env.deploy(rollout("web").replicas(2)).await?;
    let next = web.rollout.clone().image("app:v2");
    let warnings = warnings(&env, &next.0).await?;
    says("the warnings", &warnings, &["PodDisruptionBudget", "never allows"])
}

/// What a person ought to know before: OrderedReady, one replica at some percent.
pub(crate) async fn what_slows_is_warned_of(env: Env) -> Outcome {
    let slow = rollout("web").replicas(4).ordered();
    says("the warnings", &warnings(&env, &slow.0).await?, &["OrderedReady"])?;
    let whole = rollout("one").replicas(1).percent(50);
    says("the warnings", &warnings(&env, &whole.0).await?, &["one replica"])
}

/// A dry run is judged like the real thing and leaves nothing behind.
pub(crate) async fn a_dry_run_is_judged_and_leaves_nothing(env: Env) -> Outcome {
    let path = format!("{}?dryRun=All", env.path(ROLLOUTS, ""));
    let web = rollout("web");
    env.send("POST", &path, "application/json", &web.0).await?;
    let left = env.get(ROLLOUTS, "web").await;
    ensure(left.is_err_and(|r| r.code == 404), || "the dry run left something".to_owned())?;
    let elsewhere = web.with("spec/statefulset/metadata/namespace", "elsewhere");
    refusal(env.send("POST", &path, "application/json", &elsewhere.0).await)?;
    Ok(())
}

/// The `Warning` headers that an apply is answered with.
async fn warnings(env: &Env, rollout: &Value) -> Result<String, crate::env::Failure> {
    let name = rollout["metadata"]["name"].as_str().unwrap_or_default();
    let path = format!("{}?fieldManager=scenario&force=true", env.path(ROLLOUTS, name));
    let failure = |error: &dyn std::fmt::Display| crate::env::Failure::Broken(error.to_string());
    let request = http::Request::patch(path)
        .header(http::header::CONTENT_TYPE, "application/apply-patch+yaml")
        .body(kube::client::Body::from(rollout.to_string().into_bytes()))
        .map_err(|error| failure(&error))?;
    let answer = env.client.send(request).await.map_err(|error| failure(&error))?;
    ensure(answer.status().is_success(), || format!("refused with {}", answer.status()))?;
    let said = answer.headers().get_all(http::header::WARNING).iter();
    Ok(said.filter_map(|value| value.to_str().ok()).collect::<Vec<_>>().join("\n"))
}
