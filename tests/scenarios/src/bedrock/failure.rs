//! Giving up, with the Pod and the cause named, and starting again.

use std::time::Duration;

use serde_json::json;

use crate::env::{BUDGETS, Env, Outcome, ROLLOUTS, SETS, ensure, same, says};
use crate::kit::{DONE, FAILED, budget, phase, reason, rollout};

/// "A broken image ends in `RolloutFailed` with the Pod and cause named", under a budget.
pub(crate) async fn a_broken_image_fails_and_names_pod_and_cause(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(1)).await?;
    let mut web = env.deploy(rollout("web").replicas(4).deadline(30)).await?;
    let before = web.pods().await?;
    web.change(|r| r.image("app:broken")).await?;
    let failed = web.failed().await?;
    says("the reason", reason(&failed), &["web-3", "ImagePullBackOff"])?;
    web.rests(60).await?;
    web.only_moved(&before, &["web-3"]).await
}

/// "… budget or not."
pub(crate) async fn a_broken_image_fails_without_a_budget_as_well(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(3).deadline(30)).await?;
    let before = web.pods().await?;
    web.change(|r| r.image("app:broken")).await?;
    let failed = web.failed().await?;
    says("the reason", reason(&failed), &["web-2", "ImagePullBackOff"])?;
    web.rests(30).await?;
    web.only_moved(&before, &["web-2"]).await
}

/// The same for an image that starts and dies.
pub(crate) async fn a_crashing_image_fails_and_names_pod_and_cause(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(2)).await?;
    let mut web = env.deploy(rollout("web").replicas(6).deadline(40)).await?;
    web.change(|r| r.image("app:crash")).await?;
    let failed = web.failed().await?;
    says("the reason", reason(&failed), &["Pod web-", "CrashLoopBackOff"])?;
    same("Pods that moved", web.running("app:crash").await?, vec!["web-4", "web-5"])
}

/// A set that is created broken fails as well.
pub(crate) async fn a_new_set_with_a_broken_image_fails(env: Env) -> Outcome {
    let web = env.begin(rollout("web").replicas(2).image("app:broken").deadline(20)).await?;
    let failed = web.failed().await?;
    says("the reason", reason(&failed), &["web-", "ImagePullBackOff"])
}

/// "Without progress for this long": slow Pods, one after another, are progress.
pub(crate) async fn a_slow_but_steady_rollout_does_not_fail(env: Env) -> Outcome {
    let steady = rollout("web").replicas(5).deadline(20).pods_take("startup", "8s");
    let mut web = env.deploy(steady).await?;
    web.change(|r| r.image("app:v2")).await?;
    let ended = web.until(300, "an end", |r| [DONE, FAILED].contains(&phase(r))).await?;
    same("phase after five Pods of 8 s with a deadline of 20 s", phase(&ended), DONE)
}

/// "`rolloutIdentity`: changes ⇒ the rollout starts again, also from `RolloutFailed`."
pub(crate) async fn a_new_identity_starts_a_failed_rollout_again(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(3).deadline(15)).await?;
    web.change(|r| r.image("app:v2").pods_take("startup", "40s")).await?;
    web.failed().await?;
    // The Pod comes up in the end; the verdict stands until somebody asks again.
    web.until_running("app:v2", 1).await?;
    tokio::time::sleep(Duration::from_secs(10)).await;
    same("phase", phase(&web.stored().await?), FAILED)?;
    web.change(|r| r.deadline(120).identity("second")).await?;
    let done = web.done().await?;
    same("status.rolloutIdentity", &done["status"]["rolloutIdentity"], "second")?;
    same("Pods at the new version", web.running("app:v2").await?.len(), 3)
}

/// "A change of `channel` or `bapi` does not [begin a new rollout]."
pub(crate) async fn a_change_of_channel_does_not_wake_a_failed_rollout(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(2).deadline(15)).await?;
    web.change(|r| r.image("app:broken")).await?;
    web.failed().await?;
    web.change(|r| {
        r.with("spec/channel", "#other")
            .with("spec/bapi", json!({"bapiUrl": "http://bapi.test", "stageId": "s"}))
    })
    .await?;
    env.stays(Duration::from_secs(30), "failed", || async {
        Ok(phase(&web.stored().await?) == FAILED)
    })
    .await?;
    let status = &web.stored().await?["status"];
    let generation = &web.stored().await?["metadata"]["generation"];
    same("observedGeneration", &status["observedGeneration"], generation)
}

/// "An outdated, unready pod is replaced first, automatically." OrderedReady set, bad template, good
/// template. (bug report: stuck on a broken image; reverting does not help)
pub(crate) async fn a_set_stuck_on_a_broken_image_takes_the_fix(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(3).ordered().deadline(20)).await?;
    web.change(|r| r.image("app:broken")).await?;
    web.failed().await?;
    web.change(|r| r.image("app:v3")).await?;
    web.done().await?;
    same("Pods at the fix", web.running("app:v3").await?.len(), 3)
}

