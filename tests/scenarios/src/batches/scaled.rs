//! A workload that is scaled while it is released, in every state: the step keeps its share.

use std::time::Duration;

use serde_json::{Value, json};

use crate::env::{Env, Kind, Outcome, RELEASES, ensure, same};
use crate::kinds;
use crate::kit::{Steps, Workload, condition, steps};

/// What a set's own controller made before anybody could see the scaling stays, and is told of; what it makes
/// from then on is stable.
pub(crate) async fn a_set_that_grows_in_a_step_turns_nothing_back(env: Env) -> Outcome {
    for kind in kinds::that(|facts| facts.grows_new) {
        grows(&env, kind).await?;
    }
    Ok(())
}

async fn grows(env: &Env, kind: Kind) -> Outcome {
    let mut web = steps(env, kind, &json!(["20%", "60%", "100%"])).await?;
    web.change("app:v2").await?;
    web.stands(1, "app:v2", 1).await?;
    let before = web.web.uids().await?;
    web.web.scale(10).await?;
    web.web.all_ready(10).await?;
    let updated = web.web.running("app:v2").await?.0;
    ensure((2..=6).contains(&updated), || format!("{updated} of 10 are new, 20 % are 2"))?;
    if updated > 2 {
        let surplus = |it: &Value| condition(it, "Surplus").is_some();
        env.until(RELEASES, "web", env.limit(60), "the surplus is said", surplus).await?;
    }
    let after = web.web.uids().await?;
    ensure(before.is_subset(&after), || "a Pod was turned back".to_owned())?;
    same("a lost one is", env.lose("web-0").await?.image.as_str(), "app:v1")?;
    // The next step takes them into account.
    web.approve().await?;
    web.stands(2, "app:v2", 6).await?;
    web.finishes("app:v2").await?;
    web.away().await
}

/// Where new Pods come one by one, the hold goes along with them: the share of 28 is never much passed.
pub(crate) async fn an_ordered_set_that_grows_keeps_the_share(env: Env) -> Outcome {
    for kind in kinds::that(|facts| facts.grows_new) {
        grows_in_order(&env, kind).await?;
    }
    Ok(())
}

async fn grows_in_order(env: &Env, kind: Kind) -> Outcome {
    let spec = json!({"replicas": 3, "podManagementPolicy": "OrderedReady"});
    let web = Workload::deploy(env, kind, "web", spec).await?;
    let mut web = Steps::of(web, &json!(["1%", "100%"])).await?;
    web.change("app:v2").await?;
    web.stands(1, "app:v2", 1).await?;
    web.web.scale(8).await?;
    web.web.all_ready(8).await?;
    let updated = web.web.running("app:v2").await?.0;
    ensure(updated <= 2, || format!("{updated} of 8 are new, 1 % is 1, and one was being made"))?;
    web.finishes("app:v2").await?;
    web.away().await
}

/// Scaled in, the share is kept as well, and the next step counts from there.
pub(crate) async fn scaling_in_keeps_the_share_of_the_step(env: Env) -> Outcome {
    for kind in kinds::scaled() {
        let web = Workload::deploy(&env, kind, "web", json!({"replicas": 10})).await?;
        let mut web = Steps::of(web, &json!(["20%", "50%", "100%"])).await?;
        web.change("app:v2").await?;
        web.stands(1, "app:v2", 2).await?;
        web.web.scale(4).await?;
        web.web.all_ready(4).await?;
        web.until("the share of four", |it| {
            it["status"]["canaryStatus"]["canaryReadyReplicas"] == 1
                && it["status"]["currentStepState"] == "StepPaused"
        })
        .await?;
        same("new Pods", web.web.running("app:v2").await?.0, 1)?;
        web.approve().await?;
        web.waits(2).await?;
        let half = |it: &Value| it["status"]["canaryStatus"]["canaryReadyReplicas"] == 2;
        web.until("half of four", half).await?;
        same("new Pods", web.web.running("app:v2").await?.0, 2)?;
        web.finishes("app:v2").await?;
        web.away().await?;
    }
    Ok(())
}

