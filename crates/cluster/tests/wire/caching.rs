//! What the caches show, and whom a change wakes.

use std::time::Duration;

use cluster::observe::statefulset_rollout::observe;
use cluster::{Caches, Front, Key, Subject, Why};
use engine::world::{
    Claim, Discovery, Outcome, PodManagement, PodPhase, Settings, Strategy, Trouble, Uid,
};
use serde_json::{Value, json};

use super::far::{Reply, far};
use super::played::{Played, budget, nothing, pod, rollout, set, usual};

fn aged(name: &str, created: &str) -> Value {
    let mut object = rollout(name, 41);
    object["metadata"]["creationTimestamp"] = json!(created);
    object
}

#[tokio::test(start_paused = true)]
async fn a_world_is_read_from_the_caches_alone() {
    let played = Played::start(usual(), nothing).await;
    let seen = played.look("web").unwrap();
    assert_eq!(seen.resource_version, "40");
    assert_eq!(seen.workload_version, "50");
    let world = seen.world;
    assert_eq!((world.rollout.name.as_str(), world.rollout.percent.get()), ("web", 50));
    assert_eq!(world.discovery, Discovery::NotAsked);
    assert_eq!(world.rival, None);
    let workload = world.workload.unwrap();
    assert_eq!(workload.claim, Claim::Ours);
    assert!(workload.matches);
    assert_eq!((workload.replicas, workload.generation), (4, 3));
    assert_eq!(workload.strategy, Strategy::OnDelete);
    assert_eq!(workload.management, PodManagement::OrderedReady);
    assert_eq!(
        (workload.update_revision.as_str(), workload.current_revision.as_str()),
        ("web-2", "web-1")
    );
    let names: Vec<&str> = world.pods.iter().map(|pod| pod.name.as_str()).collect();
    assert_eq!(names, ["web-0", "web-1", "web-2", "web-3"]);
    let last = &world.pods[3];
    assert_eq!((last.ordinal, last.revision.as_str(), last.version.as_str()), (3, "web-1", "v1"));
    assert_eq!(last.ready_since, Some("2026-01-01T00:00:05Z".parse().unwrap()));
    assert_eq!(world.budgets.len(), 1);
    assert_eq!(world.budgets[0].limit, "maxUnavailable: 30%");
    assert!(world.budgets[0].observed);
    assert_eq!(world.budgets[0].allowed, 2);
}

#[tokio::test(start_paused = true)]
async fn every_rollout_is_woken_once_when_all_kinds_have_been_listed() {
    let played = Played::start(usual(), nothing).await;
    assert!(played.caches.ready());
    assert_eq!(played.woken(), [("web".to_owned(), Why::Changed)]);
}

#[tokio::test(start_paused = true)]
async fn until_then_nothing_is_seen_and_what_stands_in_the_way_is_named() {
    let (client, _) = far(|asked| {
        if asked.line.contains("/pods") {
            return Reply::failure(403, "pods is forbidden");
        }
        if asked.line.contains("watch=true") {
            return Reply::Silence;
        }
        let items = if asked.line.contains("statefulsetrollouts") {
            json!([rollout("web", 40)])
        } else {
            json!([])
        };
        Reply::ok(json!({"metadata": {"resourceVersion": "9"}, "items": items}))
    });
    let caches = Caches::new(Box::new(|subject: &Subject, _| panic!("woke {subject}")));
    for (_, watch) in caches.watches(&client, None, 1) {
        tokio::spawn(watch);
    }
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(!caches.ready());
    assert_eq!(caches.waiting_for(), ["pods (pods is forbidden)"]);
    let key = Key::new("exch", "web");
    assert!(observe(&caches, &key, &Settings::default(), Outcome::default()).is_none());
}

#[tokio::test(start_paused = true)]
async fn each_change_wakes_the_rollouts_that_it_concerns_and_no_other() {
    let mut objects = usual();
    let mut other = rollout("other", 42);
    other["spec"]["statefulset"]["metadata"]["name"] = json!("other");
    other["spec"]["statefulset"]["spec"]["template"]["metadata"]["labels"]["app"] = json!("other");
    objects.push(("statefulsetrollouts", other));
    let played = Played::start(objects, nothing).await;
    played.woken();
    let event = || vec![("web".to_owned(), Why::Event)];

    let mut unready = pod(1, 101);
    unready["status"]["conditions"][0]["status"] = json!("False");
    played.push("pods", "MODIFIED", unready.clone()).await;
    assert_eq!(played.woken(), event());

    let mut touched = unready.clone();
    touched["metadata"]["resourceVersion"] = json!("102");
    played.push("pods", "MODIFIED", touched).await;
    assert_eq!(played.woken(), [], "nothing that matters has changed");

    played.push("pods", "DELETED", unready).await;
    assert_eq!(played.woken(), event());

    let mut scaled = set("web");
    scaled["metadata"]["resourceVersion"] = json!("103");
    played.push("statefulsets", "MODIFIED", scaled).await;
    assert_eq!(played.woken(), event());

    let mut full = budget("web");
    full["status"]["disruptionsAllowed"] = json!(0);
    played.push("poddisruptionbudgets", "MODIFIED", full).await;
    assert_eq!(played.woken(), event());

    played.push("poddisruptionbudgets", "ADDED", budget("elsewhere")).await;
    assert_eq!(played.woken(), []);

    let mut paused = rollout("web", 104);
    played.push("statefulsetrollouts", "MODIFIED", paused.clone()).await;
    assert_eq!(played.woken(), event(), "its status was written");
    paused["metadata"]["generation"] = json!(2);
    paused["metadata"]["resourceVersion"] = json!("105");
    played.push("statefulsetrollouts", "MODIFIED", paused).await;
    assert_eq!(played.woken(), [("web".to_owned(), Why::Changed)]);
}

