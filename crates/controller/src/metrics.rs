//! What is counted. Labels are words of ours, never names of objects: the number of series is fixed.

use cluster::Front;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// A word out of a fixed set.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Word {
    word: String,
}

impl Word {
    fn new(word: impl Into<String>) -> Self {
        Self { word: word.into() }
    }
}

/// The counters and gauges of the loop; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    passes: Counter,
    status_writes: Counter,
    actions: Family<Word, Counter>,
    disruptions: Family<Word, Counter>,
    errors: Family<Word, Counter>,
    rollouts: Family<Word, Gauge>,
    releases: Family<Word, Gauge>,
    blocked: Family<Word, Gauge>,
    leaked: Gauge,
    queued: Gauge,
    leading: Gauge,
    original: Gauge,
    orphans: Gauge,
    admissions: Family<Word, Counter>,
}

impl Metrics {
    /// Registers everything under `sluice_`.
    pub fn register(&self, registry: &mut Registry) {
        let r = registry.sub_registry_with_prefix("sluice");
        r.register("passes", "Looks at a rollout", self.passes.clone());
        r.register("status_writes", "Status writes that went through", self.status_writes.clone());
        r.register("actions", "Actions taken, by kind", self.actions.clone());
        r.register(
            "disruptions",
            "Evictions and deletes, by what came of them",
            self.disruptions.clone(),
        );
        r.register("errors", "Failed requests of the loop, by kind", self.errors.clone());
        r.register("rollouts", "Rollouts, by phase", self.rollouts.clone());
        r.register("releases", "BatchReleases, by phase", self.releases.clone());
        r.register(
            "rollouts_blocked",
            "Rollouts that wait for somebody, by reason",
            self.blocked.clone(),
        );
        r.register("leaked_pods", "Pods at a revision that no step released", self.leaked.clone());
        r.register("queue_length", "Rollouts in the queue", self.queued.clone());
        r.register("leading", "Whether this process holds the lease", self.leading.clone());
        r.register(
            "workloads_orphaned",
            "Workloads marked by a release whose Rollout and BatchRelease are gone",
            self.orphans.clone(),
        );
        r.register(
            "original_running",
            "Whether the manager of OpenKruise Rollouts runs, so that batches are left to it",
            self.original.clone(),
        );
        r.register("admissions", "Admission reviews, by verdict", self.admissions.clone());
    }

    pub(crate) fn pass(&self) {
        self.passes.inc();
    }

    pub(crate) fn status_write(&self) {
        self.status_writes.inc();
    }

    pub(crate) fn action(&self, name: &str) {
        self.actions.get_or_create(&Word::new(name)).inc();
    }

    pub(crate) fn disruptions(&self, what: &str, pods: usize) {
        let pods = u64::try_from(pods).unwrap_or(u64::MAX);
        self.disruptions.get_or_create(&Word::new(what)).inc_by(pods);
    }

    pub(crate) fn error(&self, name: &str) {
        self.errors.get_or_create(&Word::new(name)).inc();
    }

    pub(crate) fn queue_length(&self, rollouts: usize) {
        self.queued.set(i64::try_from(rollouts).unwrap_or(i64::MAX));
    }

    pub(crate) fn leading(&self, leading: bool) {
        self.leading.set(leading.into());
    }

    pub(crate) fn orphans(&self, workloads: usize) {
        self.orphans.set(i64::try_from(workloads).unwrap_or(i64::MAX));
    }

    pub(crate) fn original_runs(&self, runs: bool) {
        self.original.set(runs.into());
    }

    pub(crate) fn admission(&self, verdict: &str) {
        self.admissions.get_or_create(&Word::new(verdict)).inc();
    }

    /// Moves one rollout from where it stood to where it stands.
    pub(crate) fn stands(&self, before: Option<&Stand>, after: Option<&Stand>) {
        for (stand, by) in [(before, -1), (after, 1)] {
            let Some(stand) = stand else { continue };
            let phases = match stand.front {
                Front::StatefulsetRollout | Front::Rollout => &self.rollouts,
                Front::BatchRelease => &self.releases,
            };
            phases.get_or_create(&Word::new(stand.phase)).inc_by(by);
            if let Some(reason) = &stand.blocked {
                self.blocked.get_or_create(&Word::new(reason)).inc_by(by);
            }
            self.leaked.inc_by(by * i64::from(stand.leaked));
        }
    }
}

/// Where one rollout stands, as far as it is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stand {
    /// Whose rules it is looked at by.
    pub front: Front,
    /// `status.phase`.
    pub phase: &'static str,
    /// The word for what blocks it.
    pub blocked: Option<String>,
    /// Leaked Pods.
    pub leaked: u32,
}

impl Stand {
    pub(crate) fn of(status: &engine::status::Status) -> Self {
        let blocked = status.reason_code.filter(|reason| reason.blocks());
        Self {
            front: Front::StatefulsetRollout,
            phase: status.phase.map_or("RolloutPending", engine::status::Phase::name),
            blocked: blocked.map(|reason| reason.name().to_owned()),
            leaked: status.leaked_replicas,
        }
    }

    pub(crate) fn of_rollout(status: &engine::front::rollout::Status) -> Self {
        use engine::front::rollout::{ConditionKind, Phase};
        let holds = |kind| status.condition(kind).filter(|condition| condition.holds);
        let blocks = holds(ConditionKind::Blocked).or_else(|| holds(ConditionKind::Stuck));
        Self {
            front: Front::Rollout,
            phase: status.phase.map_or("Initial", Phase::name),
            blocked: blocks.map(|condition| condition.reason.name().to_owned()),
            leaked: 0,
        }
    }

    pub(crate) fn of_release(status: &engine::front::batch_release::Status) -> Self {
        use engine::front::batch_release::{ConditionKind, Phase};
        let holds = |kind| status.condition(kind).filter(|condition| condition.holds);
        let wrong = holds(ConditionKind::Degraded).or_else(|| holds(ConditionKind::Stuck));
        let waits = status.condition(ConditionKind::Progressing).filter(|goes_on| !goes_on.holds);
        let over = status.phase == Some(Phase::Completed);
        let blocked = wrong.or(waits).filter(|_| !over);
        Self {
            front: Front::BatchRelease,
            phase: status.phase.map_or("Initial", Phase::name),
            blocked: blocked.map(|condition| condition.reason.clone()),
            leaked: 0,
        }
    }
}