/// Scaled while a step is on its way, and not only while it waits.
pub(crate) async fn scaling_a_step_that_is_on_its_way_ends_at_the_share(env: Env) -> Outcome {
    for kind in kinds::that(|facts| facts.replicas && !facts.grows_new) {
        let web = Workload::deploy(&env, kind, "web", kind.sized(4)).await?;
        let mut web = Steps::of(web, &json!(["50%", "100%"])).await?;
        web.change("app:slow-v2").await?;
        let on_its_way = |it: &Value| it["status"]["currentStepState"] == "StepUpgrade";
        web.until("the first step is on its way", on_its_way).await?;
        web.web.scale(8).await?;
        web.waits(1).await?;
        let half = |it: &Value| it["status"]["canaryStatus"]["canaryReadyReplicas"] == 4;
        web.until("half of eight", half).await?;
        same("new Pods", web.web.running("app:slow-v2").await?.0, 4)?;
        web.away().await?;
    }
    Ok(())
}

/// A pause holds Pods, not sizes: what is added comes up, and no Pod is replaced.
pub(crate) async fn scaling_a_paused_rollout_adds_pods_and_replaces_none(env: Env) -> Outcome {
    for kind in kinds::scaled() {
        let mut web = steps(&env, kind, &json!(["20%", "100%"])).await?;
        web.change("app:v2").await?;
        web.stands(1, "app:v2", 1).await?;
        web.pause().await?;
        let before = web.web.uids().await?;
        web.web.scale(8).await?;
        web.web.all_ready(8).await?;
        web.env
            .stays(Duration::from_secs(10), "no Pod is replaced", || async {
                Ok(before.is_subset(&web.web.uids().await?))
            })
            .await?;
        web.set(&json!({"strategy": {"paused": false}})).await?;
        web.waits(1).await?;
        web.finishes("app:v2").await?;
        web.away().await?;
    }
    Ok(())
}

/// Scaled while it is rolled back: every Pod ends at the stable revision.
pub(crate) async fn scaling_during_a_roll_back_leaves_no_new_pod(env: Env) -> Outcome {
    for kind in kinds::scaled() {
        let mut web = steps(&env, kind, &json!(["60%", "100%"])).await?;
        let before = web.web.read().await?;
        web.change("app:v2").await?;
        web.waits(1).await?;
        web.change_again("app:v1").await?;
        web.web.scale(8).await?;
        web.ends(false).await?;
        web.all_run("app:v1").await?;
        web.web.all_ready(8).await?;
        web.given_back(&before).await?;
        web.away().await?;
    }
    Ok(())
}

/// Nothing is left to be released of no Pods: every step is ready at once.
pub(crate) async fn a_workload_scaled_to_nothing_gets_to_the_end(env: Env) -> Outcome {
    for kind in kinds::scaled() {
        let mut web = steps(&env, kind, &json!(["20%", "60%", "100%"])).await?;
        let before = web.web.read().await?;
        web.change("app:v2").await?;
        web.stands(1, "app:v2", 1).await?;
        web.web.scale(0).await?;
        web.no_pods().await?;
        web.approve().await?;
        web.waits(2).await?;
        web.approve().await?;
        web.ends(true).await?;
        web.given_back(&before).await?;
        web.web.scale(3).await?;
        web.web.all_ready(3).await?;
        web.all_run("app:v2").await?;
        web.away().await?;
    }
    Ok(())
}

/// A number of Pods is no change of what they run.
pub(crate) async fn scaling_at_rest_begins_no_release(env: Env) -> Outcome {
    for kind in kinds::scaled() {
        let web = steps(&env, kind, &json!([1, "100%"])).await?;
        web.web.scale(7).await?;
        web.web.all_ready(7).await?;
        web.env
            .stays(Duration::from_secs(10), "at rest", || async {
                Ok(web.read().await?["status"]["phase"] == "Healthy")
            })
            .await?;
        web.away().await?;
    }
    Ok(())
}

