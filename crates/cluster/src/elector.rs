//! Takes part in an election by Lease and tells whether this process leads.
//!
//! RBAC: `get`, `create` and `update` on `leases` in the operator's own namespace.
//!
//! A leader that cannot renew stops by its own clock, before others may take over; it need not hear
//! from the API server to know that it has lost.

use std::time::Duration;

use http::Method;
use jiff::Timestamp;
use kube::Client;
use serde_json::Value;
use tokio::sync::watch;
use tracing::{info, warn};

use crate::clock::Clock;
use crate::error::Error;
use crate::lease::{Durations, Judgement, LeaseFacts, evaluate};
use crate::wire::{self, Ask, Content};

/// The name of the Lease.
pub const NAME: &str = "sluice";

/// How often giving the lease back is tried when it has changed in the meantime.
const RELEASES: usize = 3;

/// Whether this process leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leadership {
    /// Whether it does, as of the last attempt.
    pub leading: bool,
    /// Until when, if no renewal succeeds.
    pub valid_until: Timestamp,
}

impl Leadership {
    /// Leads for ever: where there is no election.
    pub const ALONE: Self = Self { leading: true, valid_until: Timestamp::MAX };
    /// Does not.
    pub const NOT: Self = Self { leading: false, valid_until: Timestamp::MIN };

    /// Whether it leads at this moment.
    pub fn holds(&self, now: Timestamp) -> bool {
        self.leading && now < self.valid_until
    }
}

/// One candidate.
pub struct Elector {
    client: Client,
    clock: Clock,
    me: String,
    namespace: String,
    durations: Durations,
    rng: fastrand::Rng,
    tell: watch::Sender<Leadership>,
    /// The lease as it was last read or written, and since when it has been the same.
    known: Option<(LeaseFacts, Timestamp)>,
}

impl Elector {
    /// A candidate of this identity, which no other may bear. `seed` spreads its attempts.
    pub fn new(
        client: Client,
        clock: Clock,
        me: impl Into<String>,
        namespace: impl Into<String>,
        durations: Durations,
        seed: u64,
    ) -> (Self, watch::Receiver<Leadership>) {
        let (tell, hear) = watch::channel(Leadership::NOT);
        let elector = Self {
            client,
            clock,
            me: me.into(),
            namespace: namespace.into(),
            durations,
            rng: fastrand::Rng::with_seed(seed),
            tell,
            known: None,
        };
        (elector, hear)
    }

    /// Takes part until `stop`, then gives the lease back if it has it.
    ///
    /// By then nothing may act any more: whoever waits for the lease takes over at once.
    pub async fn run(mut self, stop: impl Future<Output = ()>) {
        tokio::pin!(stop);
        let mut cut_off = false;
        loop {
            let pause = tokio::select! {
                biased;
                () = &mut stop => {
                    // It may have taken or renewed the lease all the same.
                    cut_off = true;
                    self.known = None;
                    break;
                }
                pause = self.attempt() => pause,
            };
            tokio::select! {
                biased;
                () = &mut stop => break,
                () = tokio::time::sleep(pause) => {}
            }
        }
        let led = self.tell.borrow().leading;
        self.announce(Leadership::NOT);
        if led || cut_off {
            self.release().await;
        }
    }

    /// One attempt, given up in time for a leader to notice that it has lost; the pause until the
    /// next.
    async fn attempt(&mut self) -> Duration {
        let current = *self.tell.borrow();
        let now = self.clock.now();
        if current.leading && !current.holds(now) {
            warn!(me = self.me, "could not renew the lease in time: no longer leading");
            self.announce(Leadership::NOT);
            return Duration::ZERO;
        }
        let left = if current.leading {
            Duration::try_from(current.valid_until.duration_since(now)).unwrap_or_default()
        } else {
            wire::TIME_OUT
        };
        // One answer that is lost must leave time for a second attempt.
        let half = Duration::try_from(self.durations.renew_deadline / 2).unwrap_or(wire::TIME_OUT);
        match tokio::time::timeout(left.min(half), self.try_once(now)).await {
            Ok(Ok(leadership)) => self.announce(leadership),
            // The other candidate was faster; what it wrote is read at the next attempt.
            Ok(Err(error)) if error.is_conflict() => self.known = None,
            Ok(Err(error)) => warn!(me = self.me, %error, "cannot renew or read the lease"),
            Err(_) => warn!(me = self.me, "no answer about the lease in time"),
        }
        let spread = self.durations.retry.as_secs_f64() * (1.0 + 0.2 * self.rng.f64());
        let pause = Duration::from_secs_f64(spread);
        let current = *self.tell.borrow();
        if !current.leading {
            return pause;
        }
        let left = current.valid_until.duration_since(self.clock.now());
        pause.min(Duration::try_from(left).unwrap_or_default())
    }

