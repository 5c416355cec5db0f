//! The loop: what watches tell makes keys dirty, a dirty key is looked at, what it wants is sent.

use std::collections::BTreeMap;
use std::future::Future;
use std::ops::RangeInclusive;

use futures::future::BoxFuture;
use futures::stream::{BoxStream, FuturesUnordered, SelectAll};
use futures::{FutureExt, StreamExt};
use jiff::Timestamp;
use kube::Client;
use simcluster::behaviour::{Behaviour, Change};
use simcluster::driver::queue::{Queue, Slotted};
use simcluster::http::Clock;
use simcluster::object::Collection;
use tokio::sync::watch::Sender;

use crate::carry::{Carried, Hand, carry_out, request};
use crate::picture::{Owed, Picture};
use crate::resource::Kinds;
use crate::watch::{Told, watch};

/// Why a driver can't go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// It would act on an empty picture: a mistake of whoever made the driver.
    #[error("{actor} looks at {plural} of group {group:?}, which are not watched")]
    Unwatched {
        /// The component.
        actor: &'static str,
        /// API group, empty for core.
        group: String,
        /// Plural.
        plural: String,
    },
}

struct Slot {
    behaviour: Box<dyn Behaviour>,
    /// Milliseconds from a change to the look.
    latency: RangeInclusive<i64>,
}

/// A key that nobody looks at for now.
#[derive(Debug, Default)]
struct Held {
    /// Its writes are under way.
    sending: bool,
    /// What the picture has to show first.
    owed: Vec<Owed>,
    /// There was reason to look meanwhile.
    again: bool,
}

/// Behaviours before a server, with what they know of it and what they have to look at.
pub struct Driver {
    client: Client,
    clock: Clock,
    kinds: Kinds,
    slots: Vec<Slot>,
    queue: Queue,
    picture: Picture,
    /// Whether everything has been listed once: nobody looks before.
    whole: bool,
    watches: SelectAll<BoxStream<'static, (Collection, Told)>>,
    /// Asks for lists: how many have been asked for.
    lists: BTreeMap<Collection, Sender<u64>>,
    sending: FuturesUnordered<BoxFuture<'static, (Slotted, Carried)>>,
    /// Events about what was refused; nothing waits for them.
    asides: FuturesUnordered<BoxFuture<'static, ()>>,
    held: BTreeMap<Slotted, Held>,
    rng: fastrand::Rng,
}

