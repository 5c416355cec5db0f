//! Bad input: a clear message with the object, the field and the remedy; nothing half-made.

use std::time::Duration;

use serde_json::{Value, json};

use crate::env::{Env, Failure, Outcome, ROLLOUTS, Refused, SETS, ensure, same, says};
use crate::kit::{FAILED, Rollout, Web, phase, reason, rollout};

/// Creates with strict checking of fields, as kubectl does, and expects to be refused.
async fn refused(env: &Env, rollout: &Rollout) -> Result<Refused, Failure> {
    let path = format!("{}?fieldValidation=Strict", env.path(ROLLOUTS, ""));
    match env.send("POST", &path, "application/json", &rollout.0).await {
        Err(refused) if (400..500).contains(&refused.code) => Ok(refused),
        Err(refused) => Err(refused.into()),
        Ok(stored) => Err(Failure::Broken(format!("taken as it is: {}", stored["spec"]))),
    }
}

async fn refuses(env: &Env, rollout: &Rollout, words: &[&str]) -> Outcome {
    says("the refusal", &refused(env, rollout).await?.message, words)
}

/// Unknown fields: named with their path.
pub(crate) async fn an_unknown_field_is_refused_by_its_path(env: Env) -> Outcome {
    refuses(&env, &rollout("web").with("spec/percnt", 50), &["spec.percnt"]).await?;
    let deep = rollout("web").with("spec/statefulset/spec/replica", 3);
    refuses(&env, &deep, &["spec.statefulset.spec.replica"]).await?;
    let there = env.get(ROLLOUTS, "web").await;
    ensure(there.is_err_and(|r| r.code == 404), || "something half-made is left".to_owned())
}

/// "Unknown fields are preserved under the Pod template's `spec` alone."
pub(crate) async fn unknown_fields_live_on_in_the_pod_spec_alone(env: Env) -> Outcome {
    let template = "spec/statefulset/spec/template/spec";
    let new = rollout("web")
        .paused(true)
        .with(&format!("{template}/fieldOfTheFuture"), json!({"deep": [1]}))
        .with("spec/nonsense", 1);
    let stored = env.create(ROLLOUTS, &new.0).await?;
    let kept = &stored["spec"]["statefulset"]["spec"]["template"]["spec"]["fieldOfTheFuture"];
    same("kept", kept, &json!({"deep": [1]}))?;
    same("pruned", &stored["spec"]["nonsense"], &Value::Null)
}

/// Wrong types.
pub(crate) async fn a_wrong_type_is_refused_by_field_and_type(env: Env) -> Outcome {
    refuses(&env, &rollout("web").with("spec/percent", "half"), &["spec.percent", "integer"])
        .await?;
    let pause = rollout("web").with("spec/pauseRequested", "yes");
    refuses(&env, &pause, &["spec.pauseRequested", "boolean"]).await?;
    let names = rollout("web").with("spec/serviceDiscovery/serviceNames", "web");
    refuses(&env, &names, &["spec.serviceDiscovery.serviceNames", "array"]).await?;
    let set = rollout("web").with("spec/statefulset", "web");
    refuses(&env, &set, &["spec.statefulset", "object"]).await
}

/// The published example writes `containers` as one object; it is a list.
pub(crate) async fn containers_as_an_object_are_refused_as_no_list(env: Env) -> Outcome {
    let path = "spec/statefulset/spec/template/spec/containers";
    let object = rollout("web").with(path, json!({"name": "main", "image": "app:v1"}));
    let field = "spec.statefulset.spec.template.spec.containers";
    refuses(&env, &object, &[field]).await?;
    // Unless fields are checked strictly, what is unknown is dropped first.
    match env.create(ROLLOUTS, &object.0).await {
        Err(refused) => says("the refusal", &refused.message, &[field, "array"]),
        Ok(stored) => Err(Failure::Broken(format!("taken as it is: {}", stored["spec"]))),
    }
}

/// Impossible values.
pub(crate) async fn an_impossible_value_is_refused_by_field_and_limit(env: Env) -> Outcome {
    refuses(&env, &rollout("web").with("spec/percent", 101), &["spec.percent", "100"]).await?;
    refuses(&env, &rollout("web").with("spec/percent", -1), &["spec.percent", "0"]).await?;
    let interval = rollout("web").with("spec/minPodEvictionIntervalSeconds", -5);
    refuses(&env, &interval, &["spec.minPodEvictionIntervalSeconds", "0"]).await?;
    let deadline = rollout("web").with("spec/progressDeadlineSeconds", 0);
    refuses(&env, &deadline, &["spec.progressDeadlineSeconds"]).await?;
    let leak = rollout("web").leak("Never");
    refuses(&env, &leak, &["spec.versionLeak", "Never", "Prevent"]).await?;
    let unhealthy = rollout("web").with("spec/unhealthyPods", "Kill");
    refuses(&env, &unhealthy, &["spec.unhealthyPods", "Replace"]).await?;
    let replicas = rollout("web").with("spec/statefulset/spec/replicas", -1);
    refuses(&env, &replicas, &["spec.statefulset.spec.replicas"]).await
}

/// A callback needs both of its parts, and an address that can be called.
pub(crate) async fn half_a_callback_is_refused(env: Env) -> Outcome {
    let half = rollout("web").with("spec/bapi", json!({"bapiUrl": "http://bapi.test"}));
    refuses(&env, &half, &["bapi", "stageId"]).await?;
    let address = json!({"bapiUrl": "bapi.test", "stageId": "s"});
    refuses(&env, &rollout("web").with("spec/bapi", address), &["bapiUrl", "http://"]).await
}

