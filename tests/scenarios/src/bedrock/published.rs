//! The interface as it was published: manifests written for it work unchanged.

use serde_json::{Value, json};

use crate::env::{BUDGETS, Env, Failure, Outcome, ROLLOUTS, SETS, ensure, same};
use crate::kit::{DONE, Rollout, budget, phase, rollout};

const TESTER: &str = "bedrock-tester-sts-dev";

/// The published manifest, with `containers` as the list that it has to be and an image that exists.
fn tester() -> Rollout {
    let origin = json!({"slack.com/bedrock.git.origin": "git.test:slack/bedrock-tester.git"});
    let labels = json!({"app": TESTER});
    Rollout(json!({
        "apiVersion": "bedrock.operator.slack.com/v1",
        "kind": "StatefulsetRollout",
        "metadata": {
            "annotations": {
                "slack.com/bedrock.git.branch": "master",
                "slack.com/bedrock.git.origin": "git.test:slack/bedrock-tester.git",
            },
            "labels": {"app": TESTER, "app.kubernetes.io/version": "v1.custom-1709074522"},
            "name": TESTER,
        },
        "spec": {
            "bapi": {"bapiUrl": "http://bedrock-api.internal.url", "stageId": "2dD2a0GTleDCxkf"},
            "channel": "#devel-rollout-operator-notifications",
            "minPodEvictionIntervalSeconds": 10,
            "pauseRequested": false,
            "percent": 25,
            "rolloutIdentity": "GbTdWjQYgiiToKdoWDLN",
            "serviceDiscovery": {"dc": "cloud1", "serviceNames": ["bedrock-tester-sts"]},
            "statefulset": {
                "apiVersion": "apps/v1",
                "kind": "StatefulSet",
                "metadata": {"annotations": origin, "labels": labels, "name": TESTER},
                "spec": {
                    "replicas": 4,
                    "selector": {"matchLabels": labels},
                    "template": {
                        "metadata": {"annotations": origin, "labels": labels},
                        "spec": {
                            "containers": [{"image": "bedrock-tester:v1", "name": "bedrock-tester"}],
                        },
                    },
                    "updateStrategy": {"type": "OnDelete"},
                },
            },
        },
    }))
}

/// "A CR exactly as in the seed is complete", and goes on to `RolloutDone` from phase to phase.
pub(crate) async fn the_published_example_is_rolled_out(env: Env) -> Outcome {
    env.create(BUDGETS, &budget(TESTER).max_unavailable("50%")).await?;
    let mut web = env.deploy(tester()).await?;
    let before = web.pods().await?;
    web.change(|r| r.image("bedrock-tester:v2")).await?;
    web.done().await?;
    web.only_moved(&before, &["bedrock-tester-sts-dev-3"]).await?;
    web.change(|r| r.percent(100)).await?;
    web.done().await?;
    same("new Pods", web.running("bedrock-tester:v2").await?.len(), 4)
}

/// The same manifest with its namespace written out, as the release platform writes it.
pub(crate) async fn the_namespace_may_be_written_out(env: Env) -> Outcome {
    let namespace = env.namespace.clone();
    let full = tester()
        .with("metadata/namespace", namespace.as_str())
        .with("spec/statefulset/metadata/namespace", namespace.as_str());
    env.deploy(full).await?;
    Ok(())
}

/// Defaults: percent 100, no pause, no interval, 600 s, `Report` and `Report`.
pub(crate) async fn what_is_left_out_has_the_published_default(env: Env) -> Outcome {
    let mut short = rollout("web").replicas(1);
    if let Some(spec) = short.0["spec"].as_object_mut() {
        spec.retain(|field, _| field == "statefulset");
    }
    let web = env.deploy(short).await?;
    let spec = &web.stored().await?["spec"];
    for (field, wanted) in [
        ("percent", json!(100)),
        ("pauseRequested", json!(false)),
        ("minPodEvictionIntervalSeconds", json!(0)),
        ("progressDeadlineSeconds", json!(600)),
        ("unhealthyPods", json!("Report")),
        ("versionLeak", json!("Report")),
        ("notifyLevel", json!("info")),
    ] {
        same(field, &spec[field], &wanted)?;
    }
    Ok(())
}

