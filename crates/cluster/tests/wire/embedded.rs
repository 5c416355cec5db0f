//! The same against the embedded cluster, whose answers are held against those of a real one.

use std::sync::Arc;
use std::time::Duration;

use cluster::act::statefulset_rollout::act;
use cluster::disrupt::{Disruption, Way, disrupt};
use cluster::observe::statefulset_rollout::{Observed, observe};
use cluster::status;
use cluster::{Caches, Clock, Durations, Elector, Events, Front, GoOn, Hands, Key, Subject, Told};
use engine::decision::{Action, Victim};
use engine::status::{Phase, Status};
use engine::world::{Outcome, Refusal, Settings, Strategy};
use http::{Method, Request};
use kube::Client;
use serde_json::{Value, json};
use simcluster::cluster::{Options, SimCluster};

struct Embedded {
    client: Client,
    hands: Hands,
    caches: Arc<Caches>,
}

impl Embedded {
    /// A cluster that knows our resource, with one rollout of four Pods and a budget of one.
    async fn start() -> Self {
        let clock = Clock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
        let time = clock.clone();
        let sim = SimCluster::new(Options::new(1, Arc::new(move || time.now())));
        tokio::spawn(sim.drive());
        let client = Client::new(sim.router(), "default");
        let hands = Hands { client: client.clone(), clock };
        let caches = Caches::new(Box::new(|_, _| {}));
        let embedded = Self { client, hands, caches };
        for crd in api::crds() {
            let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
            embedded.ask(Method::POST, path, &serde_json::to_value(crd).unwrap()).await;
        }
        pass(1).await;
        embedded.ask(Method::POST, ROLLOUTS, &rollout()).await;
        let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
        embedded.ask(Method::POST, budgets, &budget()).await;
        for (_, watch) in embedded.caches.watches(&embedded.client, None, 1) {
            tokio::spawn(watch);
        }
        pass(1).await;
        embedded
    }

    async fn ask(&self, method: Method, path: &str, body: &Value) -> Value {
        let content = if method == Method::PATCH {
            "application/merge-patch+json"
        } else {
            "application/json"
        };
        let request = Request::builder().method(method).uri(path).header("content-type", content);
        let request = request.body(serde_json::to_vec(body).unwrap()).unwrap();
        self.client.request(request).await.unwrap()
    }

    fn look(&self) -> Observed {
        let key = Key::new("default", "web");
        observe(&self.caches, &key, &Settings::default(), Outcome::default()).unwrap()
    }

    async fn act(&self, action: &Action) -> cluster::ActReport {
        let report = act(&self.hands, &self.look(), action, &|| GoOn::Yes).await;
        assert_eq!((&report.failed, &report.apply_refused), (&None, &None));
        report
    }

    /// Applies what is asked for and waits until its Pods are ready.
    async fn deployed() -> Self {
        let embedded = Self::start().await;
        embedded.act(&Action::Apply { strategy: Strategy::OnDelete }).await;
        pass(30).await;
        embedded
    }

    fn victims(&self) -> Vec<Victim> {
        let pods = self.look().world.pods.into_iter();
        let victim = |pod: engine::world::Pod| Victim {
            name: pod.name,
            uid: pod.uid,
            resource_version: pod.resource_version,
        };
        pods.map(victim).collect()
    }
}

const ROLLOUTS: &str = "/apis/bedrock.operator.slack.com/v1/namespaces/default/statefulsetrollouts";

fn rollout() -> Value {
    json!({
        "apiVersion": "bedrock.operator.slack.com/v1",
        "kind": "StatefulsetRollout",
        "metadata": {"name": "web"},
        "spec": {"statefulset": {"spec": {
            "replicas": 4,
            "selector": {"matchLabels": {"app": "web"}},
            "serviceName": "web",
            "podManagementPolicy": "Parallel",
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "repo/web:v1"}]},
            },
        }}},
    })
}

fn budget() -> Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    })
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn an_apply_creates_the_set_which_then_matches_and_is_ours() {
    let embedded = Embedded::deployed().await;
    let world = embedded.look().world;
    let workload = world.workload.unwrap();
    assert!(workload.matches);
    assert_eq!(workload.claim, engine::world::Claim::Ours);
    assert_eq!(workload.strategy, Strategy::OnDelete);
    assert_eq!(workload.observed_generation, workload.generation);
    assert_eq!(world.pods.len(), 4);
    assert!(world.pods.iter().all(|pod| pod.ready_since.is_some() && pod.version == "v1"));
    assert!(world.pods.iter().all(|pod| pod.revision == workload.update_revision));
    let budget = &world.budgets[0];
    assert_eq!((budget.observed, budget.allowed, budget.expected), (true, 1, 4));
}

#[tokio::test(start_paused = true)]
async fn a_second_apply_of_the_same_changes_nothing() {
    let embedded = Embedded::deployed().await;
    let before = embedded.look().workload_version;
    let report = embedded.act(&Action::Apply { strategy: Strategy::OnDelete }).await;
    pass(1).await;
    assert_eq!(report.applied.unwrap().generation, 1);
    assert_eq!(embedded.look().workload_version, before);
}