/// A name that leaves no room for the revision's hash.
pub(crate) async fn a_name_that_is_too_long_is_refused_with_the_limit(env: Env) -> Outcome {
    let name = "a".repeat(53);
    refuses(&env, &rollout(&name), &["52"]).await
}

/// A selector that does not select the template's Pods.
pub(crate) async fn a_selector_that_misses_its_pods_is_refused(env: Env) -> Outcome {
    let selector = json!({"matchLabels": {"app": "other"}});
    let astray = rollout("web").with("spec/statefulset/spec/selector", selector);
    let words = ["spec.statefulset.spec", "selector.matchLabels", "template.metadata.labels"];
    refuses(&env, &astray, &words).await
}

/// No StatefulSet at all.
pub(crate) async fn a_rollout_of_nothing_is_refused(env: Env) -> Outcome {
    let mut nothing = rollout("web");
    if let Some(spec) = nothing.0["spec"].as_object_mut() {
        spec.remove("statefulset");
    }
    refuses(&env, &nothing, &["statefulset"]).await
}

/// Malformed bodies.
pub(crate) async fn a_malformed_body_is_refused_and_leaves_nothing(env: Env) -> Outcome {
    for body in ["{\"spec\": ", "[]", "just words"] {
        let request = http::Request::post(env.path(ROLLOUTS, ""))
            .header(http::header::CONTENT_TYPE, "application/json")
            .body(body.as_bytes().to_vec())
            .map_err(|error| Failure::Broken(error.to_string()))?;
        match env.client.request::<Value>(request).await {
            Err(kube::Error::Api(status)) => {
                same(&format!("the answer to {body:?}"), status.code, 400)?;
                ensure(!status.message.is_empty(), || format!("nothing is said of {body:?}"))?;
            }
            other => return Err(Failure::Broken(format!("{body:?} is answered with {other:?}"))),
        }
    }
    same("rollouts", env.list(ROLLOUTS, "").await?.len(), 0)
}

/// "A namespace that doesn't exist."
pub(crate) async fn a_namespace_that_is_not_there_is_named(env: Env) -> Outcome {
    let nowhere = Env { namespace: "nowhere-at-all".to_owned(), ..env };
    match nowhere.create(ROLLOUTS, &rollout("web").0).await {
        Err(refused) if refused.code == 404 => {
            says("the answer", &refused.message, &["nowhere-at-all"])
        }
        other => Err(Failure::Broken(format!("answered with {other:?}"))),
    }
}

/// Refused at the door, or failed with a reason: what is said of a change.
async fn word_on(web: &mut Web, edit: impl FnOnce(Rollout) -> Rollout) -> Result<String, Failure> {
    match web.change(edit).await {
        Err(refused) if refused.code == 0 => Err(refused.into()),
        Err(refused) => Ok(refused.message),
        Ok(()) => Ok(reason(&web.failed().await?).to_owned()),
    }
}

/// "Immutable StatefulSet changes": with or without a webhook, the object and the field are named and
/// the Pods stay; the change taken back is a rollout like any other.
pub(crate) async fn an_immutable_change_is_named_and_moves_nothing(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(2)).await?;
    let before = web.pods().await?;
    let good = web.rollout.clone();
    let said =
        word_on(&mut web, |r| r.with("spec/statefulset/spec/serviceName", "other").image("app:v2"))
            .await?;
    says("what is said", &said, &["web", "serviceName"])?;
    web.rests(20).await?;
    web.only_moved(&before, &[]).await?;
    web.change(|_| good).await?;
    web.done().await?;
    web.only_moved(&before, &[]).await
}

/// A Pod template that the API server refuses: its words, the object and the remedy.
pub(crate) async fn a_template_that_the_server_refuses_is_named(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(1)).await?;
    let said =
        word_on(&mut web, |r| r.with("spec/statefulset/spec/template/spec/restartPolicy", "Never"))
            .await?;
    says("what is said", &said, &["web", "restartPolicy"])?;
    let set = env.get(SETS, "web").await?;
    let policy = &set["spec"]["template"]["spec"]["restartPolicy"];
    ensure(policy != "Never", || "half-made".to_owned())?;
    web.change(|r| r.with("spec/statefulset/spec/template/spec/restartPolicy", "Always")).await?;
    web.done().await?;
    Ok(())
}

/// A rollout whose namespace says elsewhere never reaches elsewhere.
pub(crate) async fn a_set_in_another_namespace_is_never_made(env: Env) -> Outcome {
    let elsewhere = rollout("web").with("spec/statefulset/metadata/namespace", "default");
    let said = match env.apply(ROLLOUTS, &elsewhere.0).await {
        Err(refused) => refused.message,
        Ok(_) => {
            let limit = env.limit(60);
            let told = |r: &Value| phase(r) == FAILED;
            let failed = env.until(ROLLOUTS, "web", limit, "failed with a reason", told).await?;
            reason(&failed).to_owned()
        }
    };
    says("what is said", &said, &["namespace", "default"])?;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let other = Env { namespace: "default".to_owned(), ..env };
    let made = other.get(SETS, "web").await;
    ensure(made.is_err_and(|r| r.code == 404), || "a set was made elsewhere".to_owned())
}
