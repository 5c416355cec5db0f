//! Runs the behaviours: who has to look at what, and when.
//!
//! Every change makes keys dirty; a dirty key is looked at after a latency drawn from the seed, and
//! again when its step asks to be woken. Everything is ordered, so a seed fixes the whole history.

pub mod queue;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use jiff::{SignedDuration, Timestamp};

use crate::behaviour::account::Accounts;
use crate::behaviour::budget::Budgets;
use crate::behaviour::claim::Claims;
use crate::behaviour::daemonset::DaemonSets;
use crate::behaviour::definitions::Definitions;
use crate::behaviour::deployment::Deployments;
use crate::behaviour::garbage::Garbage;
use crate::behaviour::kruise::clone_set::CloneSets;
use crate::behaviour::kruise::daemon_set::AdvancedDaemonSets;
use crate::behaviour::kruise::stateful_set::AdvancedStatefulSets;
use crate::behaviour::kubelet::Kubelets;
use crate::behaviour::namespace::Namespaces;
use crate::behaviour::node::Nodes;
use crate::behaviour::publisher::Publisher;
use crate::behaviour::replicaset::ReplicaSets;
use crate::behaviour::scheduler::Scheduler;
use crate::behaviour::statefulset::StatefulSets;
use crate::behaviour::{Behaviour, Change, Refusal, Verb, Write};
use crate::error::ApiError;
use crate::http::Clock;
use crate::object::Key;
use crate::server::Server;
use queue::{Queue, Slotted};

/// Looks at one instant after which something must be turning in a circle.
const LOOKS_AT_ONCE: usize = 1_000_000;

/// How the standard behaviours conduct themselves.
#[derive(Clone, Debug)]
pub struct Conduct {
    /// Latencies, nodes and start-up times follow from it.
    pub seed: u64,
    /// How long a Pod takes to run when nothing says otherwise.
    pub start_up: SignedDuration,
}

struct Slot {
    behaviour: Box<dyn Behaviour>,
    /// Milliseconds from a change to the look.
    latency: RangeInclusive<i64>,
}

/// Behaviours on a server, with the queue of what they have to look at.
pub struct Driver {
    server: Arc<Server>,
    slots: Vec<Slot>,
    /// Everything up to this revision has been heard.
    cursor: u64,
    queue: Queue,
    /// Looks whose writes wait for a webhook. Nobody looks at such a key again before they are through.
    waiting: FuturesUnordered<BoxFuture<'static, (Slotted, Carried)>>,
    /// Events that wait for a webhook. Nothing waits for them.
    telling: FuturesUnordered<BoxFuture<'static, ()>>,
    /// Their keys, and whether there was reason to look again meanwhile.
    busy: BTreeMap<Slotted, bool>,
    rng: fastrand::Rng,
    /// Only there so that tests can count: looks taken so far.
    looks: u64,
}

impl Driver {
    /// Nothing runs yet.
    pub fn new(server: Arc<Server>, seed: u64) -> Self {
        Self {
            server,
            slots: Vec::new(),
            cursor: 0,
            queue: Queue::default(),
            waiting: FuturesUnordered::new(),
            telling: FuturesUnordered::new(),
            busy: BTreeMap::new(),
            rng: fastrand::Rng::with_seed(seed),
            looks: 0,
        }
    }

    /// Everything that runs behind a cluster of native kinds.
    pub fn standard(server: Arc<Server>, conduct: &Conduct) -> Self {
        Self::new(server, conduct.seed)
            .with(Definitions, 5..=20)
            .with(Scheduler::default(), 2..=10)
            .with(Kubelets::new(conduct.start_up, conduct.seed), 2..=10)
            .with(Claims, 10..=50)
            .with(StatefulSets, 10..=40)
            // These two follow each other's steps, the second always first: so a Deployment sees each
            // step of a rollout, not the sum of several, and a ReplicaSet each size that it is given.
            .with(Deployments::default(), 4..=8)
            .with(ReplicaSets::default(), 1..=3)
            .with(DaemonSets::default(), 10..=40)
            .with(Budgets, 10..=40)
            .with(Nodes::default(), 10..=50)
            .with(Garbage::default(), 20..=80)
            .with(Namespaces, 20..=80)
            .with(Accounts, 5..=20)
    }

