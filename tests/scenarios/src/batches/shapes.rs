//! Workloads that are set otherwise than usual, and how many Pods of a step may be unready.

use std::time::Duration;

use serde_json::{Value, json};

use crate::env::{BUDGETS, DEPLOYMENTS, Env, Failure, Kind, Outcome, ensure, same};
use crate::kinds::{self, put_over};
use crate::kit::{Steps, Workload, budget, condition};

/// At a step of two Pods, approved while one of them is not ready.
async fn with_one_unready(env: &Env, kind: Kind, threshold: Value) -> Result<Steps, Failure> {
    let mut spec = kind.sized(5);
    if let Some(unavailable) = kind.facts().unavailable {
        put_over(&mut spec, &unavailable(1));
    }
    let web = Workload::deploy(env, kind, "web", spec).await?;
    let mut web = Steps::of(web, &json!([2, 3, "100%"])).await?;
    web.set(&json!({"strategy": {"canary": {"failureThreshold": threshold}}})).await?;
    web.change("app:v2").await?;
    web.stands(1, "app:v2", 2).await?;
    let pods = web.web.pods().await?;
    let moved = pods.iter().find(|pod| pod.image == "app:v2").map(|pod| pod.name.clone());
    env.make_ready(&moved.unwrap_or_default(), false).await?;
    let one = |it: &Value| it["status"]["canaryStatus"]["canaryReadyReplicas"] == 1;
    web.until("one is seen not to be ready", one).await?;
    web.approve().await?;
    Ok(web)
}

/// Waits until the second step is begun.
async fn goes_on(web: &Steps) -> Outcome {
    web.until("the second step", |it| it["status"]["currentStepIndex"] == 2).await?;
    Ok(())
}

/// Without a threshold as many may be unready as the workload's `maxUnavailable` allows, here one. A StatefulSet
/// has none as long as the server does not know that field of it: [`a_threshold_of_none_waits_for_every_pod`].
pub(crate) async fn without_a_threshold_max_unavailable_may_be_unready(env: Env) -> Outcome {
    for kind in kinds::that(|facts| facts.unavailable.is_some()) {
        let web = with_one_unready(&env, kind, Value::Null).await?;
        goes_on(&web).await?;
        web.away().await?;
    }
    Ok(())
}

/// With a threshold of none a step waits for every Pod, and goes on with the last.
pub(crate) async fn a_threshold_of_none_waits_for_every_pod(env: Env) -> Outcome {
    let none = kinds::all().map(|kind| (kind, json!(0)));
    let unset = kinds::that(|facts| facts.unavailable.is_none());
    for (kind, threshold) in none.chain(unset.map(|kind| (kind, Value::Null))) {
        let web = with_one_unready(&env, kind, threshold).await?;
        web.env
            .stays(Duration::from_secs(8), "the step is not done", || async {
                Ok(web.read().await?["status"]["currentStepIndex"] == 1)
            })
            .await?;
        for pod in web.web.pods().await?.iter().filter(|pod| !pod.ready) {
            env.make_ready(&pod.name, true).await?;
        }
        web.stands(2, "app:v2", 3).await?;
        web.away().await?;
    }
    Ok(())
}

/// A threshold in percent is of the Pods that have moved, parts counting as a whole one.
pub(crate) async fn a_threshold_in_percent_is_of_what_has_moved(env: Env) -> Outcome {
    for kind in kinds::all() {
        let web = with_one_unready(&env, kind, json!("10%")).await?;
        goes_on(&web).await?;
        web.away().await?;
    }
    Ok(())
}

/// A set that makes its Pods one by one is released all the same.
pub(crate) async fn an_ordered_set_goes_step_by_step(env: Env) -> Outcome {
    for kind in kinds::that(|facts| facts.grows_new) {
        let spec = json!({"replicas": 4, "podManagementPolicy": "OrderedReady"});
        walks(&env, kind, spec).await?;
    }
    Ok(())
}

