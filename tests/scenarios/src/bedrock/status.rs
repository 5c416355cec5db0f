//! What the status, the columns and the events say.

use std::time::Duration;

use serde_json::{Value, json};

use crate::env::{EVENTS, Env, Outcome, ROLLOUTS, ensure, same};
use crate::kit::{budget, condition, rollout, seconds};

/// "Exactly the seed's Go struct, with its JSON names, odd ones included."
pub(crate) async fn the_status_has_the_published_names(env: Env) -> Outcome {
    let published = rollout("web")
        .replicas(2)
        .with("metadata/labels", json!({"app.kubernetes.io/version": "v1.custom-17"}))
        .with(
            "metadata/annotations",
            json!({
                "slack.com/bedrock.git.branch": "main",
                "slack.com/bedrock.git.commit": "0123abcd",
                "slack.com/bedrock.git.origin": "git.test:web.git",
            }),
        );
    let web = env.deploy(published).await?;
    let status = &web.stored().await?["status"];
    for (name, wanted) in [
        ("phase", json!("RolloutDone")),
        ("percentDeployed", json!(100)),
        ("readyReplicas", json!(2)),
        ("statefulsetName", json!("web")),
        ("statefulsetSpecCurrent", json!(true)),
        ("rolloutIdentity", json!("first")),
    ] {
        same(name, &status[name], &wanted)?;
    }
    let build = &status["buildMetadata"];
    same("buildMetadata.branch", &build["branch"], "main")?;
    same("buildMetadata.commit", &build["commit"], "0123abcd")?;
    same("buildMetadata.version", &build["version"], "v1.custom-17")?;
    ensure(status["reason"].as_str().is_some_and(|r| !r.is_empty()), || "no reason".to_owned())?;
    ensure(status["lastUpdated"].is_string(), || format!("no lastUpdated: {status}"))
}

/// "`Pods[]` rows: name, uid, node, revision, version, ready, … state."
pub(crate) async fn each_pod_has_a_row(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(3)).await?;
    web.change(|r| r.percent(34).image("app:v2")).await?;
    let done = web.done().await?;
    let rows = done["status"]["Pods"].as_array().cloned().unwrap_or_default();
    let pods = web.pods().await?;
    same("rows", rows.len(), pods.len())?;
    for (row, pod) in rows.iter().zip(&pods) {
        same("name", &row["name"], pod.name.as_str())?;
        same("uid", &row["uid"], pod.uid.as_str())?;
        same("revision", &row["revision"], pod.revision.as_str())?;
        same("ready", &row["ready"], true)?;
        let version = pod.image.strip_prefix("app:").unwrap_or_default();
        same("version", &row["version"], version)?;
    }
    let states: Vec<&str> = rows.iter().filter_map(|row| row["state"].as_str()).collect();
    same("states", states, vec!["Old", "Updated", "Updated"])
}

/// A Pod on its way is in its row, and its UID in `evicting` while it is being moved.
pub(crate) async fn pods_in_motion_are_shown(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(2).pods_take("terminate-after", "8s")).await?;
    let before = web.pods().await?;
    web.change(|r| r.image("app:v2")).await?;
    let moving = |r: &Value| {
        r["status"]["evicting"] == json!([before[1].uid])
            && r["status"]["Pods"][1]["state"] == "Evicting"
    };
    web.until(60, "the UID of web-1 is in evicting, and its row says so", moving).await?;
    let done = web.done().await?;
    let rest = done["status"]["evicting"].as_array().is_none_or(Vec::is_empty);
    ensure(rest, || format!("done and evicting: {}", done["status"]))
}

/// "`conditions[]` (`Progressing`, `Available`, `Blocked`, `Leaked`)", each a proper condition.
pub(crate) async fn the_conditions_are_those_of_the_interface(env: Env) -> Outcome {
    let web = env.deploy(rollout("web").replicas(1)).await?;
    let done = web.stored().await?;
    let conditions = done["status"]["conditions"].as_array().cloned().unwrap_or_default();
    for (kind, wanted) in
        [("Progressing", "True"), ("Available", "True"), ("Blocked", "False"), ("Leaked", "False")]
    {
        let found = conditions.iter().find(|c| c["type"] == kind).cloned().unwrap_or_default();
        same(kind, &found["status"], wanted)?;
        let whole = found["reason"].as_str().is_some_and(|reason| !reason.is_empty())
            && found["lastTransitionTime"].is_string();
        ensure(whole, || format!("{kind} is no proper condition: {found}"))?;
    }
    Ok(())
}

/// "Available": it is false while Pods are missing.
pub(crate) async fn available_is_false_while_a_pod_is_missing(env: Env) -> Outcome {
    let web = env.deploy(rollout("web").replicas(2)).await?;
    env.make_ready("web-0", false).await?;
    let missing = |r: &Value| condition(r, "Available").is_none();
    web.until(60, "not available", missing).await?;
    web.until(60, "one ready", |r| r["status"]["readyReplicas"] == 1).await?;
    env.make_ready("web-0", true).await?;
    web.until(60, "available", |r| condition(r, "Available").is_some()).await?;
    Ok(())
}