    /// Adds what gives each namespace the cluster's certificate.
    #[must_use]
    pub fn with_publisher(self) -> Self {
        self.with(Publisher, 5..=20)
    }

    /// Adds the controllers of Kruise's workloads.
    #[must_use]
    pub fn with_kruise(self) -> Self {
        self.with(CloneSets, 10..=40)
            .with(AdvancedStatefulSets, 10..=40)
            .with(AdvancedDaemonSets::default(), 10..=40)
    }

    /// Adds a behaviour that looks some milliseconds after a change.
    #[must_use]
    pub fn with(
        mut self,
        behaviour: impl Behaviour + 'static,
        latency: RangeInclusive<i64>,
    ) -> Self {
        self.slots.push(Slot { behaviour: Box::new(behaviour), latency });
        self
    }

    /// Makes everything slower: changes are noticed up to this many times later, as behind a busy
    /// control plane.
    #[must_use]
    pub fn slowed(mut self, factor: i64) -> Self {
        for slot in &mut self.slots {
            let (first, last) = (*slot.latency.start(), *slot.latency.end());
            slot.latency = first..=(last * factor.max(1));
        }
        self
    }

    /// Takes every look that is due, and those that follow from them at the same instant.
    pub fn run_due(&mut self, now: Timestamp) {
        self.hear(now);
        for _ in 0..LOOKS_AT_ONCE {
            let Some((slot, key)) = self.queue.take(now) else { return };
            match self.busy.get_mut(&(slot, key.clone())) {
                Some(again) => *again = true,
                None => self.look(slot, key, now),
            }
            self.hear(now);
        }
        panic!("behaviours keep each other busy at {now}: {:?}", self.queue.first());
    }