/// Ready is by the user's own `minReadySeconds`, and it stays what it was.
pub(crate) async fn min_ready_seconds_are_kept_and_waited_for(env: Env) -> Outcome {
    for kind in kinds::all() {
        let mut spec = kind.sized(4);
        put_over(&mut spec, &(kind.facts().min_ready)(4));
        walks(&env, kind, spec).await?;
    }
    Ok(())
}

/// A Deployment whose template bears the label of a ReplicaSet's hash.
pub(crate) async fn a_template_with_a_hash_among_its_labels_is_released(env: Env) -> Outcome {
    let template = json!({
        "metadata": {"labels": {"app": "web", "pod-template-hash": "copied"}},
        "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
    });
    walks(&env, DEPLOYMENTS, json!({"replicas": 4, "template": template})).await
}

async fn walks(env: &Env, kind: Kind, spec: Value) -> Outcome {
    let web = Workload::deploy(env, kind, "web", spec).await?;
    let all = web.pods().await?.len();
    let mut web = Steps::of(web, &json!([1, 2, "100%"])).await?;
    let before = web.web.read().await?;
    web.change("app:v2").await?;
    for (step, pods) in [(1, 1), (2, 2)] {
        web.stands(step, "app:v2", pods).await?;
        web.approve().await?;
    }
    web.ends(true).await?;
    web.all_run("app:v2").await?;
    web.web.runs("app:v2", all).await?;
    web.given_back(&before).await?;
    web.away().await
}

/// A set that leaves its Pods to others: evicted side by side, inside the budget.
pub(crate) async fn a_set_under_on_delete_goes_side_by_side_inside_its_budget(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(2)).await?;
    // Where the Nodes say how many there are, they go one by one: nothing says that more may be missing.
    for kind in kinds::that(|facts| facts.on_delete.is_some() && facts.replicas) {
        let web = Workload::deploy(&env, kind, "web", under_on_delete(kind)).await?;
        let all = web.pods().await?.len();
        let mut web = Steps::of(web, &json!(["100%"])).await?;
        let before = web.web.read().await?;
        web.slip("app:slow-v2").await?;
        two_at_once(&web, all).await?;
        web.ends(true).await?;
        web.all_run("app:slow-v2").await?;
        web.given_back(&before).await?;
        web.away().await?;
    }
    Ok(())
}

/// Four Pods that nobody but Sluice replaces, or as many as there are Nodes.
fn under_on_delete(kind: Kind) -> Value {
    let mut spec = kind.sized(4);
    if let Some(on_delete) = kind.facts().on_delete {
        put_over(&mut spec, &on_delete());
    }
    spec
}

/// "`StatefulSet` with `OnDelete` is supported", and so are Kruise's kinds that know it.
pub(crate) async fn a_workload_under_on_delete_goes_batch_by_batch(env: Env) -> Outcome {
    for kind in kinds::that(|facts| facts.on_delete.is_some()) {
        let spec = under_on_delete(kind);
        let own = spec["updateStrategy"].clone();
        let mut web = Workload::deploy(&env, kind, &kind.own_name(), spec).await?;
        let all = web.pods().await?.len();
        web.watch().await?;
        web.change(&json!({"spec": {"template": {"spec": {"containers": [
            {"name": "main", "image": "app:v2"},
        ]}}}}))
        .await?;
        let release = web.release(&json!([1, 2, "100%"])).await?;
        for (batch, pods) in [(0, 1), (1, 2), (2, all)] {
            release.go_to(batch).await?;
            release.ready(batch).await?;
            web.runs("app:v2", pods).await?;
        }
        release.go_to(Value::Null).await?;
        release.completed().await?;
        let strategy = &web.read().await?["spec"]["updateStrategy"];
        same("updateStrategy", strategy, &own)?;
        web.is_clean().await?;
    }
    Ok(())
}

