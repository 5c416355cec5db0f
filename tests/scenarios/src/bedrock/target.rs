//! How many Pods move: the target of a percentage.

use crate::env::{Env, Outcome, ensure, same, says};
use crate::kit::{DONE, budget, condition, count, reason, rollout};

/// "`percent: 50` of 4 moves exactly 2."
pub(crate) async fn percent_50_of_4_moves_exactly_2(env: Env) -> Outcome {
    env.create(crate::env::BUDGETS, &budget("web").max_unavailable("50%")).await?;
    let mut web = env.deploy(rollout("web").replicas(4)).await?;
    let before = web.pods().await?;
    web.change(|r| r.percent(50).image("app:v2")).await?;
    let done = web.done().await?;
    same("targetReplicas", &done["status"]["targetReplicas"], 2)?;
    web.only_moved(&before, &["web-2", "web-3"]).await?;
    web.rests(20).await?;
    same("Pods at the new version", web.running("app:v2").await?, vec!["web-2", "web-3"])
}

/// "Target = ceil(percent × replicas / 100), for 0 < percent < 100 held to 1 … replicas − 1." (bug
/// report: percent rounding surprises)
pub(crate) async fn a_percentage_rounds_up_and_leaves_at_least_one_pod(env: Env) -> Outcome {
    let table = [(1, 50, 1), (2, 1, 1), (2, 99, 1), (3, 33, 1), (3, 34, 2), (3, 99, 2)];
    let table = table.into_iter().chain([(10, 1, 1), (10, 25, 3), (10, 99, 9)]);
    let mut webs = Vec::new();
    for (replicas, percent, target) in table {
        let name = format!("r{replicas}p{percent}");
        env.create(crate::env::BUDGETS, &budget(&name).max_unavailable("100%")).await?;
        webs.push((env.begin(rollout(&name).replicas(replicas)).await?, percent, target));
    }
    for (web, percent, _) in &mut webs {
        web.done().await?;
        let percent = *percent;
        web.change(|r| r.percent(percent).image("app:v2")).await?;
    }
    for (web, percent, target) in &webs {
        let done = web.done().await?;
        let claim = format!("{percent} percent of {}", web.name);
        same(&claim, &done["status"]["targetReplicas"], *target)?;
        same(&claim, web.running("app:v2").await?.len(), *target)?;
    }
    Ok(())
}

/// "The template is applied as soon as it is known, at percent 0 … too."
pub(crate) async fn percent_0_applies_the_template_and_moves_no_pod(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(3)).await?;
    let before = web.pods().await?;
    web.change(|r| r.percent(0).image("app:v2")).await?;
    web.done().await?;
    let set = web.set().await?;
    let image = &set["spec"]["template"]["spec"]["containers"][0]["image"];
    same("the image of the StatefulSet", image, "app:v2")?;
    web.rests(20).await?;
    web.only_moved(&before, &[]).await
}

/// "`RolloutDone`" at 100 percent: no Pod runs anything else.
pub(crate) async fn at_100_percent_no_pod_runs_another_revision(env: Env) -> Outcome {
    env.create(crate::env::BUDGETS, &budget("web").max_unavailable(2)).await?;
    let mut web = env.deploy(rollout("web").replicas(5)).await?;
    web.change(|r| r.image("app:v2")).await?;
    let done = web.done().await?;
    same("Pods at the new version", web.running("app:v2").await?.len(), 5)?;
    same("updatedReplicas", &done["status"]["updatedReplicas"], 5)?;
    same("leakedReplicas", count(&done, "leakedReplicas"), 0)
}

/// "A change of `percent` … begins a new rollout", which moves the difference alone.
pub(crate) async fn raising_the_percentage_moves_the_difference_alone(env: Env) -> Outcome {
    env.create(crate::env::BUDGETS, &budget("web").max_unavailable(2)).await?;
    let mut web = env.deploy(rollout("web").replicas(4)).await?;
    web.change(|r| r.percent(1).image("app:v2")).await?;
    web.done().await?;
    let one = web.pods().await?;
    web.change(|r| r.percent(50)).await?;
    web.done().await?;
    web.only_moved(&one, &["web-2"]).await?;
    let two = web.pods().await?;
    web.change(|r| r.percent(100)).await?;
    web.done().await?;
    web.only_moved(&two, &["web-0", "web-1"]).await
}

/// "Lowering `percent` below what has moved moves nothing back; it is reported."
pub(crate) async fn lowering_the_percentage_moves_nothing_back_and_says_so(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(4)).await?;
    web.change(|r| r.percent(75).image("app:v2")).await?;
    web.done().await?;
    let before = web.pods().await?;
    web.change(|r| r.percent(25)).await?;
    let done = web.done().await?;
    web.rests(15).await?;
    web.only_moved(&before, &[]).await?;
    says("the reason", reason(&done), &["3 of 4", "nothing is moved back"])
}

/// "A template that arrives in mid-rollout supersedes the one before (every revision but the newest
/// is old)." (bug report: orphan or extra old ReplicaSets)
pub(crate) async fn a_later_template_supersedes_the_one_before(env: Env) -> Outcome {
    env.create(crate::env::BUDGETS, &budget("web").max_unavailable(1)).await?;
    let mut web = env.deploy(rollout("web").replicas(5)).await?;
    web.change(|r| r.percent(20).image("app:v2")).await?;
    web.done().await?;
    web.change(|r| r.percent(60).image("app:v3")).await?;
    web.until_running("app:v3", 1).await?;
    web.change(|r| r.percent(100).image("app:v4")).await?;
    web.done().await?;
    same("Pods at the newest version", web.running("app:v4").await?.len(), 5)
}

/// "At most ceil(p% × replicas)": at no moment are more Pods than the target at the new revision.
pub(crate) async fn the_target_is_never_passed_on_the_way(env: Env) -> Outcome {
    env.create(crate::env::BUDGETS, &budget("web").max_unavailable("100%")).await?;
    let mut web = env.deploy(rollout("web").replicas(8)).await?;
    let diary = web.diary().await?;
    web.change(|r| r.percent(40).image("app:v2")).await?;
    web.done().await?;
    web.rests(10).await?;
    let lives = diary.read().await?.lives();
    let moved = lives.iter().filter(|pod| pod.image == "app:v2").count();
    same("Pods that ever ran the new version", moved, 4)
}

/// Creating the StatefulSet is the first action: all Pods come up at the new revision, whatever the
/// percentage; done when all are ready.
pub(crate) async fn a_new_set_comes_up_whole_at_any_percentage(env: Env) -> Outcome {
    let web = env.begin(rollout("web").replicas(3).percent(25)).await?;
    let done = web.until(120, "done", |r| r["status"]["phase"] == DONE).await?;
    let pods = web.pods().await?;
    ensure(pods.len() == 3 && pods.iter().all(|pod| pod.healthy()), || format!("{pods:?}"))?;
    same("readyReplicas", &done["status"]["readyReplicas"], 3)?;
    ensure(condition(&done, "Leaked").is_none(), || format!("a new set leaks: {done}"))
}

/// A template that is taken back before it moved a Pod moves none.
pub(crate) async fn a_template_taken_back_before_it_moved_a_pod_moves_none(env: Env) -> Outcome {
    let mut web = env.deploy(rollout("web").replicas(3)).await?;
    let before = web.pods().await?;
    web.change(|r| r.percent(0).image("app:v2")).await?;
    web.done().await?;
    web.change(|r| r.percent(100).image("app:v1")).await?;
    web.done().await?;
    web.rests(15).await?;
    web.only_moved(&before, &[]).await
}
