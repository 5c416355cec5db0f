//! How many Pods go at once: disruption budgets, the interval, the set's own order.

use std::time::Duration;

use serde_json::json;

use crate::env::{BUDGETS, Env, Outcome, ROLLOUTS, SETS, ensure, same, says};
use crate::kit::{DONE, Diary, IN_PROGRESS, budget, condition, phase, reason, rollout, set};

/// "Group size k = min(…, PDB's disruptionsAllowed, …)": never fewer Pods healthy than the budget
/// wants, and as many at once as it allows.
pub(crate) async fn the_budget_is_used_and_never_overrun(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(3)).await?;
    let mut web = env.deploy(rollout("web").replicas(9)).await?;
    let diary = web.diary().await?;
    web.change(|r| r.image("app:v2")).await?;
    web.done().await?;
    same("fewest healthy Pods", diary.read().await?.fewest_healthy(), 6)
}

/// The same with `minAvailable` as a percentage.
pub(crate) async fn min_available_is_kept(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").min_available("70%")).await?;
    let mut web = env.deploy(rollout("web").replicas(6)).await?;
    let diary = web.diary().await?;
    web.change(|r| r.image("app:v2")).await?;
    web.done().await?;
    same("fewest healthy Pods", diary.read().await?.fewest_healthy(), 5)
}

/// "No PDB ⇒ one Pod at a time, and the reason says so."
pub(crate) async fn without_a_budget_one_pod_moves_at_a_time_and_the_reason_says_so(
    env: Env,
) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(4)).await?;
    let diary = web.diary().await?;
    web.change(|r| r.image("app:v2").pods_take("startup", "5s")).await?;
    let words = "no PodDisruptionBudget";
    web.until(60, "the reason names the want of a budget", |r| reason(r).contains(words)).await?;
    web.done().await?;
    same("fewest healthy Pods", diary.read().await?.fewest_healthy(), 3)
}

/// "The PDB is read at run time": a change of it changes the pace of a rollout under way.
pub(crate) async fn a_budget_that_is_widened_on_the_way_is_used(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(1)).await?;
    let mut web = env.deploy(rollout("web").replicas(8)).await?;
    let slow_first = web.diary().await?;
    web.change(|r| r.image("app:v2")).await?;
    web.until_running("app:v2", 1).await?;
    same("fewest healthy before", slow_first.read().await?.fewest_healthy(), 7)?;
    env.patch(BUDGETS, "web", &json!({"spec": {"maxUnavailable": 4}})).await?;
    let diary = web.diary().await?;
    web.done().await?;
    let fewest = diary.read().await?.fewest_healthy();
    ensure((4..6).contains(&fewest), || format!("4 may go at once, {fewest} of 8 stayed"))
}

/// "PDB that never allows a disruption ⇒ blocked, with the remedy."
pub(crate) async fn a_budget_that_never_allows_blocks_and_names_the_remedy(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(0)).await?;
    let mut web = env.deploy(rollout("web").replicas(3)).await?;
    web.change(|r| r.image("app:v2").deadline(10)).await?;
    let blocked = web.until(60, "blocked", |r| condition(r, "Blocked").is_some()).await?;
    says("the reason", reason(&blocked), &["PodDisruptionBudget", "web", "maxUnavailable"])?;
    web.rests(30).await?;
    same("phase", phase(&web.stored().await?), IN_PROGRESS)?;
    env.patch(BUDGETS, "web", &json!({"spec": {"maxUnavailable": 1}})).await?;
    let done = web.done().await?;
    ensure(condition(&done, "Blocked").is_none(), || format!("done and blocked: {done}"))
}

/// "Two PDBs on a Pod ⇒ blocked, both named." (bug report: two PDBs on one pod)
pub(crate) async fn two_budgets_block_and_are_both_named(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").named("red").max_unavailable(1)).await?;
    env.create(BUDGETS, &budget("web").named("blue").max_unavailable(1)).await?;
    let mut web = env.deploy(rollout("web").replicas(3)).await?;
    let diary = web.diary().await?;
    web.change(|r| r.image("app:v2")).await?;
    let blocked = web.until(60, "blocked", |r| condition(r, "Blocked").is_some()).await?;
    says("the reason", reason(&blocked), &["red", "blue"])?;
    tokio::time::sleep(Duration::from_secs(15)).await;
    same("Pods that went", diary.read().await?.went(), Vec::<String>::new())?;
    env.delete(BUDGETS, "blue").await?;
    // Kubernetes counts a Pod that has become ready for one of its budgets alone: the other may be behind
    // until something about it changes.
    let touched = json!({"metadata": {"annotations": {"touched": "true"}}});
    env.patch(BUDGETS, "red", &touched).await?;
    web.done().await?;
    Ok(())
}

