//! `versionLeak: Prevent`: a partition holds the old revision.

use serde_json::{Value, json};

use crate::env::{BUDGETS, Env, Failure, Outcome, SETS, ensure, same, says};
use crate::kit::{PAUSED, Web, budget, count, reason, rollout};

async fn held(env: &Env, replicas: u32) -> Result<Web, Failure> {
    env.create(BUDGETS, &budget("web").max_unavailable(2)).await?;
    env.deploy(rollout("web").replicas(replicas).leak("Prevent").deadline(40)).await
}

/// "A Pod below the partition then returns at the stable revision." (bug report: pod below the
/// partition is upgraded on restart)
pub(crate) async fn a_held_pod_that_is_lost_returns_at_the_stable_revision(env: Env) -> Outcome {
    let mut web = held(&env, 4).await?;
    web.change(|r| r.percent(25).image("app:v2")).await?;
    web.done().await?;
    same("web-0", env.lose("web-0").await?.image.as_str(), "app:v1")?;
    same("web-3", env.lose("web-3").await?.image.as_str(), "app:v2")?;
    let done = web.done().await?;
    same("leakedReplicas", count(&done, "leakedReplicas"), 0)
}

/// "(2) the new template and partition = replicas in one write": at no moment may the set's own
/// controller move a Pod.
pub(crate) async fn a_template_comes_with_its_hold(env: Env) -> Outcome {
    let mut web = held(&env, 4).await?;
    let before = web.pods().await?;
    web.change(|r| r.percent(0).image("app:v2")).await?;
    web.done().await?;
    web.rests(20).await?;
    web.only_moved(&before, &[]).await?;
    let set = web.set().await?;
    same("strategy", &set["spec"]["updateStrategy"]["type"], "RollingUpdate")?;
    same("partition", &set["spec"]["updateStrategy"]["rollingUpdate"]["partition"], 4)?;
    same("web-2", env.lose("web-2").await?.image.as_str(), "app:v1")
}

/// "(3) per group lower the partition by what the budget allows now and evict just those Pods in
/// parallel."
pub(crate) async fn groups_move_in_parallel_within_the_budget(env: Env) -> Outcome {
    let mut web = held(&env, 8).await?;
    let diary = web.diary().await?;
    web.change(|r| r.percent(75).image("app:v2")).await?;
    web.done().await?;
    web.rests(15).await?;
    let pages = diary.read().await?;
    same("fewest healthy Pods", pages.fewest_healthy(), 6)?;
    let mut went = pages.went();
    went.sort();
    same("Pods that went", went, vec!["web-2", "web-3", "web-4", "web-5", "web-6", "web-7"])
}

/// "(1) settle: all Pods at the template's revision and ready, … wait for `currentRevision ==
/// updateRevision` (restarts nothing)."
pub(crate) async fn a_finished_rollout_settles_and_restarts_nothing(env: Env) -> Outcome {
    let mut web = held(&env, 3).await?;
    web.change(|r| r.image("app:v2")).await?;
    web.done().await?;
    let before = web.pods().await?;
    let open = |s: &Value| {
        s["status"]["currentRevision"] == s["status"]["updateRevision"]
            && s["status"]["observedGeneration"] == s["metadata"]["generation"]
    };
    env.until(SETS, "web", env.limit(60), "settled", open).await?;
    web.rests(15).await?;
    web.only_moved(&before, &[]).await
}

/// Turned on for a set that ran under OnDelete: nothing restarts, and the next template is held.
pub(crate) async fn a_set_can_be_held_from_its_next_template_on(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(3)).await?;
    web.change(|r| r.image("app:v2")).await?;
    web.done().await?;
    let before = web.pods().await?;
    web.change(|r| r.leak("Prevent")).await?;
    web.done().await?;
    web.rests(20).await?;
    web.only_moved(&before, &[]).await?;
    web.change(|r| r.percent(34).image("app:v3")).await?;
    web.done().await?;
    same("web-0", env.lose("web-0").await?.image.as_str(), "app:v2")?;
    same("new Pods", web.running("app:v3").await?, vec!["web-1", "web-2"])
}

/// "Under `Prevent` the order is by ordinal alone": a broken old Pod lower down does not go first.
pub(crate) async fn the_order_is_by_ordinal_alone(env: Env) -> Outcome {
    let mut web = held(&env, 4).await?;
    let before = web.pods().await?;
    env.make_ready("web-1", false).await?;
    web.change(|r| r.percent(25).image("app:v2")).await?;
    web.until_running("app:v2", 1).await?;
    web.only_moved(&before, &["web-3"]).await
}

