//! Releases in batches: what is seen of each kind of workload, and what is written on it.

#![allow(clippy::needless_pass_by_value, reason = "objects read better where they are made")]

use std::collections::VecDeque;

use cluster::act::batch_release::act;
use cluster::observe::batch_release::{Observed, Terms, observe};
use cluster::{ActReport, Front, GoOn, Key, Subject, Unseen};
use engine::decision::Action as Motion;
use engine::front::batch_release::{
    Action, Body, Control, Held, Label, Machinery, Mark, Original, Rolling, Target,
};
use engine::mover::replica_sets::Write as Size;
use engine::nature::Nature;
use engine::quantity::IntOrPercent;
use engine::world::{Outcome, Settings, Strategy, Uid};
use serde_json::{Value, json};

use super::far::{Asked, Reply};
use super::played::{Played, nothing};

const KEPT: &str = r#"{"partition":0,"paused":false,"rollingStyle":"Partition","rollingUpdate":{"maxSurge":2,"maxUnavailable":0}}"#;

fn release(kind: &str) -> Value {
    json!({
        "apiVersion": "rollouts.kruise.io/v1beta1", "kind": "BatchRelease",
        "metadata": {
            "namespace": "exch", "name": "rel", "uid": "uid-of-rel", "generation": 1,
            "resourceVersion": "40", "finalizers": ["other/one"],
        },
        "spec": {
            "workloadRef": {"apiVersion": "apps/v1", "kind": kind, "name": "web"},
            "releasePlan": {
                "batches": [{"canaryReplicas": 1}, {"canaryReplicas": "100%"}],
                "batchPartition": 0, "rolloutID": "7",
            },
        },
    })
}

fn template(image: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": image}]},
    })
}

fn workload(version: u32, spec: Value, status: Value) -> Value {
    let mut object = json!({
        "metadata": {
            "namespace": "exch", "name": "web", "uid": "uid-of-web", "generation": 3,
            "resourceVersion": version.to_string(), "annotations": {"team": "a"}, "labels": {},
        },
        "spec": {
            "selector": {"matchLabels": {"app": "web"}}, "template": template("web:v2"),
        },
        "status": status,
    });
    object["status"]["observedGeneration"] = json!(3);
    for (key, value) in spec.as_object().into_iter().flatten() {
        object["spec"][key] = value.clone();
    }
    object
}

fn deployment() -> Value {
    let rolling = json!({"maxSurge": 2, "maxUnavailable": 0});
    let strategy = json!({"type": "RollingUpdate", "rollingUpdate": rolling});
    workload(50, json!({"replicas": 4, "strategy": strategy}), json!({}))
}

fn owned(kind: &str, owner: &str, name: &str, version: u32, labels: Value) -> Value {
    json!({
        "namespace": "exch", "name": name, "uid": format!("uid-of-{name}"), "generation": 1,
        "resourceVersion": version.to_string(), "labels": labels,
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "ownerReferences": [{
            "apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": format!("uid-of-{owner}"),
            "controller": true,
        }],
    })
}

fn set(image: &str, hash: &str, size: u32, revision: u32) -> Value {
    let name = format!("web-{hash}");
    let mut template = template(image);
    template["metadata"]["labels"]["pod-template-hash"] = json!(hash);
    let labels = template["metadata"]["labels"].clone();
    let mut metadata = owned("Deployment", "web", &name, 60, labels);
    metadata["annotations"] = json!({
        "deployment.kubernetes.io/revision": revision.to_string(),
        "deployment.kubernetes.io/desired-replicas": "3",
    });
    json!({
        "metadata": metadata, "spec": {"replicas": size, "template": template},
        "status": {"observedGeneration": 1, "replicas": size, "availableReplicas": size},
    })
}

fn pod(kind: &str, owner: &str, name: &str, labels: Value) -> Value {
    let mut labels = labels;
    labels["app"] = json!("web");
    json!({
        "metadata": owned(kind, owner, name, 70, labels),
        "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "web:v1"}]},
        "status": {"phase": "Running", "conditions": [{
            "type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z",
        }]},
    })
}

