//! What only Kruise's workloads can do, under a Rollout: change Pods in their place, surge, leave out ordinals,
//! hold back a share.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::env::{
    ADVANCED_SETS, BUDGETS, CLONESETS, Env, Failure, Kind, Outcome, PODS, RELEASES, ROLLOUTS, SETS,
    ensure, same, says,
};
use crate::kinds::{self, put_over};
use crate::kit::{
    DONE, Diary, Steps, Workload, budget, condition, phase, pods, reason, rollout, steps,
};

/// The usual number of Pods, that change in their place where that is enough, under these steps.
async fn in_place(env: &Env, kind: Kind, plan: &Value) -> Result<Steps, Failure> {
    let mut spec = kind.sized(5);
    if let Some(in_place) = kind.facts().in_place {
        put_over(&mut spec, &in_place());
    }
    Steps::of(Workload::deploy(env, kind, "web", spec).await?, plan).await
}

fn kinds_in_place() -> impl Iterator<Item = Kind> {
    kinds::that(|facts| facts.in_place.is_some())
}

/// Pods that get another image in their place are counted like others, bear the labels of their batch, and stay
/// who they are.
pub(crate) async fn pods_that_change_in_their_place_are_counted(env: Env) -> Outcome {
    for kind in kinds_in_place() {
        let mut web = in_place(&env, kind, &json!([1, "50%", "100%"])).await?;
        let before = web.web.read().await?;
        let uids = web.web.uids().await?;
        let all = uids.len();
        web.change("app:v2").await?;
        let mut last = 0;
        for (step, size) in [(1, 1), (2, all.div_ceil(2))] {
            let waiting = web.stands(step, "app:v2", size).await?;
            let canary = &waiting["status"]["canaryStatus"];
            same("canaryReplicas", &canary["canaryReplicas"], &json!(size))?;
            web.batch_has(usize::try_from(step).unwrap_or(0), size - last).await?;
            of_two_revisions(&web).await?;
            last = size;
            web.env
                .stays(Duration::from_secs(10), "a step that waits moves no Pod", || async {
                    Ok(web.web.running("app:v2").await? == (size, size))
                })
                .await?;
            web.approve().await?;
        }
        web.ends(true).await?;
        web.all_run("app:v2").await?;
        same("UIDs", web.web.uids().await?, uids)?;
        web.given_back(&before).await?;
        web.away().await?;
    }
    Ok(())
}

/// The label of the revision tells those that have moved.
async fn of_two_revisions(web: &Steps) -> Outcome {
    let pods = web.web.pods().await?;
    let of = |image: &str| -> BTreeSet<String> {
        let of_it = pods.iter().filter(|pod| pod.image == image);
        of_it.map(|pod| pod.revision.clone()).collect()
    };
    let (old, new) = (of("app:v1"), of("app:v2"));
    ensure(old.len() == 1 && new.len() == 1 && old != new, || format!("{old:?} and {new:?}"))
}

/// What went forth in its place comes back in its place.
pub(crate) async fn a_roll_back_in_its_place_makes_no_pod(env: Env) -> Outcome {
    for kind in kinds_in_place() {
        let mut web = in_place(&env, kind, &json!([2, "100%"])).await?;
        let before = web.web.read().await?;
        let uids = web.web.uids().await?;
        web.change("app:v2").await?;
        web.stands(1, "app:v2", 2).await?;
        web.change_again("app:v1").await?;
        web.ends(false).await?;
        web.all_run("app:v1").await?;
        same("UIDs", web.web.uids().await?, uids)?;
        web.given_back(&before).await?;
        web.away().await?;
    }
    Ok(())
}

/// With a surge, and none that may be unavailable, another Pod is ready before one goes.
pub(crate) async fn a_cloneset_with_a_surge_is_never_short_of_a_pod(env: Env) -> Outcome {
    let bounds = json!({"maxSurge": 2, "maxUnavailable": 0});
    let spec = json!({"replicas": 4, "updateStrategy": bounds});
    let web = Workload::deploy(&env, CLONESETS, "web", spec).await?;
    let mut web = Steps::of(web, &json!([1, "50%", "100%"])).await?;
    let before = web.web.read().await?;
    let diary = Diary::begin(&env, "app=web").await?;
    web.change("app:slow-v2").await?;
    for (step, pods) in [(1, 1), (2, 2)] {
        web.stands(step, "app:slow-v2", pods).await?;
        web.web.all_ready(4).await?;
        web.approve().await?;
    }
    web.ends(true).await?;
    web.all_run("app:slow-v2").await?;
    web.web.all_ready(4).await?;
    let fewest = diary.read().await?.fewest_healthy();
    same("the fewest Pods that were ready", fewest, 4)?;
    web.given_back(&before).await
}