/// "Outdated-and-unavailable pods are replaced outside the budget of healthy ones." All Pods are
/// broken, the budget has no room, a good template comes. (bug reports: broken old pods eat
/// maxUnavailable; bad stable blocks the fix)
pub(crate) async fn a_set_that_is_broken_all_over_takes_the_fix(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(1)).await?;
    let broken = rollout("web").replicas(5).image("app:broken").deadline(15);
    let mut web = env.begin(broken).await?;
    web.failed().await?;
    web.change(|r| r.image("app:v2")).await?;
    web.done().await?;
    same("Pods at the fix", web.running("app:v2").await?.len(), 5)
}

/// Two Pods crash on a bad version and use up a budget of two; the fix gets through. (bug report:
/// CrashLoop pods use up the budget for ever)
pub(crate) async fn crashing_pods_that_use_up_the_budget_take_the_fix(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(2)).await?;
    let mut web = env.deploy(rollout("web").replicas(6).deadline(30)).await?;
    web.change(|r| r.image("app:crash")).await?;
    web.failed().await?;
    let diary = web.diary().await?;
    web.change(|r| r.image("app:v3")).await?;
    web.done().await?;
    let pages = diary.read().await?;
    let mut first: Vec<String> = pages.went().into_iter().take(2).collect();
    first.sort();
    same("those that go first", first, vec!["web-4", "web-5"])?;
    same("fewest healthy Pods", pages.fewest_healthy(), 4)
}

/// "Never force-delete. A Pod stuck terminating … is named in the reason." (bug report: waiting on
/// the pod's name)
pub(crate) async fn a_pod_that_does_not_go_is_named_and_not_forced(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(2).deadline(20)).await?;
    let before = web.pods().await?;
    env.hold("web-1").await?;
    web.change(|r| r.image("app:v2")).await?;
    let failed = web.failed().await?;
    says("the reason", reason(&failed), &["web-1", "terminating"])?;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let there = web.pods().await?;
    ensure(there.iter().any(|pod| pod.uid == before[1].uid), || format!("forced: {there:?}"))?;
    env.release("web-1").await?;
    web.change(|r| r.identity("second")).await?;
    web.done().await?;
    same("Pods at the new version", web.running("app:v2").await?.len(), 2)
}

/// "Read-only is 'not ready yet'": the StatefulSet of a failed rollout keeps the template that was
/// asked for, so that nothing half-made is left.
pub(crate) async fn a_failed_rollout_leaves_the_template_that_was_asked_for(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(2).deadline(15)).await?;
    web.change(|r| r.image("app:broken")).await?;
    web.failed().await?;
    let set = env.get(SETS, "web").await?;
    let image = &set["spec"]["template"]["spec"]["containers"][0]["image"];
    same("the image of the StatefulSet", image, "app:broken")?;
    let rollout = env.get(ROLLOUTS, "web").await?;
    same("statefulsetSpecCurrent", &rollout["status"]["statefulsetSpecCurrent"], true)
}

/// "A change of `percent` … begins a new rollout", from `RolloutFailed` as well.
pub(crate) async fn a_change_of_percent_starts_a_failed_rollout_again(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(4).deadline(15)).await?;
    web.change(|r| r.percent(25).image("app:v2").pods_take("startup", "40s")).await?;
    web.failed().await?;
    web.until_running("app:v2", 1).await?;
    web.change(|r| r.deadline(120).percent(50)).await?;
    web.done().await?;
    same("Pods at the new version", web.running("app:v2").await?.len(), 2)
}

/// "The last two are final": a Pod that is lost later is the StatefulSet's own affair.
pub(crate) async fn a_finished_rollout_stays_done_when_a_pod_is_lost(env: Env) -> Outcome {
    let web = env.deploy(rollout("web").replicas(2)).await?;
    env.lose("web-0").await?;
    env.stays(Duration::from_secs(20), "done", || async {
        Ok(phase(&web.stored().await?) == DONE)
    })
    .await?;
    web.done().await?;
    Ok(())
}

/// Several Pods are lost at once in the middle of an OrderedReady rollout; it gets there. (bug
/// report: OrderedReady, serial recovery or deadlock)
pub(crate) async fn an_ordered_rollout_recovers_when_all_pods_are_lost(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(4).ordered()).await?;
    web.change(|r| r.image("app:v2")).await?;
    web.until_running("app:v2", 1).await?;
    for pod in web.pods().await? {
        env.delete(crate::env::PODS, &pod.name).await?;
    }
    web.done().await?;
    same("Pods at the new version", web.running("app:v2").await?.len(), 4)
}

/// A new Pod in trouble is a reason to stop, though the budget has room for more.
pub(crate) async fn a_broken_pod_stops_the_rollout_though_the_budget_has_room(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable("50%")).await?;
    let mut web = env.deploy(rollout("web").replicas(6).interval(15).deadline(60)).await?;
    let before = web.pods().await?;
    web.change(|r| r.image("app:broken")).await?;
    let failed = web.failed().await?;
    says("the reason", reason(&failed), &["web-5", "ImagePullBackOff"])?;
    web.only_moved(&before, &["web-5"]).await
}
