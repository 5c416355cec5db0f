//! The loop around the looks: one task owns the queue and all memory, and lets a bounded number of
//! looks run at once.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use cluster::{Clock, Events, Front, Hands, Leadership, Original, Subject, Why};
use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use jiff::{SignedDuration, Timestamp};
use thiserror::Error;
use tokio::sync::watch;
use tracing::info;

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
}

impl State {
    fn new(shop: Shop) -> Self {
        Self {
            shop: Arc::new(shop),
            queue: Queue::default(),
            memories: BTreeMap::new(),
            overtaken: BTreeSet::new(),
            stands: BTreeMap::new(),
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
        while self.may_look() && looks.len() < concurrency {
            let Some(subject) = self.queue.take(now) else { break };
            let memory = self.memories.remove(&subject).unwrap_or_else(|| Memory::new(seed));
            let shop = Arc::clone(&self.shop);
            looks.push(async move { pass(&shop, subject, memory).await }.boxed());
        }
    }

    fn finish(&mut self, done: Done) {
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
        let next = self.queue.next().filter(|_| room && self.may_look());
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
