//! Faults between one client and the server, drawn from a seed.
//!
//! [`Faults::wrap`] gives a Router that behaves like the one inside, except that requests meet
//! conflicts, throttling, errors, lost answers, dropped and expired watches, stale lists and delays;
//! and that a hook may stop the client dead before or after any write. Other clients, with the
//! Router as it was, meet none of that.

mod answer;
mod request;
mod serve;
mod watch;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use bytes::Bytes;
use http::{HeaderMap, Method};
use tokio::sync::Notify;

pub use self::request::Asked;

/// How likely each fault is for a request that it can befall, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// 409 "the object has been modified" to a PUT or PATCH, which is not carried out.
    pub conflict: f64,
    /// 429 in plain text with Retry-After 1, as priority and fairness sends it.
    pub throttled: f64,
    /// 429 as a Status, without Retry-After and without causes.
    pub too_many: f64,
    /// 500 InternalError.
    pub server_error: f64,
    /// 503 ServiceUnavailable.
    pub unavailable: f64,
    /// 504 to a write that has taken effect.
    pub lost_answer: f64,
    /// A watch that ends early, without a word.
    pub dropped_watch: f64,
    /// A watch that ends with an ERROR event of code 410.
    pub expired_watch: f64,
    /// A list answered with an earlier answer to the same request.
    pub stale_list: f64,
    /// A delay before the request or before its answer.
    pub slow: f64,
}

impl Rates {
    /// Nothing goes wrong.
    pub const NONE: Self = Self {
        conflict: 0.0,
        throttled: 0.0,
        too_many: 0.0,
        server_error: 0.0,
        unavailable: 0.0,
        lost_answer: 0.0,
        dropped_watch: 0.0,
        expired_watch: 0.0,
        stale_list: 0.0,
        slow: 0.0,
    };

    /// Every fault at the same rate.
    pub const fn all(rate: f64) -> Self {
        Self {
            conflict: rate,
            throttled: rate,
            too_many: rate,
            server_error: rate,
            unavailable: rate,
            lost_answer: rate,
            dropped_watch: rate,
            expired_watch: rate,
            stale_list: rate,
            slow: rate,
        }
    }

    fn of(&self, fault: Fault) -> f64 {
        match fault {
            Fault::Conflict => self.conflict,
            Fault::Throttled => self.throttled,
            Fault::TooMany => self.too_many,
            Fault::ServerError => self.server_error,
            Fault::Unavailable => self.unavailable,
            Fault::LostAnswer => self.lost_answer,
            Fault::DroppedWatch => self.dropped_watch,
            Fault::ExpiredWatch => self.expired_watch,
            Fault::StaleList => self.stale_list,
            Fault::Slow => self.slow,
        }
    }
}

/// What can go wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// See [`Rates::conflict`].
    Conflict,
    /// See [`Rates::throttled`].
    Throttled,
    /// See [`Rates::too_many`].
    TooMany,
    /// See [`Rates::server_error`].
    ServerError,
    /// See [`Rates::unavailable`].
    Unavailable,
    /// See [`Rates::lost_answer`].
    LostAnswer,
    /// See [`Rates::dropped_watch`].
    DroppedWatch,
    /// See [`Rates::expired_watch`].
    ExpiredWatch,
    /// See [`Rates::stale_list`].
    StaleList,
    /// See [`Rates::slow`].
    Slow,
}

impl Fault {
    /// All, in the order in which they are drawn.
    pub const ALL: [Self; 10] = [
        Self::Conflict,
        Self::Throttled,
        Self::TooMany,
        Self::ServerError,
        Self::Unavailable,
        Self::LostAnswer,
        Self::DroppedWatch,
        Self::ExpiredWatch,
        Self::StaleList,
        Self::Slow,
    ];

    fn can_befall(self, asked: Asked) -> bool {
        match self {
            Self::Conflict => asked == Asked::Update,
            Self::Throttled | Self::TooMany | Self::ServerError | Self::Unavailable => true,
            Self::LostAnswer => asked.is_write(),
            Self::DroppedWatch | Self::ExpiredWatch => asked == Asked::Watch,
            Self::StaleList => asked == Asked::List,
            Self::Slow => true,
        }
    }
}

/// A seed and what to make of it.
#[derive(Clone, Debug)]
pub struct FaultPlan {
    /// Fixes every decision, given the order of requests.
    pub seed: u64,
    /// How likely each fault is.
    pub rates: Rates,
    /// The longest delay of a slow request.
    pub slowest: Duration,
    /// The longest that a watch lives which is to be dropped.
    pub watch_life: Duration,
}

impl FaultPlan {
    /// Delays of up to two seconds, and dropped watches that live up to a minute.
    pub fn new(seed: u64, rates: Rates) -> Self {
        Self { seed, rates, slowest: Duration::from_secs(2), watch_life: Duration::from_secs(60) }
    }