#[tokio::test(start_paused = true)]
async fn a_rollout_that_goes_wakes_those_that_wait_for_its_statefulset() {
    let mut objects = usual();
    objects.push(("statefulsetrollouts", aged("younger", "2026-01-02T00:00:00Z")));
    let played = Played::start(objects, nothing).await;
    played.woken();
    played.push("statefulsetrollouts", "DELETED", rollout("web", 101)).await;
    let woken = played.woken();
    assert!(woken.contains(&("younger".to_owned(), Why::Event)), "{woken:?}");
    let world = played.look("younger").unwrap().world;
    assert_eq!(world.workload.unwrap().claim, Claim::Free, "its owner is no more");
    assert_eq!(world.rival, None);
}

#[tokio::test(start_paused = true)]
async fn a_statefulset_has_one_owner_the_one_that_claims_it_or_else_the_oldest() {
    let mut objects = usual();
    objects.push(("statefulsetrollouts", aged("older", "2025-12-31T00:00:00Z")));
    objects.push(("statefulsetrollouts", aged("younger", "2026-01-02T00:00:00Z")));
    let played = Played::start(objects, nothing).await;
    let other = Claim::Other { owner: "StatefulsetRollout/web".into() };
    let world = |name: &str| played.look(name).unwrap().world;
    assert_eq!(world("web").workload.unwrap().claim, Claim::Ours);
    assert_eq!(world("older").workload.unwrap().claim, other);
    assert_eq!(world("older").rival, None);
    assert_eq!(world("younger").rival.as_deref(), Some("StatefulsetRollout/older"));

    played.push("statefulsets", "DELETED", set("web")).await;
    assert_eq!(world("web").rival.as_deref(), Some("StatefulsetRollout/older"));
    assert_eq!(world("older").other_owner(), None);
}

#[tokio::test(start_paused = true)]
async fn a_statefulset_in_a_release_in_batches_is_not_taken_over_before_its_end() {
    let mut held = set("web");
    held["metadata"]["annotations"] = json!({"batchrelease.rollouts.kruise.io/control-info": "{}"});
    let mut objects = usual();
    objects.retain(|(kind, _)| *kind != "statefulsets");
    objects.push(("statefulsets", held.clone()));
    let by = |kind: &str, mut spec: Value| {
        spec["workloadRef"] =
            json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web"});
        json!({
            "apiVersion": "rollouts.kruise.io/v1beta1", "kind": kind, "spec": spec,
            "metadata": {
                "namespace": "exch", "name": "steps", "uid": format!("uid-of-{kind}"),
                "generation": 1, "resourceVersion": "60",
                "creationTimestamp": "2026-01-02T00:00:00Z",
            },
        })
    };
    let strategy = json!({"strategy": {"canary": {"steps": [{"replicas": "100%"}]}}});
    let plan = json!({"releasePlan": {"batches": [{"canaryReplicas": "100%"}]}});
    let played = Played::start(objects, nothing).await;
    let claim = || played.look("web").unwrap().world.workload.unwrap().claim;
    assert_eq!(claim(), Claim::Free, "a mark that nobody stands for");

    let release = by("BatchRelease", plan);
    played.push("batchreleases", "ADDED", release.clone()).await;
    assert_eq!(claim(), Claim::Other { owner: "BatchRelease/steps".into() });
    played.push("rollouts", "ADDED", by("Rollout", strategy)).await;
    assert_eq!(claim(), Claim::Other { owner: "Rollout/steps".into() });

    held["metadata"]["annotations"] = json!({});
    held["metadata"]["resourceVersion"] = json!("103");
    played.push("statefulsets", "MODIFIED", held).await;
    assert_eq!(claim(), Claim::Free, "the release has ended");
}