/// "Pause … an open partition is drawn back to what has already moved": what is lost in a pause
/// comes back at the stable revision.
pub(crate) async fn a_pause_draws_the_partition_back(env: Env) -> Outcome {
    let mut web = held(&env, 6).await?;
    web.change(|r| r.image("app:v2")).await?;
    web.until_running("app:v2", 1).await?;
    web.change(|r| r.paused(true)).await?;
    web.phase(PAUSED, 60).await?;
    tokio::time::sleep(std::time::Duration::from_secs(15)).await;
    let before = web.pods().await?;
    web.rests(30).await?;
    web.only_moved(&before, &[]).await?;
    let old: Vec<&str> =
        before.iter().filter(|pod| pod.image == "app:v1").map(|pod| pod.name.as_str()).collect();
    ensure(!old.is_empty(), || format!("the pause came too late: {before:?}"))?;
    for name in old {
        same(name, env.lose(name).await?.image.as_str(), "app:v1")?;
    }
    web.change(|r| r.paused(false)).await?;
    web.done().await?;
    same("new Pods", web.running("app:v2").await?.len(), 6)
}

/// "An open partition … is drawn back to what has already moved", whoever opened it.
pub(crate) async fn a_partition_that_somebody_opens_in_a_pause_is_drawn_back(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(1)).await?;
    let slow = rollout("web").replicas(6).leak("Prevent").pods_take("startup", "10s");
    let mut web = env.deploy(slow).await?;
    web.change(|r| r.image("app:v2")).await?;
    web.until_running("app:v2", 1).await?;
    web.change(|r| r.paused(true)).await?;
    web.phase(PAUSED, 60).await?;
    tokio::time::sleep(std::time::Duration::from_secs(20)).await;
    let moved = web.running("app:v2").await?.len();
    let open = json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}});
    env.patch(SETS, "web", &open).await?;
    // The set's own controller takes one Pod at once, and the next when that one is ready.
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    let set = web.set().await?;
    let partition = &set["spec"]["updateStrategy"]["rollingUpdate"]["partition"];
    let held = partition.as_u64().is_some_and(|partition| partition > 1);
    ensure(held, || format!("the partition is {partition}"))?;
    let now = web.running("app:v2").await?.len();
    ensure(now <= moved + 1, || format!("{now} of 6 moved in a pause, {moved} before it"))
}

/// "Scaling to 0 in between loses the hold: detect, pause, say so." (bug report: scale to 0 with a
/// partition forgets the old version)
pub(crate) async fn scaling_to_0_in_between_loses_the_hold_and_says_so(env: Env) -> Outcome {
    let mut web = held(&env, 3).await?;
    web.change(|r| r.without("replicas")).await?;
    web.done().await?;
    web.change(|r| r.percent(34).image("app:v2")).await?;
    web.done().await?;
    let content = "application/merge-patch+json";
    env.patch_sub(SETS, "web", "scale", content, &json!({"spec": {"replicas": 0}})).await?;
    let paused = web.phase(PAUSED, 90).await?;
    says("the reason", reason(&paused), &["scaled to 0", "rolloutIdentity"])?;
    env.patch_sub(SETS, "web", "scale", content, &json!({"spec": {"replicas": 3}})).await?;
    web.change(|r| r.percent(100).identity("second")).await?;
    web.done().await?;
    same("new Pods", web.running("app:v2").await?.len(), 3)
}

/// A broken image under a hold: fails with Pod and cause, and rolls back moving only the broken.
pub(crate) async fn a_broken_image_under_a_hold_fails_and_rolls_back(env: Env) -> Outcome {
    let mut web = held(&env, 5).await?;
    web.change(|r| r.percent(60).image("app:broken")).await?;
    let failed = web.failed().await?;
    says("the reason", reason(&failed), &["web-", "ImagePullBackOff"])?;
    let before = web.pods().await?;
    // The first that does not come up keeps the others of its group where they are.
    let broken = web.running("app:broken").await?;
    let broken: Vec<&str> = broken.iter().map(String::as_str).collect();
    ensure([&["web-4"][..], &["web-3", "web-4"]].contains(&&broken[..]), || {
        format!("the broken ones are the highest, within the budget of 2: {broken:?}")
    })?;
    web.change(|r| r.percent(100).image("app:v1")).await?;
    web.done().await?;
    web.only_moved(&before, &broken).await
}

