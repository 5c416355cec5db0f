//! The loop around the looks: one task owns the queue and all memory, and lets a bounded number of
//! looks run at once.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use cluster::observe::orphans::{Orphan, orphans};
use cluster::{Clock, Events, Front, Hands, Leadership, Original, Subject, Told, Why};
use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use jiff::{SignedDuration, Timestamp};
use thiserror::Error;
use tokio::sync::watch;
use tracing::{info, warn};

use crate::context::{Context, Settings, Shop};
use crate::memory::Memory;
use crate::metrics::Stand;
use crate::outbox::Outbox;
use crate::pass::{Done, pass};
use crate::queue::Queue;

/// The lease was lost: somebody else may act now, so this process must not.
#[derive(Debug, Error)]
#[error("the lease was lost")]
pub struct Lost;

/// Batches have no interval: as many events as come within this time are one.
const BATCHES: SignedDuration = SignedDuration::from_millis(200);

/// How long after the end of a Rollout its workload is looked for: watches of two kinds keep no pace with
/// each other.
const SETTLED: SignedDuration = SignedDuration::from_secs(5);

/// How long a look that is under way may take to end when the loop is told to stop.
const GRACE: Duration = Duration::from_secs(15);

/// Serves rollouts until `shutdown` resolves, then lets the looks under way end.
///
/// Watches run from the start; looks are taken only while the lease is held. Once it was held and is
/// lost, everything under way is dropped at once.
pub async fn run(context: Context, shutdown: impl Future<Output = ()>) -> Result<(), Lost> {
    let namespace = context.settings.namespace.as_deref();
    let watches =
        context.attention.caches.watches(&context.client, namespace, context.settings.seed);
    let mut watches: FuturesUnordered<_> = watches.into_iter().map(|(_, watch)| watch).collect();
    let hands = Hands { client: context.client.clone(), clock: context.clock.clone() };
    let (outbox, empty) = Outbox::new(Events::new(hands.clone(), &context.settings.identity));
    watches.push(empty.boxed());
    let attention = context.attention.clone();
    let original = Original::new(context.clock.clone(), Box::new(move || attention.wake_batches()));
    context.attention.ask(&original);
    watches.push(original.watch(&context.client, namespace, context.settings.seed));
    let mut shutdown = pin!(shutdown);
    let mut lease = Lease::of(&context);
    let mut looks = Looks::new();
    let mut state = State::new(Shop { context, hands, outbox, original });
    loop {
        state.start(&mut looks);
        let (alarm, rung) = (state.alarm(looks.len()), state.rung());
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            lost = lease.change() => lost?,
            Some(done) = looks.next() => state.finish(done),
            () = rung => {}
            Some(()) = watches.next() => {}
            () = alarm => {}
        }
    }
    info!(looks = looks.len(), "stopping");
    let end = async {
        loop {
            tokio::select! {
                biased;
                lost = lease.change() => lost?,
                done = looks.next() => if done.is_none() { return Ok(()) },
            }
        }
    };
    tokio::time::timeout(GRACE, end).await.unwrap_or(Ok(()))
}

type Looks = FuturesUnordered<BoxFuture<'static, Done>>;

/// What the loop's one task owns.
struct State {
    shop: Arc<Shop>,
    queue: Queue,
    memories: BTreeMap<Subject, Memory>,
    /// Those that something happened around while they were being looked at.
    overtaken: BTreeSet<Subject>,
    stands: BTreeMap<Subject, Stand>,
    /// Workloads whose release nobody goes on with.
    orphans: BTreeSet<Orphan>,
    /// When they are looked for again: somebody has gone.
    sweep: Option<Timestamp>,
}

impl State {
    fn new(shop: Shop) -> Self {
        Self {
            shop: Arc::new(shop),
            queue: Queue::default(),
            memories: BTreeMap::new(),
            overtaken: BTreeSet::new(),
            stands: BTreeMap::new(),
            orphans: BTreeSet::new(),
            sweep: Some(Timestamp::MIN),
        }
    }

    /// Least time between two looks that only events ask for.
    fn interval(&self, subject: &Subject) -> SignedDuration {
        match subject.front {
            Front::StatefulsetRollout => self.shop.context.settings.engine.interval,
            Front::Rollout | Front::BatchRelease => BATCHES,
        }
    }

    fn may_look(&self) -> bool {
        self.shop.context.leads() && self.shop.context.attention.caches.ready()
    }