/// "A PDB shared with another rollout needs nothing more: the Eviction API is the arbiter." (bug
/// report: concurrent evictions fight over one PDB)
pub(crate) async fn two_rollouts_under_one_budget_do_not_overrun_it(env: Env) -> Outcome {
    let shared = budget("both").selecting("tier", "shared").min_available(6);
    env.create(BUDGETS, &shared).await?;
    let mut one = env.begin(rollout("one").replicas(4).label("tier", "shared")).await?;
    let mut two = env.begin(rollout("two").replicas(4).label("tier", "shared")).await?;
    one.done().await?;
    two.done().await?;
    let diary = Diary::begin(&env, "tier=shared").await?;
    one.change(|r| r.image("app:v2")).await?;
    two.change(|r| r.image("app:v2")).await?;
    one.done().await?;
    two.done().await?;
    let fewest = diary.read().await?.fewest_healthy();
    ensure(fewest >= 6, || format!("the shared budget wants 6 healthy Pods, there were {fewest}"))
}

/// "The clock stands still … while a budget blocks for reasons that are not this rollout's (that has
/// its own reason)."
pub(crate) async fn a_budget_used_up_by_others_blocks_and_stops_the_deadline(env: Env) -> Outcome {
    let shared = budget("both").selecting("tier", "shared").min_available(5);
    env.create(BUDGETS, &shared).await?;
    let mut web = env.begin(rollout("web").replicas(4).label("tier", "shared")).await?;
    let mut other = set("other");
    other["spec"]["replicas"] = json!(2);
    other["spec"]["template"]["metadata"]["labels"]["tier"] = json!("shared");
    env.create(SETS, &other).await?;
    web.done().await?;
    env.until(SETS, "other", env.limit(90), "ready", |s| s["status"]["readyReplicas"] == 2).await?;
    env.make_ready("other-0", false).await?;
    let full = |b: &serde_json::Value| b["status"]["disruptionsAllowed"] == 0;
    env.until(BUDGETS, "both", env.limit(30), "used up", full).await?;
    web.change(|r| r.image("app:v2").deadline(10)).await?;
    let blocked = web.until(60, "blocked", |r| condition(r, "Blocked").is_some()).await?;
    says("the reason", reason(&blocked), &["both", "5 needed"])?;
    web.rests(30).await?;
    same("phase", phase(&web.stored().await?), IN_PROGRESS)?;
    env.make_ready("other-0", true).await?;
    web.done().await?;
    Ok(())
}

/// A blocked rollout waits: no request after request, no status that changes without news. (bug
/// report: 429 without a useful Retry-After)
pub(crate) async fn a_blocked_rollout_is_still(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(0)).await?;
    let mut web = env.deploy(rollout("web").replicas(3)).await?;
    web.change(|r| r.image("app:v2")).await?;
    web.until(60, "blocked", |r| condition(r, "Blocked").is_some()).await?;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let before = web.stored().await?;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let after = web.stored().await?;
    let version = |r: &serde_json::Value| r["metadata"]["resourceVersion"].clone();
    same("resourceVersion after a minute", version(&after), version(&before))
}

/// "`minPodEvictionIntervalSeconds` > 0 spaces out Pod by Pod."
pub(crate) async fn the_interval_spaces_out_pod_by_pod(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable("100%")).await?;
    let mut web = env.deploy(rollout("web").replicas(3).interval(20)).await?;
    let diary = web.diary().await?;
    web.change(|r| r.image("app:v2")).await?;
    web.done().await?;
    let departures = diary.read().await?.departures();
    same("Pods that went", departures.len(), 3)?;
    for pair in departures.windows(2) {
        let apart = pair[1].seconds_after(&pair[0])?;
        // The status has its times to the second.
        ensure(apart >= 19, || format!("only {apart} s apart: {pair:?}"))?;
    }
    Ok(())
}

/// "Every disruption of a healthy Pod by Sluice itself goes through the Eviction API."
pub(crate) async fn healthy_pods_go_through_the_eviction_api(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(2)).await?;
    let mut web = env.deploy(rollout("web").replicas(4)).await?;
    let diary = web.diary().await?;
    web.change(|r| r.image("app:v2")).await?;
    web.done().await?;
    let departures = diary.read().await?.departures();
    same("Pods that went", departures.len(), 4)?;
    ensure(departures.iter().all(|d| d.evicted), || format!("not all evicted: {departures:?}"))
}