    /// The fault of the request with this number, if it meets one; depends on nothing else.
    pub fn decide(&self, number: u64, asked: Asked) -> Option<Fault> {
        let mut rng = self.rng(number);
        // One draw for each kind, suitable or not, so that a rate of one kind moves no other.
        let mut drawn = Fault::ALL.map(|fault| (fault, rng.f64())).into_iter();
        drawn
            .find(|(fault, draw)| fault.can_befall(asked) && *draw < self.rates.of(*fault))
            .map(|(fault, _)| fault)
    }

    /// Randomness for the request with this number.
    fn rng(&self, number: u64) -> fastrand::Rng {
        // An odd factor spreads neighbouring numbers over all seeds.
        fastrand::Rng::with_seed(self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

/// On which side of its effect a write is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// It has not reached the server.
    Before,
    /// It has taken effect (or been refused); the answer is not out.
    After,
}

/// One side of one write request.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The write's number among those of this layer, from 1.
    pub number: u64,
    /// Which side.
    pub when: When,
    /// POST, PUT, PATCH or DELETE.
    pub method: &'a Method,
    /// Without the query.
    pub path: &'a str,
}

/// What a hook wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Go on.
    Continue,
    /// The client dies here: neither this request nor any later one of the same Router is answered,
    /// and [`Faults::crashed`] fires.
    Crash,
}

type Hook = Arc<dyn Fn(Moment<'_>) -> Fate + Send + Sync>;
type Predicate = Arc<dyn Fn(&Method, &str) -> bool + Send + Sync>;
type Answers = VecDeque<(HeaderMap, Bytes)>;

/// The faults of one client over all its lives; cheap to clone.
#[derive(Clone)]
pub struct Faults {
    state: Arc<Mutex<State>>,
    crashed: Arc<Notify>,
}

struct State {
    plan: FaultPlan,
    hook: Option<Hook>,
    only: Option<Predicate>,
    refused: Option<Predicate>,
    requests: u64,
    writes: u64,
    log: Vec<String>,
    /// Earlier answers to lists, by request.
    lists: BTreeMap<String, Answers>,
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("Faults").field("plan", &state.plan).field("log", &state.log).finish()
    }
}

impl Faults {
    /// The faults of a plan; nothing is wrapped yet.
    pub fn new(plan: FaultPlan) -> Self {
        let state = State {
            plan,
            hook: None,
            only: None,
            refused: None,
            requests: 0,
            writes: 0,
            log: Vec::new(),
            lists: BTreeMap::new(),
        };
        Self { state: Arc::new(Mutex::new(state)), crashed: Arc::new(Notify::new()) }
    }

    /// A Router for one life of the client. After a crash, wrap again for the next life; numbers of
    /// requests and writes go on.
    pub fn wrap(&self, inner: Router) -> Router {
        serve::wrap(self.clone(), inner)
    }

    /// From now on other rates; [`Rates::NONE`] lets a run come to its end.
    pub fn set_rates(&self, rates: Rates) {
        self.state().plan.rates = rates;
    }

    /// Only requests for which this holds meet faults. Hooks and refusals are not affected.
    pub fn only(&self, predicate: impl Fn(&Method, &str) -> bool + Send + Sync + 'static) {
        self.state().only = Some(Arc::new(predicate));
    }

    /// Every request for which this holds is answered with 503 until [`Faults::accept`]: an outage,
    /// or (by path) a lease that can't be renewed. Watches that are open stay open.
    pub fn refuse(&self, predicate: impl Fn(&Method, &str) -> bool + Send + Sync + 'static) {
        self.state().refused = Some(Arc::new(predicate));
    }

    /// Ends what [`Faults::refuse`] began.
    pub fn accept(&self) {
        self.state().refused = None;
    }

    /// Asks a hook before and after each write.
    pub fn on_write(&self, hook: impl Fn(Moment<'_>) -> Fate + Send + Sync + 'static) {
        self.state().hook = Some(Arc::new(hook));
    }

    /// The client dies at one side of its n-th write (from 1), once.
    pub fn crash_at(&self, number: u64, when: When) {
        self.on_write(move |moment| {
            let here = moment.number == number && moment.when == when;
            if here { Fate::Crash } else { Fate::Continue }
        });
    }

    /// Completes once for each crash; a crash that nobody waits for yet is kept.
    pub async fn crashed(&self) {
        self.crashed.notified().await;
    }

    /// How many writes have been asked for.
    pub fn writes(&self) -> u64 {
        self.state().writes
    }

    /// How many requests have been made, watches included.
    pub fn requests(&self) -> u64 {
        self.state().requests
    }

    /// What went wrong so far, a line each: number, method, path, fault.
    pub fn log(&self) -> Vec<String> {
        self.state().log.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