    /// Takes in who was woken, and starts looks as far as there is room.
    fn start(&mut self, looks: &mut Looks) {
        let now = self.shop.context.clock.now();
        let Settings { concurrency, seed, .. } = self.shop.context.settings;
        for (subject, why) in self.shop.context.attention.take() {
            if why == Why::Event && self.queue.is_running(&subject) {
                // Its memory is with the look: what comes after is paced when that is over.
                self.overtaken.insert(subject);
                continue;
            }
            let at = match (why, self.memories.get(&subject)) {
                (Why::Event, Some(memory)) => memory.settled_at(now, self.interval(&subject)),
                _ => now,
            };
            self.queue.ask(&subject, at);
        }
        self.shop.context.metrics.leading(self.shop.context.leads());
        self.shop.context.metrics.queue_length(self.queue.len());
        if self.may_look() && self.sweep.is_some_and(|at| at <= now) {
            self.find_orphans(now);
        }
        while self.may_look() && looks.len() < concurrency {
            let Some(subject) = self.queue.take(now) else { break };
            let memory = self.memories.remove(&subject).unwrap_or_else(|| Memory::new(seed));
            let shop = Arc::clone(&self.shop);
            looks.push(async move { pass(&shop, subject, memory).await }.boxed());
        }
    }

    /// Tells of workloads that are marked by a release that is no more.
    fn find_orphans(&mut self, now: Timestamp) {
        let first = self.sweep.take() == Some(Timestamp::MIN);
        if first {
            // What was listed first may be older than what was listed last.
            self.sweep = now.checked_add(SETTLED).ok();
            return;
        }
        let found: BTreeSet<Orphan> =
            orphans(&self.shop.context.attention.caches).into_iter().collect();
        for orphan in found.difference(&self.orphans) {
            let note = orphan.text();
            warn!(workload = %orphan.workload, "{note}");
            let (reason, action) = ("ReleaseGone".to_owned(), "Hold".to_owned());
            let told = Told { warning: true, reason, action, note };
            self.shop.outbox.put(&orphan.workload, &orphan.uid, vec![told]);
        }
        self.shop.context.metrics.orphans(found.len());
        self.orphans = found;
    }

    fn finish(&mut self, done: Done) {
        if self.sweep.is_none() && (done.memory.is_none() || !self.orphans.is_empty()) {
            self.sweep = self.shop.context.clock.now().checked_add(SETTLED).ok();
        }
        self.queue.over(&done.subject);
        let before = self.stands.remove(&done.subject);
        self.shop.context.metrics.stands(before.as_ref(), done.stand.as_ref());
        if let Some(stand) = done.stand {
            self.stands.insert(done.subject.clone(), stand);
        }
        if let Some(wake) = done.wake {
            self.queue.ask(&done.subject, wake);
        }
        if self.overtaken.remove(&done.subject) {
            let now = self.shop.context.clock.now();
            let interval = self.interval(&done.subject);
            let at = done.memory.as_ref().map_or(now, |memory| memory.settled_at(now, interval));
            self.queue.ask(&done.subject, at);
        }
        if let Some(memory) = done.memory {
            self.memories.insert(done.subject, memory);
        }
    }

    /// Resolves when the next rollout is due.
    fn alarm(&self, looks: usize) -> impl Future<Output = ()> + use<> {
        let room = looks < self.shop.context.settings.concurrency;
        let due = self.queue.next().filter(|_| room);
        let next = [due, self.sweep].into_iter().flatten().min().filter(|_| self.may_look());
        let pause = next.map(|at| until(at, self.shop.context.clock.now()));
        async move {
            match pause {
                Some(pause) => tokio::time::sleep(pause).await,
                None => std::future::pending().await,
            }
        }
    }

    fn rung(&self) -> impl Future<Output = ()> + use<> {
        let attention = self.shop.context.attention.clone();
        async move { attention.rung().await }
    }
}

/// Whether this process may write, followed over time.
struct Lease {
    leadership: watch::Receiver<Leadership>,
    clock: Clock,
    led: bool,
}

impl Lease {
    fn of(context: &Context) -> Self {
        let (leadership, clock) = (context.leadership.clone(), context.clock.clone());
        Self { leadership, clock, led: false }
    }

    /// Resolves when something about the lease has changed: `Lost` once it was held and is not.
    async fn change(&mut self) -> Result<(), Lost> {
        let (known, now) = (*self.leadership.borrow_and_update(), self.clock.now());
        let held = known.holds(now);
        match (self.led, held) {
            (true, false) => return Err(Lost),
            (false, true) => {
                self.led = true;
                return Ok(());
            }
            _ => {}
        }
        let expiry = async {
            if held && known.valid_until < Timestamp::MAX {
                tokio::time::sleep(until(known.valid_until, now)).await;
            } else {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            biased;
            () = expiry => {}
            changed = self.leadership.changed() => if changed.is_err() {
                // Nobody is left to renew it: it holds until it runs out.
                match known.valid_until < Timestamp::MAX {
                    true => tokio::time::sleep(until(known.valid_until, now)).await,
                    false => std::future::pending().await,
                }
            }
        }
        Ok(())
    }
}

/// How long until then; at least the grain of the timer, so that no loop spins.
fn until(at: Timestamp, now: Timestamp) -> Duration {
    let pause = Duration::try_from(at.duration_since(now)).unwrap_or_default();
    pause.max(Duration::from_millis(1))
}