/// "`podManagementPolicy: OrderedReady` recreates one at a time: clamp to 1 and say so." (bug report:
/// OrderedReady, serial recovery or deadlock)
pub(crate) async fn ordered_ready_moves_one_at_a_time_and_says_so(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable("100%")).await?;
    let mut web = env.deploy(rollout("web").replicas(4).ordered()).await?;
    let diary = web.diary().await?;
    web.change(|r| r.image("app:v2").pods_take("startup", "5s")).await?;
    web.until(60, "the reason says so", |r| reason(r).contains("OrderedReady")).await?;
    web.done().await?;
    same("fewest healthy Pods", diary.read().await?.fewest_healthy(), 3)
}

/// "A Pod counts … when it is Ready for the set's `minReadySeconds`", also for the next to go. (bug
/// reports: Parallel ignored minReadySeconds; PDB knows nothing of minReadySeconds)
pub(crate) async fn the_next_pod_waits_for_min_ready_seconds_of_the_one_before(
    env: Env,
) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(1)).await?;
    let mut web = env.deploy(rollout("web").replicas(3).min_ready(15)).await?;
    let diary = web.diary().await?;
    web.change(|r| r.image("app:v2")).await?;
    web.done().await?;
    let pages = diary.read().await?;
    let departures = pages.departures();
    same("Pods that went", departures.len(), 3)?;
    let lives = pages.lives();
    for pair in departures.windows(2) {
        let next =
            lives.iter().find(|pod| pod.name == pair[0].pod.name && pod.uid != pair[0].pod.uid);
        let ready = next.and_then(|pod| pages.ready_since(&pod.uid));
        let waited = ready.zip(pair[1].since).map(|(ready, went)| went - ready);
        // Both times are to the second.
        let enough = waited.is_some_and(|waited| waited >= 14);
        let name = &pair[1].pod.name;
        ensure(enough, || format!("{name} went {waited:?} s after the one before was ready"))?;
    }
    Ok(())
}

/// An application that is ready at once and dies later stops the rollout at its first Pods, whatever
/// the budget thinks of them. (bug report: PDB knows nothing of minReadySeconds)
pub(crate) async fn pods_that_die_while_they_soak_stop_the_rollout(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(1)).await?;
    let mut web = env.deploy(rollout("web").replicas(4).min_ready(30).deadline(60)).await?;
    web.change(|r| r.image("app:v2").pods_take("crash-after", "20s")).await?;
    web.failed().await?;
    same("Pods at the new version", web.running("app:v2").await?, vec!["web-3"])
}

/// "`Report`: name the budget and its `unhealthyPodEvictionPolicy`." (bug report: PDB protects
/// crash-looping pods from eviction)
pub(crate) async fn unhealthy_pods_behind_a_budget_are_reported_with_the_remedy(
    env: Env,
) -> Outcome {
    env.create(BUDGETS, &budget("web").min_available(2)).await?;
    let mut web = env.deploy(rollout("web").replicas(3)).await?;
    for name in ["web-0", "web-1", "web-2"] {
        env.make_ready(name, false).await?;
    }
    let none = |b: &serde_json::Value| b["status"]["currentHealthy"] == 0;
    env.until(BUDGETS, "web", env.limit(30), "none healthy", none).await?;
    web.change(|r| r.image("app:v2")).await?;
    let blocked = web.until(60, "blocked", |r| condition(r, "Blocked").is_some()).await?;
    says("the reason", reason(&blocked), &["web", "unhealthyPodEvictionPolicy"])?;
    web.rests(20).await?;
    let policy = json!({"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}});
    env.patch(BUDGETS, "web", &policy).await?;
    web.done().await?;
    Ok(())
}

/// "… or [`Replace`] delete it with a UID precondition."
pub(crate) async fn unhealthy_pods_behind_a_budget_are_replaced_when_asked(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").min_available(2)).await?;
    let replace = rollout("web").replicas(3).with("spec/unhealthyPods", "Replace");
    let mut web = env.deploy(replace).await?;
    for name in ["web-0", "web-1", "web-2"] {
        env.make_ready(name, false).await?;
    }
    let none = |b: &serde_json::Value| b["status"]["currentHealthy"] == 0;
    env.until(BUDGETS, "web", env.limit(30), "none healthy", none).await?;
    web.change(|r| r.image("app:v2")).await?;
    web.done().await?;
    same("Pods at the new version", web.running("app:v2").await?.len(), 3)
}

/// A rollout goes on as soon as Pods are ready, not at some resync. (bug report: moves only at the
/// periodic resync)
pub(crate) async fn a_rollout_goes_on_without_waiting_for_a_resync(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(4)).await?;
    web.change(|r| r.image("app:v2")).await?;
    let limit = env.limit(60);
    let all = |r: &serde_json::Value| phase(r) == DONE && r["status"]["updatedReplicas"] == 4;
    env.until(ROLLOUTS, "web", limit, "four Pods, one after another, in a minute", all).await?;
    Ok(())
}