/// A rollback under a hold moves only what had moved.
pub(crate) async fn a_rollback_under_a_hold_moves_only_what_had_moved(env: Env) -> Outcome {
    let mut web = held(&env, 4).await?;
    web.change(|r| r.percent(50).image("app:v2")).await?;
    web.done().await?;
    let before = web.pods().await?;
    let diary = web.diary().await?;
    web.change(|r| r.percent(100).image("app:v1")).await?;
    web.done().await?;
    web.only_moved(&before, &["web-2", "web-3"]).await?;
    let fewest = diary.read().await?.fewest_healthy();
    ensure(fewest >= 2, || format!("the budget wants 2 healthy Pods, there were {fewest}"))
}

/// "`spec.ordinals.start`" and the partition: it counts ordinals, not Pods.
pub(crate) async fn a_hold_respects_where_ordinals_start(env: Env) -> Outcome {
    let start = "spec/statefulset/spec/ordinals/start";
    let from_5 = rollout("web").replicas(3).leak("Prevent").with(start, 5);
    let mut web = env.deploy(from_5).await?;
    let before = web.pods().await?;
    web.change(|r| r.percent(33).image("app:v2")).await?;
    web.done().await?;
    web.rests(20).await?;
    web.only_moved(&before, &["web-7"]).await?;
    same("web-5", env.lose("web-5").await?.image.as_str(), "app:v1")
}

/// "Prevent" and OrderedReady together: one at a time, and held.
pub(crate) async fn a_hold_works_under_ordered_ready(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(2)).await?;
    let mut web = env.deploy(rollout("web").replicas(3).ordered().leak("Prevent")).await?;
    let diary = web.diary().await?;
    web.change(|r| r.percent(66).image("app:v2")).await?;
    web.done().await?;
    same("fewest healthy Pods", diary.read().await?.fewest_healthy(), 2)?;
    same("web-0", env.lose("web-0").await?.image.as_str(), "app:v1")
}

/// A foreign restart of a held set waits like any other template: same percentage, same budget.
pub(crate) async fn a_restart_by_kubectl_waits_behind_the_hold(env: Env) -> Outcome {
    let mut web = held(&env, 6).await?;
    web.change(|r| r.percent(67)).await?;
    web.done().await?;
    tokio::time::sleep(std::time::Duration::from_secs(15)).await;
    let before = web.pods().await?;
    let diary = web.diary().await?;
    let stamp = json!({"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"});
    let restart = json!({"spec": {"template": {"metadata": {"annotations": stamp}}}});
    env.patch(SETS, "web", &restart).await?;
    let fresh = |r: &Value| {
        r["status"]["updateRevision"] != before[0].revision.as_str()
            && r["status"]["phase"] == "RolloutDone"
    };
    web.until(180, "the new revision is rolled out", fresh).await?;
    web.rests(20).await?;
    web.only_moved(&before, &["web-1", "web-2", "web-3", "web-4", "web-5"]).await?;
    same("fewest healthy Pods", diary.read().await?.fewest_healthy(), 4)
}

/// A set that ran under RollingUpdate is adopted without a restart and held from its first template
/// on.
pub(crate) async fn an_adopted_rolling_set_can_be_held(env: Env) -> Outcome {
    env.create(SETS, &crate::kit::set("web")).await?;
    let four = |s: &Value| s["status"]["readyReplicas"] == 4;
    env.until(SETS, "web", env.limit(90), "four Pods", four).await?;
    let before = crate::kit::pods(&env, "web").await?;
    let held = rollout("web").leak("Prevent").percent(25).image("app:v2");
    let web = env.begin(held).await?;
    web.done().await?;
    web.rests(20).await?;
    web.only_moved(&before, &["web-3"]).await?;
    same("web-0", env.lose("web-0").await?.image.as_str(), "app:v1")
}

/// The interval spaces Pods out under a hold as well.
pub(crate) async fn the_interval_spaces_pods_out_under_a_hold(env: Env) -> Outcome {
    let mut web = held(&env, 3).await?;
    let diary = web.diary().await?;
    web.change(|r| r.interval(20).image("app:v2")).await?;
    web.done().await?;
    let departures = diary.read().await?.departures();
    same("Pods that went", departures.len(), 3)?;
    for pair in departures.windows(2) {
        let apart = pair[1].seconds_after(&pair[0])?;
        ensure(apart >= 19, || format!("only {apart} s apart: {pair:?}"))?;
    }
    Ok(())
}