type Objects = Vec<(&'static str, Value)>;

fn of_deployment(live: Value) -> Objects {
    vec![
        ("batchreleases", release("Deployment")),
        ("deployments", live),
        ("replicasets", set("web:v1", "old", 4, 5)),
        ("pods", pod("ReplicaSet", "web-old", "web-old-a", json!({"pod-template-hash": "old"}))),
    ]
}

fn look(played: &Played) -> Observed {
    let terms = Terms { settings: &Settings::default(), keep_paused: false };
    let mut unseen = Unseen::default();
    let key = Key::new("exch", "rel");
    observe(&played.caches, &key, terms, Outcome::default(), &mut unseen).unwrap()
}

async fn seen(objects: Objects) -> (Observed, Body) {
    let played = Played::start(objects, nothing).await;
    let observed = look(&played);
    let Target::Found(body) = observed.world.target.clone() else { panic!("no workload") };
    (observed, *body)
}

/// What is asked, and what is reported, when the far side answers with these.
async fn acted(objects: Objects, action: &Action, replies: Vec<Reply>) -> (Vec<Asked>, ActReport) {
    let mut replies: VecDeque<Reply> = replies.into();
    let played = Played::start(objects, move |_| replies.pop_front().unwrap()).await;
    let observed = look(&played);
    let report = act(&played.hands, &observed, action, &|| GoOn::Yes).await;
    (played.far.take(), report)
}

fn done(version: u32) -> Reply {
    Reply::ok(json!({"metadata": {"resourceVersion": version.to_string()}}))
}

/// The body of the one PATCH that an action is; it goes to this path.
async fn patched(objects: Objects, action: &Action, path: &str) -> Value {
    let (mut asked, report) = acted(objects, action, vec![done(90)]).await;
    assert_eq!(asked.len(), 1, "{asked:?}");
    let asked = asked.remove(0);
    assert_eq!(asked.line, format!("PATCH {path}?fieldManager=sluice"));
    assert_eq!(asked.content, "application/merge-patch+json");
    assert_eq!((report.failed, report.requests), (None, 1));
    assert!(!report.unseen.is_empty(), "it waits until the caches show it");
    asked.body
}

const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/exch/deployments/web";
const STATEFULSET: &str = "/apis/apps/v1/namespaces/exch/statefulsets/web";
const DAEMONSET: &str = "/apis/apps/v1/namespaces/exch/daemonsets/web";
const CONTROL: &str = "batchrelease.rollouts.kruise.io/control-info";
const STRATEGY: &str = "rollouts.kruise.io/deployment-strategy";
const ORIGINAL: &str = "sluice.dev/original-update-strategy";
const HELD: &str = "sluice.dev/held-partition";
const DAEMONS: &str = "rollouts.kruise.io/daemonset-original-update-strategy";

fn rolling() -> Rolling {
    Rolling { max_surge: IntOrPercent::Int(2), max_unavailable: IntOrPercent::Int(0) }
}

fn partition(partition: u32) -> Strategy {
    Strategy::RollingUpdate { partition }
}

fn take(keep: Option<Original>, held: Held) -> Action {
    Action::Take { keep, held }
}

/// As a patch of ours leaves it.
fn with(object: &Value, patch: &Value) -> Value {
    fn merge(target: &mut Value, patch: &Value) {
        let Value::Object(patch) = patch else { return };
        for (key, value) in patch {
            let at = target.as_object_mut().unwrap();
            match value {
                Value::Null => drop(at.remove(key)),
                Value::Object(_) => merge(at.entry(key).or_insert_with(|| json!({})), value),
                value => drop(at.insert(key.clone(), value.clone())),
            }
        }
    }
    let mut object = object.clone();
    merge(&mut object, patch);
    object
}

#[tokio::test(start_paused = true)]
async fn a_deployment_is_seen_with_its_replica_sets_and_their_pods() {
    let mut objects = of_deployment(deployment());
    objects.push(("replicasets", set("web:v2", "new", 1, 6)));
    let labels = json!({"pod-template-hash": "new", "rollouts.kruise.io/rollout-id": "7",
        "rollouts.kruise.io/rollout-batch-id": "1", "controller-revision-hash": "kruise"});
    objects.push(("pods", pod("ReplicaSet", "web-new", "web-new-a", labels)));
    let (observed, body) = seen(objects).await;
    assert_eq!(body.workload.update_revision, "new");
    assert_eq!(body.stable_revision.as_deref(), Some("old"));
    assert!(body.also_called.contains(&"kruise".to_owned()), "as the original labelled its Pods");
    assert_eq!((body.control, body.max_unavailable), (Control::Free, Some(IntOrPercent::Int(0))));
    let Machinery::Deployment(deployment) = body.machinery else { panic!("a Deployment") };
    let facts = deployment.new.unwrap();
    assert_eq!((facts.size, facts.revision, facts.sized_for, facts.seen), (1, 6, 3, true));
    assert_eq!(deployment.stable.as_deref(), Some("web-old"));
    assert_eq!((deployment.rolling, deployment.saved), (Some(rolling()), None));
    assert_eq!(observed.world.pods.len(), 2);
    let marks = observed.world.marks.values().next().unwrap();
    assert_eq!((marks.rollout_id.as_str(), marks.batch), ("7", Some(1)));
}

#[tokio::test(start_paused = true)]
async fn a_template_that_only_writes_an_amount_otherwise_has_its_replica_set_already() {
    let resources = |cpu: &str| json!({"limits": {"cpu": cpu}});
    let mut live = deployment();
    live["spec"]["template"]["spec"]["containers"][0]["resources"] = resources("1000m");
    let mut same = set("web:v2", "new", 1, 6);
    same["spec"]["template"]["spec"]["containers"][0]["resources"] = resources("1");
    let mut objects = of_deployment(live);
    objects.push(("replicasets", same));
    let (_, body) = seen(objects).await;
    assert_eq!(body.workload.update_revision, "new");
}

#[tokio::test(start_paused = true)]
async fn a_deployment_is_taken_over_and_given_back_in_one_write_each() {
    let objects = of_deployment(deployment());
    let action = take(Some(Original::Rolling(rolling())), Held::Paused);
    let body = patched(objects, &action, DEPLOYMENT).await;
    assert_eq!(
        (&body["metadata"]["uid"], &body["metadata"]["resourceVersion"]),
        (&json!("uid-of-web"), &json!("50"))
    );
    let annotations = &body["metadata"]["annotations"];
    let control: Value = serde_json::from_str(annotations[CONTROL].as_str().unwrap()).unwrap();
    assert_eq!((&control["uid"], &control["kind"]), (&json!("uid-of-rel"), &json!("BatchRelease")));
    assert_eq!(annotations[STRATEGY], KEPT);
    assert_eq!(
        body["metadata"]["labels"],
        json!({
            "rollouts.kruise.io/controlled-by-advanced-deployment-controller": "true",
            "rollouts.kruise.io/stable-revision": "old",
        })
    );
    assert_eq!(
        body["spec"],
        json!({"paused": true, "strategy": {"type": "Recreate", "rollingUpdate": null}})
    );
    let mut taken = with(&deployment(), &body);
    taken["metadata"]["resourceVersion"] = json!("51");
    let (_, held) = seen(of_deployment(taken.clone())).await;
    assert_eq!(held.control, Control::Ours);
    let Machinery::Deployment(machinery) = held.machinery else { panic!("a Deployment") };
    assert!(machinery.paused && machinery.recreate);
    assert_eq!(
        (machinery.saved, held.max_unavailable),
        (Some(rolling()), Some(IntOrPercent::Int(0)))
    );
    let back = Action::Release { restore: Some(Original::Rolling(rolling())) };
    let back = patched(of_deployment(taken.clone()), &back, DEPLOYMENT).await;
    let mut given = with(&taken, &back);
    given["metadata"]["resourceVersion"] = json!("50");
    assert_eq!(given, deployment());
}

#[tokio::test(start_paused = true)]
async fn whose_own_strategy_is_recreate_gets_that_back() {
    let mut live = deployment();
    live["spec"]["strategy"] = json!({"type": "Recreate"});
    let keep = Some(Original::Rolling(Rolling::default()));
    let body = patched(of_deployment(live.clone()), &take(keep, Held::Paused), DEPLOYMENT).await;
    let taken = with(&live, &body);
    let back = Action::Release { restore: keep };
    let back = patched(of_deployment(taken.clone()), &back, DEPLOYMENT).await;
    assert_eq!(with(&taken, &back)["spec"], live["spec"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_let_go_as_it_is_loses_only_the_name_on_it() {
    let body = patched(of_deployment(deployment()), &Action::Release { restore: None }, DEPLOYMENT);
    let mut body = body.await;
    body["metadata"].as_object_mut().unwrap().retain(|key, _| key == "annotations");
    assert_eq!(body, json!({"metadata": {"annotations": {CONTROL: null}}}));
}

#[tokio::test(start_paused = true)]
async fn a_replica_set_is_sized_with_what_it_was_sized_for() {
    let action = Action::Size(Size::Size { name: "web-old".into(), size: 3 });
    let path = "/apis/apps/v1/namespaces/exch/replicasets/web-old";
    let body = patched(of_deployment(deployment()), &action, path).await;
    assert_eq!(
        body,
        json!({
            "metadata": {
                "uid": "uid-of-web-old", "resourceVersion": "60",
                "annotations": {
                    "deployment.kubernetes.io/desired-replicas": "4",
                    "deployment.kubernetes.io/max-replicas": "6",
                },
            },
            "spec": {"replicas": 3},
        })
    );
}

const CREATE: Action = Action::Size(Size::Create { size: 1 });

#[tokio::test(start_paused = true)]
async fn the_new_replica_set_is_made_as_its_own_controller_would_and_under_another_name_if_it_must()
{
    let none = || Reply::ok(json!({"items": []}));
    let taken = || Reply::failure(409, "replicasets.apps already exists");
    let replies = vec![none(), taken(), done(91)];
    let (asked, report) = acted(of_deployment(deployment()), &CREATE, replies).await;
    let sets = "/apis/apps/v1/namespaces/exch/replicasets";
    let lines: Vec<&str> = asked.iter().map(|asked| asked.line.as_str()).collect();
    let post = format!("POST {sets}?fieldManager=sluice");
    assert_eq!(lines, [&format!("GET {sets}?labelSelector=app=web"), &post, &post]);
    let (first, second) = (&asked[1].body, &asked[2].body);
    assert_ne!(first["metadata"]["name"], second["metadata"]["name"]);
    let hash = second["metadata"]["labels"]["pod-template-hash"].as_str().unwrap();
    assert_eq!(second["metadata"]["name"], format!("web-{hash}"));
    let labels = json!({"app": "web", "pod-template-hash": hash});
    assert_eq!(second["spec"]["selector"]["matchLabels"], labels);
    assert_eq!(second["spec"]["template"]["metadata"]["labels"], labels);
    assert_eq!(second["spec"]["replicas"], 1);
    assert_eq!(second["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "6");
    assert_eq!(second["metadata"]["annotations"]["team"], "a");
    assert_eq!(second["metadata"]["ownerReferences"][0]["uid"], "uid-of-web");
    assert_eq!((report.failed, report.requests), (None, 3));
    // Whichever name it got, it is the revision that the release began with.
    let (_, before) = seen(of_deployment(deployment())).await;
    let mut made = second.clone();
    made["metadata"]["uid"] = json!("uid-of-made");
    made["metadata"]["resourceVersion"] = json!("91");
    let mut objects = of_deployment(deployment());
    objects.push(("replicasets", made));
    let (_, after) = seen(objects).await;
    assert_eq!(after.workload.update_revision, hash);
    assert!(after.also_called.contains(&before.workload.update_revision));
}

#[tokio::test(start_paused = true)]
async fn a_replica_set_that_the_caches_have_not_shown_is_not_made_twice() {
    let twin = Reply::ok(json!({"items": [set("web:v2", "native", 0, 6)]}));
    let (asked, report) = acted(of_deployment(deployment()), &CREATE, vec![twin]).await;
    assert_eq!(asked.len(), 1);
    assert_eq!(report.error, Some("conflict"));
    assert!(report.failed.unwrap().contains("web-native"));
}

#[tokio::test(start_paused = true)]
async fn somebody_who_was_faster_is_looked_at_first() {
    let replies = vec![Reply::failure(409, "has been modified")];
    let action = take(None, Held::Paused);
    let (_, report) = acted(of_deployment(deployment()), &action, replies).await;
    assert_eq!(
        (report.error, report.apply_refused, report.apply_failed),
        (Some("conflict"), None, None)
    );
    assert!(report.failed.is_some() && report.unseen.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_write_that_is_refused_is_told_in_the_servers_words() {
    let forbidden = vec![Reply::failure(403, "admission webhook denied the request")];
    let action = take(None, Held::Paused);
    let (_, report) = acted(of_deployment(deployment()), &action, forbidden).await;
    assert!(report.apply_refused.unwrap().message.contains("denied the request"));
}

fn of_statefulset(strategy: Value, annotations: Value) -> Objects {
    let status = json!({"updateRevision": "web-2", "currentRevision": "web-1"});
    let mut live = workload(50, json!({"replicas": 4, "updateStrategy": strategy}), status);
    live["metadata"]["annotations"] = annotations;
    let labels = json!({"controller-revision-hash": "web-1"});
    vec![
        ("batchreleases", release("StatefulSet")),
        ("statefulsets", live),
        ("pods", pod("StatefulSet", "web", "web-0", labels)),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_statefulset_is_held_by_its_partition_and_given_back_whole() {
    let own = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 1, "maxUnavailable": "50%"}});
    let objects = of_statefulset(own.clone(), json!({}));
    let (_, body) = seen(objects.clone()).await;
    assert_eq!(
        (body.workload.update_revision.as_str(), body.stable_revision.as_deref()),
        ("web-2", Some("web-1"))
    );
    assert_eq!(body.max_unavailable, Some(IntOrPercent::Percent(50)));
    let keep = Some(Original::Strategy(partition(1)));
    let action = take(keep, Held::Strategy(partition(32767)));
    let patch = patched(objects.clone(), &action, STATEFULSET).await;
    let annotations = &patch["metadata"]["annotations"];
    assert_eq!(annotations[HELD], "32767");
    let kept: Value = serde_json::from_str(annotations[ORIGINAL].as_str().unwrap()).unwrap();
    assert_eq!(kept, own);
    let taken = with(&objects[1].1, &patch);
    assert_eq!(taken["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"], "50%");
    let objects = vec![objects[0].clone(), ("statefulsets", taken.clone())];
    let (_, held) = seen(objects.clone()).await;
    assert_eq!(
        held.machinery,
        Machinery::Pods { nature: Nature::STATEFUL_SET, saved: Some(partition(1)) }
    );
    let open = Action::Move(Motion::Open { partition: 3, percent: None });
    let opened = patched(objects.clone(), &open, STATEFULSET).await;
    assert_eq!(opened["metadata"]["annotations"], json!({HELD: "3"}));
    assert_eq!(
        opened["spec"]["updateStrategy"],
        json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 3}})
    );
    let back = Action::Release { restore: keep };
    let given = with(&taken, &patched(objects, &back, STATEFULSET).await);
    assert_eq!(given["spec"]["updateStrategy"], own);
    assert_eq!(given["metadata"]["annotations"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn a_partition_that_a_release_left_above_all_is_not_the_users_own() {
    let left = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 32767}});
    let keep = Some(Original::Strategy(partition(0)));
    let action = take(keep, Held::AsItIs);
    let patch = patched(of_statefulset(left, json!({})), &action, STATEFULSET).await;
    let annotations = &patch["metadata"]["annotations"];
    let kept: Value = serde_json::from_str(annotations[ORIGINAL].as_str().unwrap()).unwrap();
    assert_eq!(kept["rollingUpdate"]["partition"], 0);
    assert_eq!(annotations[HELD], "32767");
}

#[tokio::test(start_paused = true)]
async fn a_statefulset_under_on_delete_is_let_alone() {
    let own = json!({"type": "OnDelete"});
    let objects = of_statefulset(own.clone(), json!({}));
    let keep = Some(Original::Strategy(Strategy::OnDelete));
    let patch = patched(objects.clone(), &take(keep, Held::AsItIs), STATEFULSET).await;
    assert_eq!(patch.get("spec"), None);
    let taken = with(&objects[1].1, &patch);
    let objects = vec![objects[0].clone(), ("statefulsets", taken.clone())];
    let back = patched(objects, &Action::Release { restore: keep }, STATEFULSET).await;
    assert_eq!(with(&taken, &back)["spec"]["updateStrategy"], own);
}

#[tokio::test(start_paused = true)]
async fn a_set_of_a_statefulset_rollout_belongs_to_that() {
    let annotations = json!({"sluice.dev/owned-by": "uid-of-web"});
    let mut objects = of_statefulset(json!({"type": "OnDelete"}), annotations);
    objects.push(("statefulsetrollouts", super::played::rollout("web", 41)));
    let (_, body) = seen(objects).await;
    assert_eq!(body.control, Control::Other { owner: "StatefulsetRollout/web".into() });
}

fn of_daemonset(strategy: Value, annotations: Value) -> Objects {
    let status = json!({"desiredNumberScheduled": 3});
    let mut live = workload(50, json!({"updateStrategy": strategy}), status);
    live["metadata"]["annotations"] = annotations;
    let revision = |image: &str, hash: &str, number: u32| {
        let labels = json!({"controller-revision-hash": hash});
        let mut template = template(image);
        template["$patch"] = json!("replace");
        json!({
            "metadata": owned("DaemonSet", "web", &format!("web-{hash}"), 60, labels),
            "revision": number, "data": {"spec": {"template": template}},
        })
    };
    vec![
        ("batchreleases", release("DaemonSet")),
        ("daemonsets", live),
        ("controllerrevisions", revision("web:v1", "old", 1)),
        ("controllerrevisions", revision("web:v2", "new", 2)),
        ("pods", pod("DaemonSet", "web", "web-a", json!({"controller-revision-hash": "old"}))),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_daemonset_is_held_by_on_delete_and_given_back_whole() {
    let own =
        json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2, "maxSurge": 0}});
    let objects = of_daemonset(own.clone(), json!({}));
    let (_, body) = seen(objects.clone()).await;
    assert_eq!(
        (body.workload.update_revision.as_str(), body.stable_revision.as_deref()),
        ("new", Some("old"))
    );
    assert_eq!((body.workload.replicas, body.max_unavailable), (3, Some(IntOrPercent::Int(2))));
    assert_eq!(body.also_called, ["web-new"]);
    let keep = Some(Original::Strategy(partition(0)));
    let action = take(keep, Held::Strategy(Strategy::OnDelete));
    let patch = patched(objects.clone(), &action, DAEMONSET).await;
    let annotations = &patch["metadata"]["annotations"];
    assert_eq!(annotations[DAEMONS], "RollingUpdate");
    assert_eq!(patch["spec"]["updateStrategy"], json!({"type": "OnDelete"}));
    let taken = with(&objects[1].1, &patch);
    let mut objects = objects;
    objects[1].1 = taken.clone();
    let (_, held) = seen(objects.clone()).await;
    assert_eq!(
        held.machinery,
        Machinery::Pods { nature: Nature::DAEMON_SET, saved: Some(partition(0)) }
    );
    assert_eq!((held.control, held.max_unavailable), (Control::Ours, Some(IntOrPercent::Int(2))));
    assert_eq!(held.stable_revision.as_deref(), Some("old"), "it is written down");
    let back = Action::Release { restore: keep };
    let given = with(&taken, &patched(objects, &back, DAEMONSET).await);
    assert_eq!(given["spec"]["updateStrategy"], own);
    assert_eq!(given["metadata"]["annotations"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn a_daemonset_whose_revision_has_not_been_shown_is_not_seen_by_its_controller() {
    let mut objects = of_daemonset(json!({"type": "OnDelete"}), json!({}));
    objects.remove(3);
    let (_, body) = seen(objects).await;
    assert!(body.workload.observed_generation < body.workload.generation);
}

#[tokio::test(start_paused = true)]
async fn pods_are_labelled_one_patch_each_in_order_and_one_that_is_gone_stops_nobody() {
    let label = |name: &str| Label {
        name: name.into(),
        uid: Uid(format!("uid-of-{name}")),
        mark: Mark::Batch { rollout_id: "7".into(), batch: 1 },
    };
    let pods = (0..10).map(|number| label(&format!("web-{number}"))).collect();
    let mut replies: Vec<Reply> = (0..9).map(|number| done(80 + number)).collect();
    replies.insert(3, Reply::failure(409, "another uid"));
    let (asked, report) =
        acted(of_deployment(deployment()), &Action::Label { pods }, replies).await;
    assert_eq!((asked.len(), report.requests, report.failed), (10, 10, None));
    for (number, asked) in asked.iter().enumerate() {
        let path = format!("/api/v1/namespaces/exch/pods/web-{number}");
        assert_eq!(asked.line, format!("PATCH {path}?fieldManager=sluice"));
    }
    assert_eq!(
        asked[0].body,
        json!({"metadata": {"uid": "uid-of-web-0", "labels": {
            "rollouts.kruise.io/rollout-id": "7", "rollouts.kruise.io/rollout-batch-id": "1",
        }}})
    );
}

#[tokio::test(start_paused = true)]
async fn a_failure_ends_the_labelling() {
    let label = |number: u32| Label {
        name: format!("web-{number}"),
        uid: "u".into(),
        mark: Mark::NoNeedUpdate { rollout_id: "7".into() },
    };
    let pods = (0..20).map(label).collect();
    let replies = (0..8).map(|_| Reply::failure(503, "down")).collect();
    let (asked, report) =
        acted(of_deployment(deployment()), &Action::Label { pods }, replies).await;
    assert_eq!((asked.len(), report.error), (8, Some("unknown")));
}

#[tokio::test(start_paused = true)]
async fn a_write_is_unseen_until_the_watch_of_its_kind_has_come_to_it() {
    let played = Played::start(of_deployment(deployment()), |_| done(190)).await;
    let observed = look(&played);
    let action = Action::Size(Size::Size { name: "web-old".into(), size: 3 });
    let mut report = act(&played.hands, &observed, &action, &|| GoOn::Yes).await;
    let unseen = &mut report.unseen;
    let key = Key::new("exch", "rel");
    let sees = |unseen: &mut Unseen| {
        let terms = Terms { settings: &Settings::default(), keep_paused: false };
        !observe(&played.caches, &key, terms, Outcome::default(), unseen).unwrap().world.unseen
    };
    assert!(!sees(unseen));
    let mut sized = set("web:v1", "old", 3, 5);
    sized["metadata"]["resourceVersion"] = json!("190");
    played.push("replicasets", "MODIFIED", sized).await;
    assert!(sees(unseen));
}

#[tokio::test(start_paused = true)]
async fn a_pause_by_annotation_is_another_wish() {
    let played = Played::start(of_deployment(deployment()), nothing).await;
    let observed = look(&played);
    let subject = Subject::new(Front::BatchRelease, Key::new("exch", "rel"));
    let asks = || played.caches.still_asks_as(&subject, &observed.meta);
    assert!(asks());
    let mut same = release("Deployment");
    same["metadata"]["resourceVersion"] = json!("191");
    played.push("batchreleases", "MODIFIED", same.clone()).await;
    assert!(asks(), "a status is no wish");
    same["metadata"]["annotations"] = json!({"sluice.dev/paused": "true"});
    played.push("batchreleases", "MODIFIED", same).await;
    assert!(!asks());
    assert!(look(&played).world.release.paused);
}

#[tokio::test(start_paused = true)]
async fn the_finalizers_of_others_stay() {
    let path = "/apis/rollouts.kruise.io/v1beta1/namespaces/exch/batchreleases/rel";
    let body = patched(of_deployment(deployment()), &Action::AddFinalizer, path).await;
    let ours = "rollouts.kruise.io/batch-release-finalizer";
    assert_eq!(
        body["metadata"],
        json!({"uid": "uid-of-rel", "resourceVersion": "40", "finalizers": ["other/one", ours]})
    );
    let body = patched(of_deployment(deployment()), &Action::RemoveFinalizer, path).await;
    assert_eq!(body["metadata"]["finalizers"], json!(["other/one"]));
}

#[tokio::test(start_paused = true)]
async fn a_workload_of_another_living_release_is_theirs_and_of_one_that_is_gone_free() {
    let control = json!({"kind": "BatchRelease", "name": "other", "uid": "uid-of-other"});
    let mut live = deployment();
    live["metadata"]["annotations"][CONTROL] = json!(control.to_string());
    let mut objects = of_deployment(live);
    let (_, body) = seen(objects.clone()).await;
    assert_eq!(body.control, Control::Free);
    let mut other = release("Deployment");
    other["metadata"]["name"] = json!("other");
    other["metadata"]["uid"] = json!("uid-of-other");
    objects.push(("batchreleases", other));
    let (_, body) = seen(objects).await;
    assert_eq!(body.control, Control::Other { owner: "BatchRelease/other".into() });
}