/// A share in percent is held as one: an autoscaler may do what it likes, no Pod beyond it ever is new. Sizes are
/// those that a whole percentage splits as the plan does; of seven, 20 % are two, which is no percentage of 30.
pub(crate) async fn an_autoscaler_never_passes_the_share_of_a_cloneset(env: Env) -> Outcome {
    let mut web = steps(&env, CLONESETS, &json!(["20%", "60%", "100%"])).await?;
    web.change("app:v2").await?;
    web.stands(1, "app:v2", 1).await?;
    let held = web.web.read().await?["spec"]["updateStrategy"]["partition"].clone();
    same("what is held back", held, json!("80%"))?;
    for (replicas, share) in [(10, 2), (20, 4), (5, 1), (30, 6)] {
        let most = web.web.running("app:v2").await?.0.max(share);
        web.web.scale(replicas).await?;
        let mut patience = env.patience(env.limit(120));
        loop {
            let there = web.web.pods().await?;
            let new = there.iter().filter(|pod| pod.image == "app:v2").count();
            ensure(new <= most, || format!("{new} are new, 20 % of {replicas} are {share}"))?;
            let settled = there.len() == replicas && there.iter().all(|pod| pod.ready);
            if settled && new == share {
                break;
            }
            patience.rest(|| format!("{share} of {replicas} are new: {there:?}")).await?;
        }
    }
    web.approve().await?;
    web.waits(2).await?;
    web.finishes("app:v2").await
}

/// A CloneSet keeps a Pod that never came up, once its template is the old one again and a share is held back:
/// going back in batches clears it.
pub(crate) async fn a_broken_pod_of_a_cloneset_that_goes_back_is_cleared(env: Env) -> Outcome {
    for in_batches in [false, true] {
        let mut web = steps(&env, CLONESETS, &json!([1, "60%", "100%"])).await?;
        let before = web.web.read().await?;
        if in_batches {
            web.back_in_batches().await?;
        }
        web.change("app:broken").await?;
        let mut patience = env.patience(env.limit(120));
        while web.web.pods().await?.iter().all(|pod| pod.image != "app:broken") {
            patience.rest(|| "a Pod of the broken image is there".to_owned()).await?;
        }
        web.change_again("app:v1").await?;
        let over = |it: &Value| it["status"]["phase"] == "Healthy";
        let waits = |it: &Value| it["status"]["currentStepState"] == "StepPaused";
        let mut patience = env.patience(env.limit(300));
        loop {
            let rollout = web.read().await?;
            if over(&rollout) {
                break;
            }
            if waits(&rollout) {
                web.approve().await?;
            }
            patience.rest(|| format!("it goes back: {}", rollout["status"])).await?;
        }
        web.all_run("app:v1").await?;
        web.given_back(&before).await?;
        web.away().await?;
    }
    Ok(())
}

/// A set that takes its Pods in no order: how many is what counts.
pub(crate) async fn an_unordered_set_goes_step_by_step_and_back(env: Env) -> Outcome {
    for back in [false, true] {
        let rolling = json!({"unorderedUpdate": {}, "maxUnavailable": 2});
        let spec = json!({
            "replicas": 6,
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
        });
        let web = Workload::deploy(&env, ADVANCED_SETS, "web", spec).await?;
        let mut web = Steps::of(web, &json!([1, "50%", "100%"])).await?;
        let before = web.web.read().await?;
        web.change("app:v2").await?;
        web.stands(1, "app:v2", 1).await?;
        web.approve().await?;
        web.stands(2, "app:v2", 3).await?;
        if back {
            web.change_again("app:v1").await?;
            web.ends(false).await?;
            web.all_run("app:v1").await?;
        } else {
            web.finishes("app:v2").await?;
        }
        web.given_back(&before).await?;
        web.away().await?;
    }
    Ok(())
}

/// Ordinals that are left out are neither Pods nor a share of them.
pub(crate) async fn a_set_with_reserved_ordinals_goes_step_by_step(env: Env) -> Outcome {
    let spec = json!({"replicas": 5, "reserveOrdinals": [1, 3]});
    let web = Workload::deploy(&env, ADVANCED_SETS, "web", spec).await?;
    let mut web = Steps::of(web, &json!([1, "60%", "100%"])).await?;
    let before = web.web.read().await?;
    let ordinals = async |image: &str| -> Result<Vec<u32>, Failure> {
        let pods = pods(&env, "web").await?;
        Ok(pods.iter().filter(|pod| pod.image == image).map(|pod| pod.ordinal).collect())
    };
    web.change("app:v2").await?;
    web.stands(1, "app:v2", 1).await?;
    same("new ones", ordinals("app:v2").await?, vec![6])?;
    web.approve().await?;
    web.stands(2, "app:v2", 3).await?;
    same("new ones", ordinals("app:v2").await?, vec![4, 5, 6])?;
    web.finishes("app:v2").await?;
    same("all", ordinals("app:v2").await?, vec![0, 2, 4, 5, 6])?;
    web.given_back(&before).await
}