/// "Printer columns PHASE, PERCENT, UPDATED (`n/target/replicas`), READY, PAUSED, REASON, AGE."
pub(crate) async fn the_columns_are_those_of_the_interface(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(4)).await?;
    web.change(|r| r.percent(50).image("app:v2")).await?;
    web.done().await?;
    let request = http::Request::get(env.path(ROLLOUTS, ""))
        .header(http::header::ACCEPT, "application/json;as=Table;v=v1;g=meta.k8s.io")
        .body(Vec::new());
    let request = request.map_err(|error| crate::env::Failure::Broken(error.to_string()))?;
    let table = env.client.request::<Value>(request).await;
    let table = table.map_err(|error| crate::env::Failure::Broken(error.to_string()))?;
    let columns = table["columnDefinitions"].as_array().cloned().unwrap_or_default();
    let names: Vec<String> =
        columns.iter().filter_map(|c| c["name"].as_str()).map(str::to_uppercase).collect();
    let wanted = vec!["NAME", "PHASE", "PERCENT", "UPDATED", "READY", "PAUSED", "REASON", "AGE"];
    same("columns", names, wanted)?;
    let cells = &table["rows"][0]["cells"];
    same("NAME", &cells[0], "web")?;
    same("PHASE", &cells[1], "RolloutDone")?;
    same("PERCENT", &cells[2], 50)?;
    same("UPDATED", &cells[3], "2/2/4")?;
    same("READY", &cells[4], 4)
}

/// "Namespaced, plural `statefulsetrollouts`, short name `ssr`", with both subresources.
pub(crate) async fn discovery_lists_the_resource_and_its_subresources(env: Env) -> Outcome {
    let list = env.send("GET", ROLLOUTS.0, "application/json", &Value::Null).await?;
    let resources = list["resources"].as_array().cloned().unwrap_or_default();
    let find =
        |name: &str| resources.iter().find(|r| r["name"] == name).cloned().unwrap_or_default();
    let main = find("statefulsetrollouts");
    same("kind", &main["kind"], "StatefulsetRollout")?;
    same("namespaced", &main["namespaced"], true)?;
    same("shortNames", &main["shortNames"], &json!(["ssr"]))?;
    same("status", &find("statefulsetrollouts/status")["kind"], "StatefulsetRollout")?;
    same("scale", &find("statefulsetrollouts/scale")["kind"], "Scale")
}

/// "A finished or idle rollout causes no request": its object does not change any more.
pub(crate) async fn a_finished_rollout_is_still(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(3)).await?;
    web.change(|r| r.percent(34).image("app:v2")).await?;
    web.done().await?;
    tokio::time::sleep(Duration::from_secs(10)).await;
    let before = (web.stored().await?, web.set().await?);
    tokio::time::sleep(Duration::from_secs(90)).await;
    let after = (web.stored().await?, web.set().await?);
    let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
    same("the rollout's resourceVersion", version(&after.0), version(&before.0))?;
    same("the set's resourceVersion", version(&after.1), version(&before.1))
}

/// When the status was last written, by the server's clock, in seconds.
fn status_written(rollout: &Value) -> Option<i64> {
    let fields = rollout["metadata"]["managedFields"].as_array()?;
    let of_status = fields.iter().filter(|fields| fields["subresource"] == "status");
    of_status.filter_map(|fields| seconds(&fields["time"])).max()
}

/// "A verdict never precedes the fact": ready is not enough where minReadySeconds are asked for.
pub(crate) async fn done_waits_for_min_ready_seconds(env: Env) -> Outcome {
    env.create(crate::env::BUDGETS, &budget("web").max_unavailable("100%")).await?;
    let mut web = env.deploy(rollout("web").replicas(2).min_ready(20)).await?;
    let diary = web.diary().await?;
    web.change(|r| r.image("app:v2")).await?;
    let done = status_written(&web.done().await?);
    let pages = diary.read().await?;
    for pod in web.pods().await? {
        let soaked = done.zip(pages.ready_since(&pod.uid)).map(|(done, ready)| done - ready);
        // Both times are to the second.
        let enough = soaked.is_some_and(|soaked| soaked >= 19);
        ensure(enough, || format!("done {soaked:?} s after {} was ready", pod.name))?;
    }
    Ok(())
}

/// Each phase is told by one Event, however often the rollout is looked at. (bug report: duplicate
/// notifications)
pub(crate) async fn each_phase_is_told_by_one_event(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(3)).await?;
    web.change(|r| r.image("app:v2")).await?;
    web.done().await?;
    tokio::time::sleep(Duration::from_secs(20)).await;
    let events = env.list(EVENTS, "").await?;
    let of = |reason: &str| {
        let ours = |e: &&Value| e["reason"] == reason && e["regarding"]["name"] == "web";
        // Said again within minutes, an Event is counted up.
        let times = |e: &Value| e["series"]["count"].as_u64().unwrap_or(1);
        events.iter().filter(ours).map(times).sum::<u64>()
    };
    // The set came up, then it was rolled out: two rollouts.
    for (reason, wanted) in [("RolloutDone", 2), ("RolloutInProgress", 2), ("RolloutFailed", 0)] {
        let seen = of(reason);
        let notes: Vec<&Value> = events.iter().map(|event| &event["note"]).collect();
        ensure(seen == wanted, || format!("{seen} Events {reason}, not {wanted}: {notes:?}"))?;
    }
    Ok(())
}