#[tokio::test(start_paused = true)]
async fn one_pod_goes_and_the_next_is_refused_by_the_budget() {
    let embedded = Embedded::deployed().await;
    let pods = embedded.victims();
    let report = embedded.act(&Action::Evict { pods: pods.clone() }).await;
    assert_eq!(report.accepted, [pods[0].uid.clone()].into());
    let second = &report.refused[&pods[1].uid];
    assert!(matches!(second, Refusal::Budget(words) if words.contains("budget web")), "{second:?}");
    assert_eq!(report.refused[&pods[2].uid], Refusal::NotTried);
    pass(60).await;
    let now = embedded.victims();
    assert_eq!((now[0].name.as_str(), now.len()), ("web-0", 4));
    assert_ne!(now[0].uid, pods[0].uid);
    // The successor bears the name, but it is not meant.
    let again = disrupt(&embedded.client, "default", &pods[0], Way::Evict).await;
    assert!(matches!(again, Disruption::Refused { refusal: Refusal::Gone, .. }), "{again:?}");
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_has_changed_since_is_not_deleted() {
    let embedded = Embedded::deployed().await;
    let mut pods = embedded.victims();
    pods.truncate(2);
    pods[0].resource_version = "1".into();
    let report = embedded.act(&Action::Delete { pods: pods.clone() }).await;
    assert_eq!(report.refused, [(pods[0].uid.clone(), Refusal::Gone)].into());
    assert_eq!(report.accepted, [pods[1].uid.clone()].into());
}

#[tokio::test(start_paused = true)]
async fn a_strategy_goes_there_and_back_and_the_next_apply_is_valid() {
    let embedded = Embedded::deployed().await;
    let held = Strategy::RollingUpdate { partition: 4 };
    for strategy in [held, Strategy::OnDelete, held] {
        embedded.act(&Action::SetStrategy { strategy }).await;
        pass(1).await;
        assert_eq!(embedded.look().world.workload.unwrap().strategy, strategy);
    }
    embedded.act(&Action::SetStrategy { strategy: Strategy::OnDelete }).await;
    pass(1).await;
    embedded.act(&Action::Apply { strategy: Strategy::OnDelete }).await;
    pass(1).await;
    let workload = embedded.look().world.workload.unwrap();
    assert_eq!((workload.strategy, workload.matches), (Strategy::OnDelete, true));
}

#[tokio::test(start_paused = true)]
async fn a_status_comes_back_as_it_was_written_and_an_older_look_meets_a_conflict() {
    let embedded = Embedded::start().await;
    let seen = embedded.look();
    let wanted = Status {
        phase: Some(Phase::InProgress),
        reason: "evicting 1 Pod".into(),
        observed_generation: 1,
        replicas: 4,
        last_updated: Some("2026-01-01T00:00:02.5Z".parse().unwrap()),
        ..Status::default()
    };
    let Embedded { hands, caches, .. } = &embedded;
    let version = status::statefulset_rollout(hands, caches, &seen, &wanted).await.unwrap();
    assert_eq!(embedded.look().world.status, wanted, "before the watch shows it");
    pass(1).await;
    let shown = embedded.look();
    assert_eq!((shown.resource_version.as_str(), &shown.world.status), (version.as_str(), &wanted));
    assert_eq!(shown.world.rollout.generation, 1);
    let error = status::statefulset_rollout(hands, caches, &seen, &wanted).await.unwrap_err();
    assert!(error.is_conflict(), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_pause_reaches_the_caches_as_a_new_generation() {
    let embedded = Embedded::start().await;
    let seen = embedded.look();
    let path = format!("{ROLLOUTS}/web");
    embedded.ask(Method::PATCH, &path, &json!({"spec": {"pauseRequested": true}})).await;
    pass(1).await;
    assert!(!embedded.caches.still_asks(&subject(&seen), &seen.uid, 1));
    assert!(embedded.look().world.rollout.pause_requested);
}

#[tokio::test(start_paused = true)]
async fn events_and_the_lease_are_taken() {
    let embedded = Embedded::start().await;
    let Embedded { client, hands, .. } = &embedded;
    let seen = embedded.look();
    let told = Told {
        warning: false,
        reason: "Evicting".into(),
        action: "Evict".into(),
        note: "evicting 1 Pod".into(),
    };
    let events = Events::new(hands.clone(), "sluice-0");
    for _ in 0..2 {
        events.tell(&subject(&seen), &seen.uid, &told).await;
        pass(1).await;
    }
    let path = "/apis/events.k8s.io/v1/namespaces/default/events";
    let list = embedded.ask(Method::GET, path, &Value::Null).await;
    let ours: Vec<&Value> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["reason"] == "Evicting")
        .collect();
    assert_eq!(ours.len(), 1);
    assert_eq!(ours[0]["series"]["count"], 2);

    let (clock, times) = (hands.clock.clone(), Durations::default());
    let (elector, hear) = Elector::new(client.clone(), clock, "me", "default", times, 1);
    let stop = pass(20);
    let watched = async {
        pass(10).await;
        assert!(hear.borrow().holds(hands.clock.now()));
    };
    tokio::join!(elector.run(stop), watched);
    let path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/sluice";
    let lease = embedded.ask(Method::GET, path, &Value::Null).await;
    assert_eq!(lease["spec"].get("holderIdentity"), None, "given back");
}

fn subject(seen: &Observed) -> Subject {
    Subject::new(Front::StatefulsetRollout, seen.key.clone())
}
