//! Kinds that come late, go again, or are served in an older version: on the embedded cluster.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cluster::observe::rollout::{Observed, observe};
use cluster::{Caches, Clock, Key, Kind, Subject, Workload};
use http::{Method, Request};
use kube::Client;
use serde_json::{Value, json};
use simcluster::cluster::{Options, SimCluster};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const ROLLOUTS: &str = "/apis/rollouts.kruise.io/v1beta1/namespaces/shop/rollouts";

struct Stage {
    client: Client,
    caches: Arc<Caches>,
    woken: Arc<Mutex<u32>>,
}

impl Stage {
    /// A cluster without Kruise, and a Rollout of a CloneSet.
    async fn set() -> Self {
        let clock = Clock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
        let sim = SimCluster::new(Options::new(1, Arc::new(move || clock.now())));
        tokio::spawn(sim.drive());
        let client = Client::new(sim.router(), "default");
        let woken = Arc::new(Mutex::new(0));
        let heard = Arc::clone(&woken);
        let caches = Caches::new(Box::new(move |_: &Subject, _| *heard.lock().unwrap() += 1));
        let stage = Self { client, caches, woken };
        stage.ask(Method::POST, "/api/v1/namespaces", json!({"metadata": {"name": "shop"}})).await;
        for definition in api::crds() {
            stage.ask(Method::POST, DEFINITIONS, serde_json::to_value(definition).unwrap()).await;
        }
        pass(1).await;
        let rollout = json!({
            "apiVersion": "rollouts.kruise.io/v1beta1", "kind": "Rollout", "metadata": {"name": "web"},
            "spec": {
                "workloadRef": {
                    "apiVersion": "apps.kruise.io/v1alpha1", "kind": "CloneSet", "name": "web",
                },
                "strategy": {"canary": {"steps": [{"replicas": 1}]}},
            },
        });
        stage.ask(Method::POST, ROLLOUTS, rollout).await;
        for (_, watch) in stage.caches.watches(&stage.client, None, 1) {
            tokio::spawn(watch);
        }
        pass(1).await;
        stage
    }

    async fn ask(&self, method: Method, path: &str, body: Value) -> Value {
        let request = Request::builder().method(method).uri(path);
        let request = request.header("content-type", "application/json");
        let request = request.body(serde_json::to_vec(&body).unwrap()).unwrap();
        self.client.request(request).await.unwrap()
    }

    /// Kruise is installed, and serves CloneSets in these versions.
    async fn install(&self, versions: &[&str]) {
        let all = simcluster::behaviour::kruise::definitions::all();
        let of_clonesets = |one: &Value| one["metadata"]["name"] == "clonesets.apps.kruise.io";
        let mut definition = all.iter().map(Value::from).find(of_clonesets).unwrap();
        for version in definition["spec"]["versions"].as_array_mut().unwrap() {
            let served = versions.contains(&version["name"].as_str().unwrap());
            version["served"] = json!(served);
            version["storage"] = json!(served && version["name"] == versions[0]);
        }
        self.ask(Method::POST, DEFINITIONS, definition).await;
        pass(1).await;
        let cloneset = json!({
            "apiVersion": format!("apps.kruise.io/{}", versions[0]), "kind": "CloneSet",
            "metadata": {"name": "web"},
            "spec": {
                "replicas": 3, "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
                },
            },
        });
        let path = format!("/apis/apps.kruise.io/{}/namespaces/shop/clonesets", versions[0]);
        self.ask(Method::POST, &path, cloneset).await;
    }

    fn look(&self) -> Observed {
        let key = Key::new("shop", "web");
        let seen = observe(&self.caches, &key, &engine::front::rollout::Settings::default());
        seen.expect("the Rollout can be looked at")
    }

    /// Why there is no workload that it could release.
    fn obstacle(&self) -> Option<String> {
        self.look().world.workload?.unsupported
    }

    /// Where the Rollout's workload is written; `None` while there is none.
    fn path(&self) -> Option<String> {
        let live = self.look().live?;
        let key = Key::new("shop", "web");
        assert_eq!(live.workload, Workload::new(Kind::CloneSet, key));
        Some(live.path)
    }

    fn woken(&self) -> bool {
        std::mem::take(&mut *self.woken.lock().unwrap()) > 0
    }
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_not_there_holds_nobody_up_and_is_found_when_it_comes_and_missed_when_it_goes()
 {
    let stage = Stage::set().await;
    assert!(stage.caches.ready(), "not waited for: {:?}", stage.caches.waiting_for());
    assert_eq!(stage.caches.broken(), std::collections::BTreeMap::new());
    assert_eq!(stage.path(), None);
    let missing = "CloneSet of apps.kruise.io is not served by this cluster: the Rollout goes on when that is installed";
    assert_eq!(stage.obstacle().as_deref(), Some(missing));
    stage.woken();

    stage.install(&["v1beta1", "v1alpha1"]).await;
    pass(31).await;
    let path = "/apis/apps.kruise.io/v1beta1/namespaces/shop/clonesets/web";
    assert_eq!(stage.path().as_deref(), Some(path));
    assert_eq!(stage.obstacle(), None);
    assert!(stage.woken(), "its Rollout is looked at");

    let definition = format!("{DEFINITIONS}/clonesets.apps.kruise.io");
    stage.ask(Method::DELETE, &definition, json!({})).await;
    pass(31).await;
    // The server ends the watch with the kind, so it is known at once.
    assert_eq!(stage.path(), None);
    assert_eq!(stage.obstacle().as_deref(), Some(missing));
    assert!(stage.woken(), "its Rollout is looked at, and says why");
    assert!(stage.caches.ready());
    assert_eq!(stage.caches.broken(), std::collections::BTreeMap::new());

    // Another Kruise, an older one.
    stage.install(&["v1alpha1"]).await;
    pass(31).await;
    let path = "/apis/apps.kruise.io/v1alpha1/namespaces/shop/clonesets/web";
    assert_eq!(stage.path().as_deref(), Some(path));
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_served_in_its_older_version_alone_is_spoken_to_in_that() {
    let stage = Stage::set().await;
    stage.install(&["v1alpha1"]).await;
    pass(31).await;
    let path = "/apis/apps.kruise.io/v1alpha1/namespaces/shop/clonesets/web";
    assert_eq!(stage.path().as_deref(), Some(path));
}