    /// When the next look is due.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.queue.next_due()
    }

    /// How many looks have been taken.
    pub fn looks(&self) -> u64 {
        self.looks
    }

    /// Runs for ever, on tokio's paused clock as on the real one.
    pub async fn drive(mut self, clock: Clock) {
        let changed = self.server.changed();
        loop {
            self.run_due(clock());
            let notified = changed.notified();
            tokio::pin!(notified);
            // Listens before the last look at the log: nothing falls in between.
            notified.as_mut().enable();
            if self.hear(clock()) {
                continue;
            }
            let due = self.next_due();
            if due.is_some_and(|due| due <= clock()) {
                continue;
            }
            let wait = due.map(|due| due.duration_since(clock()).unsigned_abs());
            let sleep = async {
                match wait {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                Some((of, carried)) = self.waiting.next(), if !self.waiting.is_empty() => {
                    self.through(of, carried, clock());
                }
                Some(()) = self.telling.next(), if !self.telling.is_empty() => {
                    // As with every write, what comes of it is heard in the next round.
                }
                () = &mut notified => {}
                () = sleep => {}
            }
        }
    }

    /// Takes in what has changed since, and says whether anything had.
    fn hear(&mut self, now: Timestamp) -> bool {
        let (mut changes, cursor) = self.server.changes_since(self.cursor);
        if cursor == self.cursor {
            return false;
        }
        // Each revision is one change: fewer means that the log has been cut behind our back.
        let expected = cursor - self.cursor.max(1);
        if changes.len() as u64 != expected {
            changes = self.everything();
        }
        self.cursor = cursor;
        let mut dirty = Vec::new();
        {
            let view = self.server.view();
            for change in &changes {
                for (i, slot) in self.slots.iter().enumerate() {
                    let keys = slot.behaviour.concerns(&*view, change);
                    dirty.extend(keys.into_iter().map(|key| (i, key)));
                }
            }
        }
        for (slot, key) in dirty {
            let latency = self.rng.i64(self.slots[slot].latency.clone());
            self.queue.put_after((slot, key), now, latency);
        }
        true
    }

    fn everything(&self) -> Vec<Change> {
        let inner = self.server.lock();
        let mut all = Vec::new();
        let collections: BTreeSet<_> =
            inner.registry.iter().map(|kind| kind.collection()).collect();
        for collection in collections {
            all.extend(inner.store.list_after(&collection, None, None).map(|object| Change {
                key: Key::of(collection.clone(), object),
                before: None,
                after: Some(object.clone()),
            }));
        }
        all
    }

    fn look(&mut self, slot: usize, key: Key, now: Timestamp) {
        self.looks += 1;
        let behaviour = &self.slots[slot].behaviour;
        let step = {
            let view = self.server.view();
            behaviour.step(&*view, &key, now, &mut self.rng)
        };
        if let Some(wake) = step.wake {
            self.queue.put((slot, key.clone()), wake.max(now));
        }
        let (server, actor, of) =
            (self.server.clone(), self.slots[slot].behaviour.name(), (slot, key));
        let waiting = of.clone();
        let mut carried = async move {
            let carried = carry_out(server, actor, &of.1, step.writes, now).await;
            (of, carried)
        }
        .boxed();
        match (&mut carried).now_or_never() {
            Some((of, carried)) => self.through(of, carried, now),
            None => {
                self.busy.insert(waiting, false);
                self.waiting.push(carried);
            }
        }
    }

    /// Says what was refused and tries again; and looks again at what has changed meanwhile.
    fn through(&mut self, of: Slotted, carried: Carried, now: Timestamp) {
        self.telling.extend(carried.telling);
        let (slot, key) = of.clone();
        if self.busy.remove(&of) == Some(true) {
            self.queue.put(of.clone(), now);
        }
        let Some(refusal) = carried.refused else {
            self.queue.worked(&of);
            return;
        };
        let behaviour = &self.slots[slot].behaviour;
        let actor = behaviour.name();
        if let Some(said) = behaviour.refused(&key, &refusal) {
            self.telling.extend(tell(self.server.clone(), said, actor, now));
        }
        let error = &refusal.message;
        tracing::debug!(actor, name = key.name, error, "a write failed, will be tried again");
        self.queue.failed(of, now);
    }
}

/// What became of the writes of one look.
#[derive(Default)]
struct Carried {
    /// The first that was refused.
    refused: Option<Refusal>,
    /// Events that are still on their way.
    telling: Vec<BoxFuture<'static, ()>>,
}

/// Carries out the writes of one look, in order.
async fn carry_out(
    server: Arc<Server>,
    actor: &'static str,
    key: &Key,
    writes: Vec<Write>,
    now: Timestamp,
) -> Carried {
    let mut carried = Carried::default();
    for write in writes {
        let (verb, target) = write.target();
        // What is refused ends the step, but not what it knows: controllers note a status all the same.
        let status = matches!(write, Write::Update { subresource: Some("status"), .. });
        if carried.refused.is_some() && !(status && target == *key) {
            continue;
        }
        if verb == Verb::Event {
            carried.telling.extend(tell(server.clone(), write, actor, now));
            continue;
        }
        let error = server.carry(write, actor, now).await.err().filter(|e| !harmless(e));
        let refused = error.map(|e| Refusal { verb, key: target, message: e.message });
        carried.refused = carried.refused.or(refused);
    }
    carried
}

/// Says something; what is left of it if a webhook has to be asked. Nobody hears of an Event that the
/// server refuses, and no step ends on it.
fn tell(
    server: Arc<Server>,
    event: Write,
    actor: &'static str,
    now: Timestamp,
) -> Option<BoxFuture<'static, ()>> {
    let mut told = async move {
        if let Err(error) = server.carry(event, actor, now).await {
            tracing::debug!(actor, error = error.message, "an Event was refused");
        }
    }
    .boxed();
    (&mut told).now_or_never().is_none().then_some(told)
}

/// What is gone already need not be deleted: the rest of the step goes on.
fn harmless(error: &ApiError) -> bool {
    error.code == 404
}

#[cfg(test)]
mod tests;