/// "Embedded `apps/v1` StatefulSet (metadata labels, annotations, name …; spec)."
pub(crate) async fn labels_and_annotations_of_the_set_are_applied(env: Env) -> Outcome {
    let mut web = env.deploy(tester()).await?;
    web.change(|r| r.with("spec/statefulset/metadata/labels/team", "red")).await?;
    web.done().await?;
    let set = web.set().await?;
    same("label app", &set["metadata"]["labels"]["app"], TESTER)?;
    same("label team", &set["metadata"]["labels"]["team"], "red")?;
    let origin = &set["metadata"]["annotations"]["slack.com/bedrock.git.origin"];
    same("annotation", origin, "git.test:slack/bedrock-tester.git")
}

/// "Written by server-side apply (field manager `sluice`, force)": what the rollout no longer asks
/// for goes.
pub(crate) async fn what_is_no_longer_asked_for_goes(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(2).pods_take("startup", "3s")).await?;
    let managers = web.set().await?["metadata"]["managedFields"].clone();
    let applied = |m: &Value| m["manager"] == "sluice" && m["operation"] == "Apply";
    let ours = managers.as_array().is_some_and(|all| all.iter().any(applied));
    ensure(ours, || format!("not applied by sluice: {managers}"))?;
    web.change(|mut r| {
        let template = &mut r.0["spec"]["statefulset"]["spec"]["template"]["metadata"];
        // Left out, not emptied: a server-side apply of an empty map ends as a null, which the schema
        // of a custom resource does not take.
        if let Some(metadata) = template.as_object_mut() {
            metadata.remove("annotations");
        }
        r.image("app:v2")
    })
    .await?;
    web.done().await?;
    let set = web.set().await?;
    let left = &set["spec"]["template"]["metadata"]["annotations"];
    let gone = left.as_object().is_none_or(serde_json::Map::is_empty);
    ensure(gone, || format!("still there: {left}"))
}

/// "Client-side `kubectl apply` of the CRD works (its annotation holds 256 KiB)."
pub(crate) async fn the_definition_fits_into_an_annotation(env: Env) -> Outcome {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/\
                statefulsetrollouts.bedrock.operator.slack.com";
    let stored = env.send("GET", path, "application/json", &Value::Null).await?;
    let size = stored["spec"].to_string().len();
    ensure((1_000..256 * 1024).contains(&size), || format!("{size} bytes"))
}

/// JSON and merge patches as plug-ins and scripts write them.
pub(crate) async fn patches_by_kubectl_work(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(4)).await?;
    web.change(|r| r.percent(25).image("app:v2")).await?;
    web.done().await?;
    let done = |updated: u64| {
        move |r: &Value| phase(r) == DONE && r["status"]["updatedReplicas"] == updated
    };
    env.patch(ROLLOUTS, "web", &json!({"spec": {"percent": 50}})).await?;
    web.until(120, "half", done(2)).await?;
    let patch = json!([{"op": "replace", "path": "/spec/percent", "value": 100}]);
    let path = env.path(ROLLOUTS, "web");
    env.send("PATCH", &path, "application/json-patch+json", &patch).await?;
    web.until(120, "all", done(4)).await?;
    Ok(())
}

/// A whole object that was read, changed and put back, as clients in Go do.
pub(crate) async fn a_replaced_object_works_and_a_stale_one_is_a_conflict(env: Env) -> Outcome {
    let web = env.deploy(rollout("web").replicas(2)).await?;
    let read = web.stored().await?;
    let mut changed = read.clone();
    changed["spec"]["percent"] = json!(50);
    let path = env.path(ROLLOUTS, "web");
    env.send("PUT", &path, "application/json", &changed).await?;
    web.until(60, "seen", |r| r["status"]["percentDeployed"] == 50).await?;
    match env.send("PUT", &path, "application/json", &read).await {
        Err(refused) => same("the answer to a stale object", refused.code, 409),
        Ok(_) => Err(Failure::Broken("a stale object was taken".to_owned())),
    }?;
    let set = env.get(SETS, "web").await?;
    same("Pods", &set["status"]["readyReplicas"], 2)
}
