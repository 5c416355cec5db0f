//! The day on which all tables are looked at, and what stands on it untouched.

use engine::mover::replica_sets::ReplicaSet;
use engine::world::{
    Budget, Claim, Pod, PodManagement, PodPhase, Strategy, Trouble, Uid, Workload,
};
use jiff::{SignedDuration, Timestamp};

/// Noon of that day.
pub(crate) fn noon() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().expect("a literal timestamp")
}

pub(crate) fn seconds(n: i64) -> SignedDuration {
    SignedDuration::from_secs(n)
}

pub(crate) fn ago(n: i64) -> Timestamp {
    noon() - seconds(n)
}

pub(crate) fn ahead(n: i64) -> Timestamp {
    noon() + seconds(n)
}

/// At v2 and seen by its controller; its rolling history stands at v1.
pub(crate) fn workload(replicas: u32, strategy: Strategy) -> Workload {
    Workload {
        uid: "workload-uid".into(),
        generation: 2,
        observed_generation: 2,
        replicas,
        first_ordinal: 0,
        reserved: std::collections::BTreeSet::new(),
        management: PodManagement::Parallel,
        strategy,
        min_ready: SignedDuration::ZERO,
        update_revision: "v2".into(),
        current_revision: "v1".into(),
        matches: true,
        template_matches: true,
        claim: Claim::Free,
        terminating: false,
    }
}

/// Named by its number, ready for an hour.
pub(crate) fn pod(number: u32, revision: &str) -> Pod {
    Pod {
        name: format!("web-{number}"),
        uid: uid(number, revision),
        resource_version: "7".into(),
        ordinal: number,
        node: Some(format!("n{number}")),
        revision: revision.into(),
        version: revision.into(),
        phase: PodPhase::Running,
        ready_since: Some(ago(3600)),
        created: ago(4000 - i64::from(number)),
        deletion: None,
        finalizers: Vec::new(),
        trouble: None,
    }
}

pub(crate) fn uid(number: u32, revision: &str) -> Uid {
    Uid(format!("web-{number}@{revision}"))
}

pub(crate) fn trouble(reason: &str) -> Trouble {
    Trouble { reason: reason.into(), message: String::new() }
}

pub(crate) fn sized(name: &str, revision: u64, size: u32, sized_for: u32) -> ReplicaSet {
    let name = name.into();
    ReplicaSet { name, revision, size, available: size, sized_for, seen: true }
}

/// What the controller of a budget with `maxUnavailable` over these Pods says.
pub(crate) fn budget_over(pods: &[Pod], expected: u32, max_unavailable: u32) -> Budget {
    let healthy = pods.iter().filter(|pod| pod.ready_since.is_some() && pod.deletion.is_none());
    let (healthy, desired) = (super::count(healthy), expected.saturating_sub(max_unavailable));
    Budget {
        name: "web-pdb".into(),
        limit: format!("maxUnavailable: {max_unavailable}"),
        observed: true,
        allowed: healthy.saturating_sub(desired),
        current_healthy: healthy,
        desired_healthy: desired,
        expected,
        always_allow_unhealthy: false,
        sync_failed: None,
    }
}