/// Where a Pod that is lost comes back new, whatever is held back: it is counted, told, and not turned back.
pub(crate) async fn a_lost_pod_that_comes_back_new_is_counted_and_told(env: Env) -> Outcome {
    for kind in kinds::that(|facts| !facts.lost_stay_stable) {
        let mut web = steps(&env, kind, &json!([1, "100%"])).await?;
        let all = web.web.pods().await?.len();
        web.change("app:v2").await?;
        web.stands(1, "app:v2", 1).await?;
        let old = web.web.pods().await?.into_iter().find(|pod| pod.image == "app:v1");
        let old = old.ok_or_else(|| Failure::Broken("no Pod is left".to_owned()))?;
        env.delete(PODS, &old.name).await?;
        let mut patience = env.patience(env.limit(60));
        while web.web.uids().await?.contains(&old.uid) {
            patience.rest(|| "the Pod is gone".to_owned()).await?;
        }
        web.web.all_ready(all).await?;
        let two = |it: &Value| it["status"]["canaryStatus"]["canaryReadyReplicas"] == 2;
        web.until("both are counted", two).await?;
        let surplus = |it: &Value| condition(it, "Surplus").is_some();
        env.until(RELEASES, "web", env.limit(60), "the surplus is said", surplus).await?;
        web.env
            .stays(Duration::from_secs(10), "two are new", || async {
                Ok(web.web.running("app:v2").await? == (2, 2))
            })
            .await?;
        web.finishes("app:v2").await?;
        web.away().await?;
    }
    Ok(())
}

/// A controller that asks no budget is let go in slices that a budget would let go.
pub(crate) async fn what_is_opened_is_opened_in_slices_inside_the_budget(env: Env) -> Outcome {
    for kind in kinds::that(|facts| facts.opens) {
        let mut spec = kind.sized(5);
        if let Some(unavailable) = kind.facts().unavailable {
            put_over(&mut spec, &unavailable(3));
        }
        let web = Workload::deploy(&env, kind, "web", spec).await?;
        let all = web.pods().await?.len();
        let mut web = Steps::of(web, &json!(["100%"])).await?;
        let least = u32::try_from(all - 1).unwrap_or(0);
        env.create(BUDGETS, &budget("web").min_available(least)).await?;
        let diary = Diary::begin(&env, "app=web").await?;
        web.change("app:v2").await?;
        web.ends(true).await?;
        web.all_run("app:v2").await?;
        let fewest = diary.read().await?.fewest_healthy();
        same(&format!("{kind:?}: the fewest that were ready"), fewest, all - 1)?;
        env.delete(BUDGETS, "web").await?;
        web.away().await?;
    }
    Ok(())
}

/// A budget that allows nothing holds a release, and its name is told; with some room it goes on.
pub(crate) async fn a_budget_that_is_used_up_is_told_by_its_name(env: Env) -> Outcome {
    for kind in kinds::that(|facts| facts.opens) {
        let mut web = steps(&env, kind, &json!([1, "100%"])).await?;
        let all = web.web.pods().await?.len();
        let least = u32::try_from(all).unwrap_or(0);
        env.create(BUDGETS, &budget("web").named("tight").min_available(least)).await?;
        web.change("app:v2").await?;
        let told = |it: &Value| {
            let mut conditions = it["status"]["conditions"].as_array().into_iter().flatten();
            conditions.any(|it| it["message"].as_str().unwrap_or_default().contains("tight"))
        };
        env.until(RELEASES, "web", env.limit(120), "the budget is named", told).await?;
        let blocked = |it: &Value| {
            condition(it, "Blocked").is_some_and(|it| {
                let message = it["message"].as_str().unwrap_or_default();
                it["reason"] == "BudgetNeverAllows" && message.contains("lower minAvailable")
            })
        };
        let seen = web.until("the Rollout names it, and the remedy", blocked).await?;
        let message = seen["status"]["message"].as_str().unwrap_or_default();
        ensure(message.contains("tight"), || format!("what kubectl get shows: {message}"))?;
        let mut patience = env.patience(env.limit(30));
        while !env.is_told("Rollout", "BudgetNeverAllows").await? {
            patience.rest(|| "an Event of the Rollout says so".to_owned()).await?;
        }
        web.env
            .stays(Duration::from_secs(10), "no Pod moves", || async {
                Ok(web.web.running("app:v2").await? == (0, 0))
            })
            .await?;
        env.patch(BUDGETS, "tight", &json!({"spec": {"minAvailable": least - 1}})).await?;
        web.stands(1, "app:v2", 1).await?;
        web.finishes("app:v2").await?;
        env.delete(BUDGETS, "tight").await?;
        web.away().await?;
    }
    Ok(())
}