/// Waits until two of all Pods are not ready, and sees that never more are.
async fn two_at_once(web: &Steps, all: usize) -> Outcome {
    let mut patience = web.env.patience(web.env.limit(60));
    loop {
        let ready = web.web.pods().await?.iter().filter(|pod| pod.ready).count();
        ensure(ready + 2 >= all, || format!("{ready} of {all} are ready, 2 may be unavailable"))?;
        if ready + 2 == all {
            return Ok(());
        }
        patience.rest(|| "two Pods are on their way at once".to_owned()).await?;
    }
}

/// A roll back of it too is Sluice's to do: nobody else would.
pub(crate) async fn a_set_under_on_delete_is_rolled_back(env: Env) -> Outcome {
    for kind in kinds::that(|facts| facts.on_delete.is_some()) {
        let web = Workload::deploy(&env, kind, "web", under_on_delete(kind)).await?;
        let all = web.pods().await?.len();
        let mut web = Steps::of(web, &json!([2, "100%"])).await?;
        let before = web.web.read().await?;
        web.slip("app:v2").await?;
        web.stands(1, "app:v2", 2).await?;
        let stable = web.web.pods().await?;
        web.slip("app:v1").await?;
        web.is_back(&before).await?;
        let after = web.web.uids().await?;
        let kept = stable.iter().filter(|pod| pod.image == "app:v1" && after.contains(&pod.uid));
        same("Pods that never moved", kept.count(), all - 2)?;
        web.away().await?;
    }
    Ok(())
}

/// Pods go inside the workload's own `maxUnavailable`, side by side.
pub(crate) async fn pods_go_side_by_side_inside_max_unavailable(env: Env) -> Outcome {
    for kind in kinds::that(|facts| facts.unavailable.is_some()) {
        let mut spec = kind.sized(4);
        if let Some(unavailable) = kind.facts().unavailable {
            put_over(&mut spec, &unavailable(2));
        }
        let web = Workload::deploy(&env, kind, "web", spec).await?;
        let all = web.pods().await?.len();
        let mut web = Steps::of(web, &json!(["100%"])).await?;
        web.change("app:slow-v2").await?;
        two_at_once(&web, all).await?;
        web.away().await?;
    }
    Ok(())
}

/// A Deployment that replaces all its Pods at once cannot be released in steps: told before the first change.
pub(crate) async fn a_deployment_that_recreates_says_so_from_the_start(env: Env) -> Outcome {
    let spec = json!({"replicas": 3, "strategy": {"type": "Recreate"}});
    let web = Workload::deploy(&env, DEPLOYMENTS, "web", spec).await?;
    let mut web = Steps::begin(web, &json!([1, "100%"])).await?;
    let says = |it: &Value| {
        condition(it, "Blocked").is_some_and(|it| {
            let message = it["message"].as_str().unwrap_or_default();
            it["reason"] == "UnsupportedWorkload" && message.contains("to RollingUpdate")
        })
    };
    let seen = web.until("it says so, and what to do", says).await?;
    let message = seen["status"]["message"].as_str().unwrap_or_default();
    ensure(message.contains("Recreate"), || format!("what kubectl get shows: {message}"))?;
    let labelled =
        |it: &Value| it["metadata"]["labels"]["rollouts.kruise.io/workload-type"] == "deployment";
    web.web.until("the webhook is asked about it all the same", 30, labelled).await?;
    let mut patience = env.patience(env.limit(30));
    while !env.is_told("Rollout", "UnsupportedWorkload").await? {
        patience.rest(|| "an Event says so".to_owned()).await?;
    }
    web.web.change(&json!({"spec": {"strategy": {"type": "RollingUpdate"}}})).await?;
    web.until("mended", |it| it["status"]["phase"] == "Healthy").await?;
    web.change("app:v2").await?;
    web.stands(1, "app:v2", 1).await?;
    Ok(())
}
