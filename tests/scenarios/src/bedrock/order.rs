//! Which Pods move first.

use crate::env::{BUDGETS, Env, Outcome, ROLLOUTS, same, says};
use crate::kit::{budget, reason, rollout};

/// "… then highest ordinal first."
pub(crate) async fn the_highest_ordinal_goes_first(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(4)).await?;
    let diary = web.diary().await?;
    web.change(|r| r.image("app:v2")).await?;
    web.done().await?;
    same("order", diary.read().await?.went(), vec!["web-3", "web-2", "web-1", "web-0"])
}

/// "Pods at an old revision that are broken or not ready first." (bug report: bad stable blocks the
/// fix)
pub(crate) async fn an_old_pod_that_is_not_ready_goes_before_all_others(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(1)).await?;
    let mut web = env.deploy(rollout("web").replicas(4)).await?;
    let before = web.pods().await?;
    env.make_ready("web-1", false).await?;
    web.change(|r| r.percent(25).image("app:v2")).await?;
    web.done().await?;
    web.only_moved(&before, &["web-1"]).await
}

/// "`spec.ordinals.start` … [is] respected."
pub(crate) async fn ordinals_may_start_anywhere(env: Env) -> Outcome {
    let start = "spec/statefulset/spec/ordinals/start";
    let mut web = env.deploy(rollout("web").replicas(3).with(start, 5)).await?;
    let before = web.pods().await?;
    web.change(|r| r.percent(34).image("app:v2")).await?;
    web.done().await?;
    web.only_moved(&before, &["web-6", "web-7"]).await?;
    web.change(|r| r.percent(100)).await?;
    web.done().await?;
    same("new", web.running("app:v2").await?, vec!["web-5", "web-6", "web-7"])
}

/// "Gaps are respected": a Pod that is going anyway comes back updated and counts as moved.
pub(crate) async fn a_pod_that_is_going_anyway_counts_as_moved(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable("100%")).await?;
    let mut web = env.deploy(rollout("web").replicas(4)).await?;
    let before = web.pods().await?;
    env.hold("web-0").await?;
    env.delete(crate::env::PODS, "web-0").await?;
    web.change(|r| r.percent(50).image("app:v2")).await?;
    web.until_running("app:v2", 1).await?;
    let held = env.until(ROLLOUTS, "web", env.limit(60), "it waits for web-0", |r| {
        reason(r).contains("web-0")
    });
    says("the reason", reason(&held.await?), &["web-0", "terminating"])?;
    env.release("web-0").await?;
    web.done().await?;
    web.only_moved(&before, &["web-0", "web-3"]).await
}

/// No Pod is disturbed twice in one rollout. (bug report: delete must carry a UID precondition)
pub(crate) async fn no_pod_moves_twice(env: Env) -> Outcome {
    env.create(BUDGETS, &budget("web").max_unavailable(3)).await?;
    let mut web = env.deploy(rollout("web").replicas(9)).await?;
    let diary = web.diary().await?;
    web.change(|r| r.image("app:v2")).await?;
    web.done().await?;
    web.rests(10).await?;
    let mut went = diary.read().await?.went();
    went.sort();
    let each: Vec<String> = (0..9).map(|ordinal| format!("web-{ordinal}")).collect();
    same("Pods that went", went, each)
}