/// Nodes come and go under a DaemonSet: those of the step are a share of what is there.
pub(crate) async fn nodes_that_come_and_go_keep_the_share_of_the_step(env: Env) -> Outcome {
    let nodes = nodes(&env).await?;
    ensure(nodes.len() > 2, || format!("three nodes are needed, {} are there", nodes.len()))?;
    let (first, last) = (&nodes[..2], &nodes[2..3]);
    mark(&env, first, true).await?;
    let outcome = async {
        for kind in kinds::that(|facts| !facts.replicas) {
            on_marked_nodes(&env, kind, last).await?;
        }
        Ok(())
    };
    let outcome = outcome.await;
    mark(&env, &nodes[..3], false).await?;
    outcome
}

async fn on_marked_nodes(env: &Env, kind: Kind, last: &[String]) -> Outcome {
    let template = json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {
            "nodeSelector": {label(env): "here"},
            "containers": [{"name": "main", "image": "app:v1"}],
        },
    });
    let web = Workload::deploy(env, kind, "web", json!({"template": template})).await?;
    same("Pods", web.pods().await?.len(), 2)?;
    let mut web = Steps::of(web, &json!(["50%", "100%"])).await?;
    let before = web.web.read().await?;
    web.change("app:v2").await?;
    web.stands(1, "app:v2", 1).await?;
    // Its own controller makes the Pod of a new Node at the new template: half of three are two.
    mark(env, last, true).await?;
    web.web.all_ready(3).await?;
    let two = |it: &Value| it["status"]["canaryStatus"]["canaryReadyReplicas"] == 2;
    web.until("half of three", two).await?;
    web.env
        .stays(Duration::from_secs(10), "no other Pod moves", || async {
            Ok(web.web.running("app:v2").await?.0 == 2)
        })
        .await?;
    mark(env, last, false).await?;
    web.web.all_ready(2).await?;
    same("new Pods", web.web.running("app:v2").await?.0, 1)?;
    web.waits(1).await?;
    web.finishes("app:v2").await?;
    web.given_back(&before).await?;
    web.away().await
}

/// A label of Nodes that is this scenario's alone.
fn label(env: &Env) -> String {
    format!("scenarios.test/{}", env.namespace)
}

async fn nodes(env: &Env) -> Result<Vec<String>, crate::env::Failure> {
    let list = env.send("GET", "/api/v1/nodes", "application/json", &Value::Null).await?;
    let name = |node: &Value| node["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    Ok(list["items"].as_array().into_iter().flatten().map(name).collect())
}

async fn mark(env: &Env, nodes: &[String], here: bool) -> Outcome {
    for node in nodes {
        let value = if here { json!("here") } else { Value::Null };
        let patch = json!({"metadata": {"labels": {label(env): value}}});
        let path = format!("/api/v1/nodes/{node}");
        env.send("PATCH", &path, "application/merge-patch+json", &patch).await?;
    }
    Ok(())
}

/// Percentages and numbers, as in `[20%, 5, 100%]`, on each kind.
pub(crate) async fn a_percentage_then_a_number_then_all(env: Env) -> Outcome {
    for kind in kinds::scaled() {
        let web = Workload::deploy(&env, kind, "web", json!({"replicas": 8})).await?;
        walks(web, "20%", 5, [2, 5]).await?;
    }
    for kind in kinds::that(|facts| !facts.replicas) {
        let web = Workload::deploy(&env, kind, "web", json!({})).await?;
        walks(web, "1%", 2, [1, 2]).await?;
    }
    Ok(())
}

async fn walks(web: Workload, share: &str, number: usize, pods: [usize; 2]) -> Outcome {
    let kind: Kind = web.kind;
    let mut web = Steps::of(web, &json!([share, number, "100%"])).await?;
    web.change("app:v2").await?;
    for (step, pods) in (1..).zip(pods) {
        let waiting = web.stands(step, "app:v2", pods).await?;
        let said = condition(&waiting, "Progressing").cloned().unwrap_or_default();
        let message = said["message"].as_str().unwrap_or_default();
        let at = format!("step({step}/3)");
        ensure(message.contains(&at), || format!("{kind:?}: the condition says {message}"))?;
        web.approve().await?;
    }
    web.ends(true).await?;
    web.all_run("app:v2").await?;
    web.away().await
}
