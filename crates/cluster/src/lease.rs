//! Who leads: a pure judgement of a Lease.
//!
//! A lease is judged by how long *we* have seen the same record, on our own clock, and never by its
//! stamps: the clocks of two machines need not agree. (client-go does the same.)

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// The times of an election. The defaults are those of Kubernetes' own controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Durations {
    /// How long a lease that is not renewed still keeps others away.
    pub lease: SignedDuration,
    /// How long a leader goes on leading after its last renewal. Shorter than `lease`.
    pub renew_deadline: SignedDuration,
    /// The time between two attempts.
    pub retry: SignedDuration,
}

impl Default for Durations {
    fn default() -> Self {
        Self {
            lease: SignedDuration::from_secs(15),
            renew_deadline: SignedDuration::from_secs(10),
            retry: SignedDuration::from_secs(2),
        }
    }
}

/// A Lease as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaseFacts {
    /// `metadata.resourceVersion`.
    pub resource_version: String,
    /// `spec.holderIdentity`; empty when it was released.
    pub holder: String,
    /// `spec.leaseDurationSeconds`.
    pub seconds: i64,
    /// `spec.acquireTime`, as written.
    pub acquired: String,
    /// `spec.renewTime`, as written: a new one means that its holder is alive.
    pub renewed: String,
    /// `spec.leaseTransitions`.
    pub transitions: i64,
}

impl LeaseFacts {
    /// Reads a Lease. Absent fields are empty.
    pub fn read(lease: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let spec = &lease["spec"];
        Self {
            resource_version: text(&lease["metadata"]["resourceVersion"]),
            holder: text(&spec["holderIdentity"]),
            seconds: spec["leaseDurationSeconds"].as_i64().unwrap_or_default(),
            acquired: text(&spec["acquireTime"]),
            renewed: text(&spec["renewTime"]),
            transitions: spec["leaseTransitions"].as_i64().unwrap_or_default(),
        }
    }

    /// Whether `other` is another record: its holder has renewed it, or there is another holder.
    pub fn differs(&self, other: &Self) -> bool {
        Self { resource_version: String::new(), ..self.clone() }
            != Self { resource_version: String::new(), ..other.clone() }
    }

    /// What `me` writes to take the lease or to keep it.
    pub fn held_by(
        current: Option<&Self>,
        me: &str,
        now: Timestamp,
        durations: &Durations,
    ) -> Self {
        let now = stamp(now);
        let ours = current.filter(|lease| lease.holder == me);
        Self {
            resource_version: current
                .map(|lease| lease.resource_version.clone())
                .unwrap_or_default(),
            holder: me.to_owned(),
            seconds: durations.lease.as_secs().max(1),
            acquired: ours.map_or_else(|| now.clone(), |lease| lease.acquired.clone()),
            renewed: now,
            transitions: match (current, ours) {
                (_, Some(ours)) => ours.transitions,
                (Some(theirs), None) => theirs.transitions + 1,
                (None, None) => 0,
            },
        }
    }

    /// What a leader writes that goes: the next need not wait.
    pub fn released(&self, now: Timestamp) -> Self {
        let now = stamp(now);
        Self {
            holder: String::new(),
            seconds: 1,
            acquired: now.clone(),
            renewed: now,
            ..self.clone()
        }
    }

    /// The Lease to be written.
    pub fn document(&self, namespace: &str, name: &str) -> Value {
        let mut metadata = json!({ "name": name, "namespace": namespace });
        if !self.resource_version.is_empty() {
            metadata["resourceVersion"] = json!(self.resource_version);
        }
        let mut spec = json!({
            "leaseDurationSeconds": self.seconds,
            "acquireTime": self.acquired,
            "renewTime": self.renewed,
            "leaseTransitions": self.transitions,
        });
        // The API server refuses an empty one (Kubernetes 1.36): nobody is no field.
        if !self.holder.is_empty() {
            spec["holderIdentity"] = json!(self.holder);
        }
        json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": metadata,
            "spec": spec,
        })
    }
}

/// `metav1.MicroTime`: six decimals, or the API server refuses it.
pub(crate) fn stamp(time: Timestamp) -> String {
    format!("{time:.6}")
}

/// What to do about a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Nobody has it: take it.
    Acquire,
    /// It is ours: keep it.
    Renew,
    /// Somebody has it.
    Yield {
        /// When to look again at the latest: then it will have expired, unless it is renewed.
        until: Timestamp,
    },
}

/// Judges a lease that has been seen unchanged since `seen_since`.
pub fn evaluate(
    lease: Option<&LeaseFacts>,
    seen_since: Timestamp,
    me: &str,
    now: Timestamp,
) -> Judgement {
    let Some(lease) = lease.filter(|lease| !lease.holder.is_empty()) else {
        return Judgement::Acquire;
    };
    if lease.holder == me {
        return Judgement::Renew;
    }
    let length = SignedDuration::from_secs(lease.seconds.max(1));
    let until = seen_since.saturating_add(length).unwrap_or(Timestamp::MAX);
    if now >= until { Judgement::Acquire } else { Judgement::Yield { until } }
}