/// A workload is the same one in whichever of its versions it is written, or named.
pub(crate) async fn a_workload_may_be_named_in_another_of_its_versions(env: Env) -> Outcome {
    for kind in kinds_in_place() {
        for (written, named) in [("v1alpha1", "v1beta1"), ("v1beta1", "v1alpha1")] {
            let object = |version: &str, mut object: Value| {
                object["apiVersion"] = json!(format!("apps.kruise.io/{version}"));
                object
            };
            let manifest = object(written, kind.manifest("web", 5));
            let path =
                format!("/apis/apps.kruise.io/{written}/namespaces/{}/{}", env.namespace, kind.1);
            env.send("POST", &path, "application/json", &manifest).await?;
            let web = Workload::found(&env, kind, "web").await?;
            let all = web.pods().await?.len();
            let mut web = Steps::named(web, &json!([1, "50%", "100%"]), &|reference| {
                object(named, reference)
            })
            .await?;
            web.change("app:v2").await?;
            for (step, pods) in [(1, 1), (2, all.div_ceil(2))] {
                web.stands(step, "app:v2", pods).await?;
                web.approve().await?;
            }
            web.ends(true).await?;
            web.all_run("app:v2").await?;
            web.web.runs("app:v2", all).await?;
            web.away().await?;
        }
    }
    Ok(())
}

/// Who pauses the workload itself in mid-release means it: nothing moves until he takes that back, in whichever
/// way.
pub(crate) async fn a_workload_that_is_paused_itself_stands_until_that_is_taken_back(
    env: Env,
) -> Outcome {
    for back in [json!(false), Value::Null] {
        for (kind, pause) in kinds::ALL.iter().filter_map(|it| Some((it.kind, it.pause?))) {
            let mut web = steps(&env, kind, &json!([1, "100%"])).await?;
            let before = web.web.read().await?;
            web.change("app:v2").await?;
            web.stands(1, "app:v2", 1).await?;
            web.web.change(&pause(&json!(true))).await?;
            web.approve().await?;
            let blocked = |it: &Value| {
                condition(it, "Blocked").is_some_and(|it| it["reason"] == "WorkloadPaused")
            };
            web.until("it says what it waits for", blocked).await?;
            web.env
                .stays(Duration::from_secs(20), "no Pod moves", || async {
                    Ok(web.web.running("app:v2").await? == (1, 1))
                })
                .await?;
            web.web.change(&pause(&back)).await?;
            web.ends(true).await?;
            web.all_run("app:v2").await?;
            web.given_back(&before).await?;
            web.away().await?;
        }
    }
    Ok(())
}

/// A StatefulSet of the name of an Advanced one could have no Pods, since these have their names: it is not made,
/// and it is said what is there.
pub(crate) async fn a_set_of_the_name_of_an_advanced_one_is_not_made_and_says_why(
    env: Env,
) -> Outcome {
    let web = Workload::deploy(&env, ADVANCED_SETS, "web", ADVANCED_SETS.sized(3)).await?;
    let before = web.uids().await?;
    let words = ["Advanced StatefulSet web", "delete", "create a Rollout"];
    if let Err(refused) = env.apply(ROLLOUTS, &rollout("web").0).await {
        // At the door already.
        says("the refusal", &refused.message, &words)?;
    } else {
        let named = |it: &Value| reason(it).contains("Advanced StatefulSet");
        let seen = env.until(ROLLOUTS, "web", env.limit(60), "it is named", named).await?;
        says("the reason", reason(&seen), &words)?;
    }
    ensure(env.get(SETS, "web").await.is_err(), || "a StatefulSet is there".to_owned())?;
    same("the Pods of the other", web.uids().await?, before)?;
    env.delete(ADVANCED_SETS, "web").await?;
    let mut patience = env.patience(env.limit(60));
    while let Err(refused) = env.apply(ROLLOUTS, &rollout("web").0).await {
        patience.rest(|| format!("it is let in: {refused:?}")).await?;
    }
    let done = |it: &Value| phase(it) == DONE;
    env.until(ROLLOUTS, "web", env.limit(120), "with the other gone it is made", done).await?;
    Ok(())
}
