//! An embedded cluster in virtual time, one of whose controllers is driven through its API.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kruise::resource::Kinds;
use kruise::{Driver, Failure};
use kube::Client;
use simcluster::behaviour::claim::Claims;
use simcluster::behaviour::definitions::Definitions;
use simcluster::behaviour::garbage::Garbage;
use simcluster::behaviour::kruise::definitions;
use simcluster::behaviour::kubelet::Kubelets;
use simcluster::behaviour::replicaset::ReplicaSets;
use simcluster::behaviour::scheduler::Scheduler;
use simcluster::behaviour::statefulset::StatefulSets;
use simcluster::behaviour::{View, Write};
use simcluster::cluster::{Options, SimCluster};
use simcluster::fault::{FaultPlan, Faults, Rates};
use simcluster::http::Clock;
use simcluster::json::{Value, json};
use simcluster::object::{Collection, Key, PODS, REPLICASETS, STATEFULSETS};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Who runs the controllers of StatefulSets, of ReplicaSets and of Kruise's workloads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Driven {
    /// The server itself, as always.
    Inside,
    /// Ours, through the API, under faults at this rate for each request.
    Outside { faults: f64 },
}

/// Our driver: what tells it to stop, and how it ended.
struct Outside {
    stop: oneshot::Sender<()>,
    ended: JoinHandle<Result<(), Failure>>,
}

pub(crate) struct Stage {
    pub(crate) cluster: SimCluster,
    clock: Clock,
    outside: Option<Outside>,
    /// All Pods that there ever were, by UID.
    made: Arc<Mutex<Vec<String>>>,
    faults: Faults,
}

impl Stage {
    pub(crate) fn new(seed: u64, driven: Driven) -> Self {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a timestamp");
        let begun = tokio::time::Instant::now();
        let clock: Clock = Arc::new(move || {
            start + SignedDuration::try_from(begun.elapsed()).expect("a test's time")
        });
        let mut options = Options::new(seed, clock.clone());
        options.window = 100_000;
        options.kruise = true;
        let cluster = SimCluster::new(options);
        let server = cluster.server().clone();
        let start_up = SignedDuration::from_secs(2);
        let mut inside = simcluster::driver::Driver::new(server, seed)
            .with(Definitions, 5..=20)
            .with(Scheduler::default(), 2..=10)
            .with(Kubelets::new(start_up, seed), 2..=10)
            .with(Claims, 10..=50)
            .with(Garbage::default(), 20..=80);
        let faults = Faults::new(FaultPlan::new(seed, Rates::NONE));
        let mut outside = None;
        match driven {
            Driven::Inside => {
                inside = inside.with(StatefulSets, 10..=40).with(ReplicaSets::default(), 1..=3);
                inside = inside.with_kruise();
            }
            Driven::Outside { faults: rate } => {
                // A list without a resourceVersion is never stale on a real server.
                faults.set_rates(Rates { stale_list: 0.0, ..Rates::all(rate) });
                let client = Client::new(faults.wrap(cluster.router()), "default");
                let native = [STATEFULSETS, REPLICASETS];
                let all = [&native, &kruise::WATCHED[..]].concat();
                let kinds = Kinds::with(&definitions::all());
                let driver = Driver::new(client, clock.clone(), kinds, &all, seed)
                    .with(StatefulSets, 10..=40)
                    .with(ReplicaSets::default(), 1..=3)
                    .with_kruise();
                let (stop, stopped) = oneshot::channel();
                let ended = tokio::spawn(
                    driver.drive(async { stopped.await.expect("the stage tells it") }),
                );
                outside = Some(Outside { stop, ended });
            }
        }
        tokio::spawn(inside.drive(clock.clone()));
        let made = Arc::default();
        tokio::spawn(note_pods(cluster.server().clone(), Arc::clone(&made)));
        Self { cluster, clock, outside, made, faults }
    }

    pub(crate) fn create(&self, collection: Collection, object: Value) {
        let write = Write::Create { collection, object };
        self.cluster.server().commit(write, "test", (self.clock)()).expect("is taken");
    }

    pub(crate) fn get(&self, key: &Key) -> Value {
        let view = self.cluster.server().view();
        view.get(key).map_or(Value::Null, |object| Value::clone(object))
    }

    pub(crate) fn edit(&self, key: &Key, edit: impl FnOnce(&mut Value)) {
        let mut object = self.get(key);
        edit(&mut object);
        let write = Write::Update { key: key.clone(), subresource: None, object };
        self.cluster.server().commit(write, "test", (self.clock)()).expect("is taken");
    }

    pub(crate) fn delete(&self, key: &Key) {
        let write = Write::Delete { key: key.clone(), uid: None, grace_period_seconds: None };
        self.cluster.server().commit(write, "test", (self.clock)()).expect("is taken");
    }

    pub(crate) async fn pass(&self, seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }

    /// How many requests met a fault.
    pub(crate) fn faults(&self) -> usize {
        self.faults.log().len()
    }

    /// How many Pods there ever were.
    pub(crate) fn made(&self) -> usize {
        self.made.lock().expect("nobody panics").len()
    }

    /// The names of all Pods, with what they run and whether they are ready.
    pub(crate) fn pods(&self) -> Vec<Value> {
        let view = self.cluster.server().view();
        let pods = view.list(&PODS, Some("default"));
        pods.map(|pod| {
            json!([
                pod["metadata"]["name"],
                pod["metadata"]["labels"],
                pod["spec"]["containers"][0]["image"],
                simcluster::behaviour::pod::is_ready(pod),
            ])
        })
        .collect()
    }

    /// How our driver ended, once it is told to.
    pub(crate) async fn stop(mut self) -> Result<(), Failure> {
        let Some(Outside { stop, ended }) = self.outside.take() else { return Ok(()) };
        // It may have ended by itself, and then nobody listens.
        let _ = stop.send(());
        ended.await.expect("it doesn't panic")
    }
}

/// Writes down each Pod that appears.
async fn note_pods(server: Arc<simcluster::server::Server>, made: Arc<Mutex<Vec<String>>>) {
    let (changed, mut cursor) = (server.changed(), 0);
    loop {
        let notified = changed.notified();
        let (changes, now) = server.changes_since(cursor);
        cursor = now;
        let new = changes.iter().filter(|c| c.key.collection == PODS && c.before.is_none());
        let uids = new.filter_map(|c| c.after.as_deref()).map(simcluster::object::uid);
        made.lock().expect("nobody panics").extend(uids.map(str::to_owned));
        notified.await;
    }
}