#[tokio::test(start_paused = true)]
async fn a_rollout_created_again_is_let_in_though_the_end_of_the_one_before_is_not_told_yet() {
    let mut objects = usual();
    objects.push(("statefulsetrollouts", aged("older", "2025-12-31T00:00:00Z")));
    let played = Played::start(objects, nothing).await;
    let claim = |name: &str| {
        let mut again = aged(name, "2026-01-03T00:00:00Z");
        again["metadata"]["uid"] = json!("another");
        let settings = Settings::default();
        let seen =
            cluster::observe::statefulset_rollout::candidate(&played.caches, &again, &settings)
                .unwrap();
        seen.world.workload.unwrap().claim
    };
    assert_eq!(claim("web"), Claim::Free);
    assert_eq!(claim("older"), Claim::Other { owner: "StatefulsetRollout/web".into() });
}

#[tokio::test(start_paused = true)]
async fn pods_of_another_owner_under_the_same_name_are_not_counted() {
    let mut objects = usual();
    let mut foreign = pod(7, 70);
    foreign["metadata"]["ownerReferences"][0]["uid"] = json!("uid-of-the-set-before");
    objects.push(("pods", foreign));
    let mut orphan = pod(8, 71);
    orphan["metadata"]["ownerReferences"] = json!([]);
    objects.push(("pods", orphan));
    let played = Played::start(objects, nothing).await;
    assert_eq!(played.look("web").unwrap().world.pods.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn what_keeps_a_pod_down_is_named() {
    async fn check(status: Value, phase: PodPhase, expect: Option<(&str, &str)>) {
        let mut object = pod(0, 70);
        object["status"] = status;
        let mut objects = usual();
        objects.retain(|(plural, _)| *plural != "pods");
        objects.push(("pods", object));
        let played = Played::start(objects, nothing).await;
        let pod = played.look("web").unwrap().world.pods.remove(0);
        let trouble = expect
            .map(|(reason, message)| Trouble { reason: reason.into(), message: message.into() });
        assert_eq!((pod.phase, pod.trouble), (phase, trouble));
    }
    let waiting = |reason: &str, message: &str| json!([{"name": "c", "state": {"waiting": {"reason": reason, "message": message}}}]);
    let (pending, running) = (PodPhase::Pending, PodPhase::Running);
    check(json!({}), pending, None).await;
    let status = json!({"containerStatuses": waiting("ContainerCreating", "")});
    check(status, pending, None).await;
    let status = json!({"containerStatuses": waiting("ImagePullBackOff", "no such tag")});
    check(status, pending, Some(("ImagePullBackOff", "no such tag"))).await;
    let status =
        json!({"phase": "Running", "initContainerStatuses": waiting("CrashLoopBackOff", "5m")});
    check(status, running, Some(("CrashLoopBackOff", "5m"))).await;
    let status = json!({"phase": "Pending", "conditions": [{
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3",
    }]});
    check(status, pending, Some(("Unschedulable", "0/3"))).await;
    let status = json!({"phase": "Failed", "reason": "Evicted", "message": "disk"});
    check(status, PodPhase::Finished, Some(("Evicted", "disk"))).await;
    let status = json!({"phase": "Running", "containerStatuses": [{
        "name": "c", "ready": false, "restartCount": 3, "state": {"running": {}},
        "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}},
    }]});
    let words = "container c ended with exit code 1 and was restarted 3 times";
    check(status, running, Some(("Error", words))).await;
}

#[tokio::test(start_paused = true)]
async fn a_budget_counts_when_its_selector_matches_the_template_in_every_form() {
    async fn check(selector: Value, counts: bool) {
        let mut one = budget("web");
        one["spec"]["selector"] = selector.clone();
        let mut objects = usual();
        objects.retain(|(plural, _)| *plural != "poddisruptionbudgets");
        objects.push(("poddisruptionbudgets", one));
        let played = Played::start(objects, nothing).await;
        let found = played.look("web").unwrap().world.budgets.len();
        assert_eq!(found == 1, counts, "{selector}");
    }
    let expression = |operator: &str, values: Value| json!({"matchExpressions": [{"key": "app", "operator": operator, "values": values}]});
    check(json!(null), false).await;
    check(json!({}), true).await;
    check(json!({"matchLabels": {"app": "web", "tier": "a"}}), false).await;
    check(expression("In", json!(["web", "x"])), true).await;
    check(expression("NotIn", json!(["web"])), false).await;
    check(expression("Exists", json!(null)), true).await;
    check(expression("DoesNotExist", json!([])), false).await;
    let absent = json!({"matchExpressions": [{"key": "no", "operator": "NotIn", "values": ["x"]}]});
    check(absent, true).await;
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_its_controller_has_not_seen_is_not_trusted() {
    let mut objects = usual();
    let mut fresh = budget("web");
    fresh["metadata"]["name"] = json!("fresh");
    fresh["metadata"]["generation"] = json!(2);
    fresh["status"]["conditions"] = json!([{
        "type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed", "message": "no scale",
    }]);
    objects.push(("poddisruptionbudgets", fresh));
    let played = Played::start(objects, nothing).await;
    let budgets = played.look("web").unwrap().world.budgets;
    assert_eq!((budgets[0].name.as_str(), budgets[0].observed), ("fresh", false));
    assert_eq!(budgets[0].sync_failed.as_deref(), Some("no scale"));
    assert_eq!(budgets[1].sync_failed, None);
}

#[tokio::test(start_paused = true)]
async fn what_keeps_a_deleted_pod_is_read() {
    let mut going = pod(1, 101);
    going["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:01:00Z");
    going["metadata"]["finalizers"] = json!(["example.com/drain"]);
    let played = Played::start(usual(), nothing).await;
    played.push("pods", "MODIFIED", going).await;
    let pods = played.look("web").unwrap().world.pods;
    assert_eq!(pods.iter().find(|pod| pod.ordinal == 1).unwrap().finalizers, ["example.com/drain"]);
}

#[tokio::test(start_paused = true)]
async fn an_accepted_pod_is_remembered_until_it_is_seen_going() {
    let played = Played::start(usual(), nothing).await;
    let accepted = || Outcome {
        accepted: ["uid-of-1", "uid-of-2", "uid-of-gone"].map(Uid::from).into(),
        ..Outcome::default()
    };
    let mut going = pod(1, 101);
    going["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:01:00Z");
    played.push("pods", "MODIFIED", going).await;
    let key = Key::new("exch", "web");
    let seen = observe(&played.caches, &key, &Settings::default(), accepted()).unwrap();
    assert_eq!(seen.world.outcome.accepted, [Uid::from("uid-of-2")].into());
}

#[tokio::test(start_paused = true)]
async fn a_rollout_that_is_going_or_cannot_be_read_is_left_alone() {
    let mut going = rollout("web", 101);
    going["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:01:00Z");
    let played = Played::start(usual(), nothing).await;
    played.push("statefulsetrollouts", "MODIFIED", going).await;
    assert!(played.look("web").is_none());
    let mut odd = rollout("odd", 102);
    odd["spec"]["percent"] = json!("half");
    played.push("statefulsetrollouts", "ADDED", odd).await;
    assert!(played.look("odd").is_none());
    let mut odd_status = rollout("fine", 103);
    odd_status["status"] = json!({"phase": "RolloutOfAnotherRelease"});
    played.push("statefulsetrollouts", "ADDED", odd_status).await;
    assert_eq!(played.look("fine").unwrap().world.status.phase, None);
}

#[tokio::test(start_paused = true)]
async fn a_set_in_another_namespace_is_refused_in_words() {
    let mut elsewhere = rollout("elsewhere", 101);
    elsewhere["spec"]["statefulset"]["metadata"]["namespace"] = json!("other");
    let played = Played::start(usual(), nothing).await;
    played.push("statefulsetrollouts", "ADDED", elsewhere).await;
    let world = played.look("elsewhere").unwrap().world;
    let refused = world.outcome.apply_refused.unwrap();
    assert!(refused.invalid && refused.message.contains("namespace"), "{}", refused.message);
    assert_eq!(refused.hash, world.rollout.desired_hash);
}

#[tokio::test(start_paused = true)]
async fn a_pause_is_seen_before_the_next_single_disruption() {
    let played = Played::start(usual(), nothing).await;
    let web = Subject::new(Front::StatefulsetRollout, Key::new("exch", "web"));
    let uid = Uid::from("uid-of-web");
    assert!(played.caches.still_asks(&web, &uid, 1));
    let mut paused = rollout("web", 101);
    paused["metadata"]["generation"] = json!(2);
    paused["spec"]["pauseRequested"] = json!(true);
    played.push("statefulsetrollouts", "MODIFIED", paused).await;
    assert!(!played.caches.still_asks(&web, &uid, 1));
    assert!(played.caches.still_asks(&web, &uid, 2));
    assert!(!played.caches.still_asks(&web, &Uid::from("another"), 2));
}

#[tokio::test(start_paused = true)]
async fn who_asks_to_be_let_in_comes_last() {
    let played = Played::start(usual(), nothing).await;
    let settings = Settings::default();
    let candidate = |object: &Value| {
        cluster::observe::statefulset_rollout::candidate(&played.caches, object, &settings)
            .unwrap()
            .world
            .rival
    };
    let older = aged("older", "2025-12-31T00:00:00Z");
    assert_eq!(candidate(&older).as_deref(), Some("StatefulsetRollout/web"));
    assert_eq!(candidate(&rollout("web", 40)), None);
}
