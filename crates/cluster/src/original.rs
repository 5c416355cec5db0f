//! The manager of the original, OpenKruise Rollouts: whether it still runs on this cluster. Two would drive
//! one workload.
//!
//! RBAC: `list` and `watch` on `leases` of its name.
//!
//! Judged as a lease of an election is: by how long we have seen the same record, on our own clock. One that
//! was left behind counts for as long as it says, once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use api::batches::names::ORIGINAL_LEASE;
use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use serde::Deserialize;
use serde_json::Value;
use tracing::{info, warn};

use crate::clock::Clock;
use crate::key::Key;
use crate::lease::LeaseFacts;
use crate::watch::{self, Seen, Source, Watched};

/// What is known of the original's manager.
pub struct Original {
    clock: Clock,
    leases: Mutex<BTreeMap<Key, Record>>,
    wake: Box<dyn Fn() + Send + Sync>,
}

/// The leases of its name, where there are any.
const LEASES: Source = Source {
    name: Some(ORIGINAL_LEASE),
    ..Source::of("leases", &["/apis/coordination.k8s.io/v1"])
};

/// A lease, and since when it has been like this.
struct Record {
    facts: LeaseFacts,
    since: Timestamp,
}

/// That it runs, or may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// Who holds its lease, for people.
    pub holder: String,
    /// Until when that is so, unless the lease is renewed.
    pub until: Timestamp,
}

impl Original {
    /// Nothing yet. `wake` is called when one begins to run.
    pub fn new(clock: Clock, wake: Box<dyn Fn() + Send + Sync>) -> Arc<Self> {
        Arc::new(Self { clock, leases: Mutex::default(), wake })
    }

    /// The watch that feeds it; runs until dropped.
    pub fn watch(
        self: &Arc<Self>,
        client: &Client,
        namespace: Option<&str>,
        seed: u64,
    ) -> BoxFuture<'static, ()> {
        let (original, client) = (Arc::clone(self), client.clone());
        let namespace = namespace.map(str::to_owned);
        let tell = move |seen: Seen<LeaseSeen>| original.take(seen);
        watch::watch(client, LEASES, namespace, seed, tell).boxed()
    }

    /// Whether it runs, as far as is known.
    pub fn running(&self, now: Timestamp) -> Option<Running> {
        let leases = self.lock();
        let alive = leases.iter().filter_map(|(key, record)| {
            let until = record.until()?;
            let holder = format!("{} of lease {key}", record.facts.holder);
            (until > now).then_some(Running { holder, until })
        });
        alive.max_by_key(|running| running.until)
    }

    fn take(&self, seen: Seen<LeaseSeen>) {
        let now = self.clock.now();
        let before = self.running(now).is_some();
        match seen {
            Seen::Applied(lease) => self.put(lease, now),
            Seen::Deleted(lease) => drop(self.lock().remove(&lease.key)),
            Seen::All(leases, _) => {
                self.lock().retain(|key, _| leases.iter().any(|lease| lease.key == *key));
                leases.into_iter().for_each(|lease| self.put(lease, now));
            }
            Seen::Served(_) | Seen::Broken(_) | Seen::Open => {}
        }
        match (before, self.running(now)) {
            (false, Some(Running { holder, .. })) => {
                warn!(
                    holder,
                    "the manager of OpenKruise Rollouts runs on this cluster: Rollouts and BatchReleases are left \
                     to it until it is stopped"
                );
                (self.wake)();
            }
            (true, None) => {
                info!("the manager of OpenKruise Rollouts has stopped");
                (self.wake)();
            }
            _ => {}
        }
    }

    fn put(&self, lease: LeaseSeen, now: Timestamp) {
        let mut leases = self.lock();
        let same = leases.get(&lease.key).is_some_and(|it| !it.facts.differs(&lease.facts));
        if !same {
            leases.insert(lease.key, Record { facts: lease.facts, since: now });
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Record>> {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Record {
    /// `None` where it was given back.
    fn until(&self) -> Option<Timestamp> {
        let length = SignedDuration::from_secs(self.facts.seconds.max(1));
        let until = self.since.saturating_add(length).unwrap_or(Timestamp::MAX);
        (!self.facts.holder.is_empty()).then_some(until)
    }
}

/// A Lease of the original's name.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Value")]
struct LeaseSeen {
    key: Key,
    facts: LeaseFacts,
}

impl From<Value> for LeaseSeen {
    fn from(lease: Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let metadata = &lease["metadata"];
        let key = Key::new(text(&metadata["namespace"]), text(&metadata["name"]));
        Self { key, facts: LeaseFacts::read(&lease) }
    }
}

impl Watched for LeaseSeen {
    fn resource_version(&self) -> &str {
        &self.facts.resource_version
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use serde_json::json;

    use super::*;

    fn lease(holder: &str, renewed: &str, version: u32) -> LeaseSeen {
        LeaseSeen::from(json!({
            "metadata": {"namespace": "kruise-rollout", "name": ORIGINAL_LEASE,
                "resourceVersion": version.to_string()},
            "spec": {"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": renewed},
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn it_runs_for_as_long_as_its_lease_is_renewed() {
        let clock = Clock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
        let woken = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&woken);
        let wake = Box::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let original = Original::new(clock.clone(), wake);
        let runs = || original.running(clock.now()).is_some();
        let pass = |seconds| tokio::time::sleep(std::time::Duration::from_secs(seconds));
        assert!(!runs());
        original.take(Seen::All(vec![lease("one", "a", 1)], "1".to_owned()));
        assert!(runs(), "nobody knows yet whether it is renewed");
        pass(10).await;
        original.take(Seen::Applied(lease("one", "b", 2)));
        pass(10).await;
        assert!(runs());
        // Another write to it is no sign of life.
        original.take(Seen::Applied(lease("one", "b", 3)));
        pass(5).await;
        assert!(!runs());
        original.take(Seen::Applied(lease("two", "c", 4)));
        assert!(runs());
        original.take(Seen::Applied(lease("", "d", 5)));
        assert!(!runs(), "it was given back");
        assert_eq!(woken.load(Ordering::Relaxed), 3);
    }
}