impl Driver {
    /// Nothing runs yet. `collections` are all that the behaviours look at.
    pub fn new(
        client: Client,
        clock: Clock,
        kinds: Kinds,
        collections: &[Collection],
        seed: u64,
    ) -> Self {
        let mut watches = SelectAll::new();
        let mut lists = BTreeMap::new();
        for collection in collections {
            let (ask, asked) = tokio::sync::watch::channel(0);
            let told = watch(client.clone(), kinds.of(collection), asked);
            let of = collection.clone();
            watches.push(told.map(move |told| (of.clone(), told)).boxed());
            lists.insert(collection.clone(), ask);
        }
        Self {
            client,
            clock,
            kinds,
            slots: Vec::new(),
            queue: Queue::default(),
            picture: Picture::of(collections.iter().cloned()),
            whole: false,
            watches,
            lists,
            sending: FuturesUnordered::new(),
            asides: FuturesUnordered::new(),
            held: BTreeMap::new(),
            rng: fastrand::Rng::with_seed(seed),
        }
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

    /// Runs until told to stop; what is under way then is brought to its end.
    pub async fn drive(mut self, stop: impl Future<Output = ()>) -> Result<(), Failure> {
        tokio::pin!(stop);
        loop {
            self.run_due()?;
            let due = self.queue.next_due();
            let wait = due.map(|due| due.duration_since((self.clock)()));
            let wait = wait.map(|wait| wait.max(jiff::SignedDuration::ZERO).unsigned_abs());
            let sleep = async {
                match wait {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = &mut stop => break,
                Some((of, carried)) = self.sending.next(), if !self.sending.is_empty() => {
                    self.through(&of, carried);
                }
                Some((collection, told)) = self.watches.next() => self.hear(&collection, told)?,
                Some(()) = self.asides.next(), if !self.asides.is_empty() => {}
                () = sleep => {}
            }
        }
        while self.sending.next().await.is_some() {}
        Ok(())
    }

    fn run_due(&mut self) -> Result<(), Failure> {
        while let Some(of) = self.queue.take((self.clock)()) {
            match self.held.get_mut(&of) {
                Some(held) => held.again = true,
                None => self.look(of)?,
            }
        }
        Ok(())
    }

    fn hear(&mut self, collection: &Collection, told: Told) -> Result<(), Failure> {
        let mut changes = self.picture.take(collection, told);
        if !self.whole {
            if !self.picture.is_whole() {
                return Ok(());
            }
            self.whole = true;
            changes = self.picture.everything();
        }
        self.concern(&changes)?;
        let held: Vec<Slotted> = self.held.keys().cloned().collect();
        held.iter().for_each(|of| self.settle(of));
        Ok(())
    }

    fn concern(&mut self, changes: &[Change]) -> Result<(), Failure> {
        let now = (self.clock)();
        for change in changes {
            for (i, slot) in self.slots.iter().enumerate() {
                for key in slot.behaviour.concerns(&self.picture, change) {
                    let latency = self.rng.i64(slot.latency.clone());
                    self.queue.put_after((i, key), now, latency);
                }
                seen(&self.picture, slot.behaviour.name())?;
            }
        }
        Ok(())
    }

    fn look(&mut self, of: Slotted) -> Result<(), Failure> {
        let now = (self.clock)();
        let behaviour = &self.slots[of.0].behaviour;
        let actor = behaviour.name();
        let step = behaviour.step(&self.picture, &of.1, now, &mut self.rng);
        seen(&self.picture, actor)?;
        if let Some(wake) = step.wake {
            self.queue.put(of.clone(), wake.max(now));
        }
        if step.writes.is_empty() {
            self.queue.worked(&of);
            return Ok(());
        }
        let writes = step.writes.into_iter();
        let sent = writes.map(|write| request(&self.kinds, &self.picture, write, now)).collect();
        // Events may be about what no watch tells of.
        let _ = self.picture.blind_spot();
        let hand = Hand { client: self.client.clone(), actor };
        self.held.insert(of.clone(), Held { sending: true, ..Held::default() });
        self.sending.push(
            async move {
                let carried = carry_out(&hand, &of.1, sent).await;
                (of, carried)
            }
            .boxed(),
        );
        Ok(())
    }

    /// The writes of a look have been answered.
    fn through(&mut self, of: &Slotted, carried: Carried) {
        let Carried { refused, mut owed, unknown } = carried;
        owed.extend(unknown.into_iter().filter_map(|collection| {
            let ask = self.lists.get(&collection)?;
            ask.send_modify(|lists| *lists += 1);
            let asked = *ask.borrow();
            Some(Owed::Listed(collection, asked))
        }));
        let now = (self.clock)();
        match refused {
            None => self.queue.worked(of),
            Some(refusal) => {
                let error = &refusal.message;
                tracing::debug!(name = of.1.name, error, "a write failed, will be tried again");
                self.say_refused(of, &refusal, now);
                self.queue.failed(of.clone(), now);
            }
        }
        if let Some(held) = self.held.get_mut(of) {
            (held.sending, held.owed) = (false, owed);
        }
        self.settle(of);
    }

    fn say_refused(&self, of: &Slotted, refusal: &simcluster::behaviour::Refusal, now: Timestamp) {
        let behaviour = &self.slots[of.0].behaviour;
        let Some(said) = behaviour.refused(&of.1, refusal) else { return };
        let sent = request(&self.kinds, &self.picture, said, now);
        let hand = Hand { client: self.client.clone(), actor: behaviour.name() };
        self.asides.push(async move { hand.tell(&sent).await }.boxed());
    }

    /// Lets a key go once the picture shows what was written.
    fn settle(&mut self, of: &Slotted) {
        let Some(held) = self.held.get_mut(of) else { return };
        held.owed.retain(|owed| !self.picture.shows(owed));
        if held.sending || !held.owed.is_empty() {
            return;
        }
        if held.again {
            self.queue.put(of.clone(), (self.clock)());
        }
        self.held.remove(of);
    }
}

/// Fails if a behaviour looked where no watch looks.
fn seen(picture: &Picture, actor: &'static str) -> Result<(), Failure> {
    match picture.blind_spot() {
        None => Ok(()),
        Some(Collection { group, plural }) => {
            Err(Failure::Unwatched { actor, group: group.into(), plural: plural.into() })
        }
    }
}
