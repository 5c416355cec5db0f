//! What the loop is handed, and what its looks share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use cluster::{Caches, Clock, Front, Hands, Leadership, Original, Subject, Why};
use jiff::Timestamp;
use kube::Client;
use tokio::sync::{Notify, watch};

use crate::gates::Gates;
use crate::metrics::Metrics;
use crate::outbox::Outbox;

/// How the loop is set.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What decisions are made by.
    pub engine: engine::world::Settings,
    /// The same, of Rollouts.
    pub rollout: engine::front::rollout::Settings,
    /// What is switched on and off.
    pub gates: Gates,
    /// The namespace to serve; `None` for all.
    pub namespace: Option<String>,
    /// How many rollouts are looked at at once.
    pub concurrency: usize,
    /// Spreads pauses after failures; the same seed gives the same pauses.
    pub seed: u64,
    /// Who we are in Events.
    pub identity: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            engine: engine::world::Settings::default(),
            rollout: engine::front::rollout::Settings::default(),
            gates: Gates::default(),
            namespace: None,
            concurrency: 16,
            seed: 0,
            identity: "sluice".to_owned(),
        }
    }
}

/// All that the loop is handed.
#[derive(Clone)]
pub struct Context {
    /// Talks to the API server; must not retry by itself.
    pub client: Client,
    /// Says what time it is.
    pub clock: Clock,
    /// How the loop is set.
    pub settings: Settings,
    /// Whether this process may write.
    pub leadership: watch::Receiver<Leadership>,
    /// What is counted.
    pub metrics: Metrics,
    /// What is known of the cluster, and who is to be looked at.
    pub attention: Attention,
}

impl Context {
    /// Whether this process may write now, by its own clock.
    pub fn leads(&self) -> bool {
        self.leadership.borrow().holds(self.clock.now())
    }
}

/// Which rollouts are to be looked at, as the caches say. Clones share it.
#[derive(Clone)]
pub struct Attention {
    /// The caches that feed it.
    pub caches: Arc<Caches>,
    woken: Arc<Mutex<BTreeMap<Subject, Why>>>,
    rung: Arc<Notify>,
    /// Weak, as it wakes those that are woken here.
    original: Arc<OnceLock<Weak<Original>>>,
}

impl Attention {
    /// Empty caches that call for attention.
    #[expect(clippy::new_without_default, reason = "it makes caches, not a default value")]
    pub fn new() -> Self {
        let woken: Arc<Mutex<BTreeMap<Subject, Why>>> = Arc::default();
        let rung = Arc::new(Notify::new());
        let (inner, bell) = (Arc::clone(&woken), Arc::clone(&rung));
        let caches = Caches::new(Box::new(move |subject, why| {
            let mut woken = inner.lock().unwrap_or_else(PoisonError::into_inner);
            let entry = woken.entry(subject.clone()).or_insert(why);
            *entry = (*entry).max(why);
            bell.notify_one();
        }));
        Self { caches, woken, rung, original: Arc::default() }
    }

    /// Hands in who knows whether the original's manager runs.
    pub(crate) fn ask(&self, original: &Arc<Original>) {
        // A second loop over one set of caches knows the same.
        let _ = self.original.set(Arc::downgrade(original));
    }

    /// Whether the original's manager runs, so that its resources and workloads are left to it.
    pub(crate) fn original_runs(&self, now: Timestamp) -> bool {
        let original = self.original.get().and_then(Weak::upgrade);
        original.is_some_and(|original| original.running(now).is_some())
    }

    /// Resolves when somebody was woken.
    pub(crate) async fn rung(&self) {
        self.rung.notified().await;
    }

    /// Wakes all that stand aside while the original's manager runs.
    pub(crate) fn wake_batches(&self) {
        let batches = self.caches.subjects().into_iter();
        let batches = batches.filter(|subject| subject.front != Front::StatefulsetRollout);
        let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        for subject in batches {
            woken.entry(subject).or_insert(Why::Event);
        }
        self.rung.notify_one();
    }

    /// Who was woken since, and why.
    pub(crate) fn take(&self) -> BTreeMap<Subject, Why> {
        std::mem::take(&mut *self.woken.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What every look shares.
pub(crate) struct Shop {
    pub(crate) context: Context,
    pub(crate) hands: Hands,
    pub(crate) outbox: Outbox,
    /// Whether the original's manager runs.
    pub(crate) original: Arc<Original>,
}