    /// `sent` is when the attempt began: a leader counts from there, not from the answer.
    async fn try_once(&mut self, sent: Timestamp) -> Result<Leadership, Error> {
        let leading = self.tell.borrow().leading;
        // A leader knows its lease: it writes without reading, and a conflict tells if it is wrong.
        if !(leading && self.known.is_some()) {
            let read = self.read().await?;
            self.note(read, sent);
        }
        let known = self.known.as_ref();
        let seen_since = known.map_or(sent, |(_, since)| *since);
        let lease = known.map(|(lease, _)| lease);
        match evaluate(lease, seen_since, &self.me, sent) {
            Judgement::Yield { .. } => Ok(Leadership::NOT),
            Judgement::Acquire | Judgement::Renew => {
                let next = LeaseFacts::held_by(lease, &self.me, sent, &self.durations);
                let written = self.write(&next).await?;
                self.known = Some((written, sent));
                let valid_until =
                    sent.saturating_add(self.durations.renew_deadline).unwrap_or(Timestamp::MAX);
                Ok(Leadership { leading: true, valid_until })
            }
        }
    }

    fn note(&mut self, read: Option<LeaseFacts>, now: Timestamp) {
        self.known = match (read, self.known.take()) {
            (None, _) => None,
            (Some(read), Some((known, since))) if !read.differs(&known) => Some((read, since)),
            (Some(read), _) => Some((read, now)),
        };
    }

    async fn read(&self) -> Result<Option<LeaseFacts>, Error> {
        match self.request("get", Method::GET, None).await {
            Ok(lease) => Ok(Some(LeaseFacts::read(&lease))),
            Err(error) if error.is_gone() => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn write(&self, lease: &LeaseFacts) -> Result<LeaseFacts, Error> {
        let document = lease.document(&self.namespace, NAME);
        let (verb, method) = if lease.resource_version.is_empty() {
            ("create", Method::POST)
        } else {
            ("update", Method::PUT)
        };
        let written = self.request(verb, method, Some(&document)).await?;
        Ok(LeaseFacts::read(&written))
    }

    async fn request(
        &self,
        verb: &'static str,
        method: Method,
        body: Option<&Value>,
    ) -> Result<Value, Error> {
        let leases = format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases", self.namespace);
        let path = if method == Method::POST { leases } else { format!("{leases}/{NAME}") };
        let object = format!("Lease {}/{NAME}", self.namespace);
        let ask = Ask { verb, object: &object, method, path, content: Content::Json, body };
        wire::ask(&self.client, &ask).await
    }

    async fn release(&mut self) {
        let mut known = match self.known.take() {
            Some((lease, _)) => Some(lease),
            None => self.read().await.ok().flatten(),
        };
        for _ in 0..RELEASES {
            let Some(lease) = known.filter(|lease| lease.holder == self.me) else { return };
            match self.write(&lease.released(self.clock.now())).await {
                Ok(_) => return info!(me = self.me, "gave the lease back"),
                // What was cut off has only now gone through.
                Err(error) if error.is_conflict() => known = self.read().await.ok().flatten(),
                Err(error) => {
                    return warn!(me = self.me, %error, "could not give the lease back; it expires");
                }
            }
        }
        warn!(me = self.me, "could not give the lease back; it expires");
    }

    fn announce(&self, next: Leadership) {
        let before = self.tell.send_replace(next);
        if before.leading != next.leading {
            info!(me = self.me, leading = next.leading, "leadership changed");
        }
    }
}
