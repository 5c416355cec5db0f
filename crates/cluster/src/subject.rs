//! Who is looked at by the loop, and which workload it names.

use std::fmt;

use crate::key::Key;
use crate::kind::Kind;

/// The fronts: one for each served resource that the loop looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Front {
    /// `StatefulsetRollout`.
    StatefulsetRollout,
    /// `Rollout`.
    Rollout,
    /// `BatchRelease`.
    BatchRelease,
}

impl Front {
    /// All of them, in order.
    pub const ALL: [Self; 3] = [Self::StatefulsetRollout, Self::Rollout, Self::BatchRelease];

    /// The kind of its resource.
    pub fn kind(self) -> &'static str {
        match self {
            Self::StatefulsetRollout => "StatefulsetRollout",
            Self::Rollout => "Rollout",
            Self::BatchRelease => "BatchRelease",
        }
    }

    /// `apiVersion` of its resource, as it is stored.
    pub fn api_version(self) -> &'static str {
        match self {
            Self::StatefulsetRollout => "bedrock.operator.slack.com/v1",
            Self::Rollout | Self::BatchRelease => "rollouts.kruise.io/v1beta1",
        }
    }

    /// Its resource in paths.
    pub fn plural(self) -> &'static str {
        match self {
            Self::StatefulsetRollout => "statefulsetrollouts",
            Self::Rollout => "rollouts",
            Self::BatchRelease => "batchreleases",
        }
    }
}

/// One object that the loop looks at. Ordered by front and then by key, so that a run replays.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject {
    /// Whose rules it is looked at by.
    pub front: Front,
    /// Namespace and name.
    pub key: Key,
}

impl Subject {
    /// From both parts.
    pub fn new(front: Front, key: Key) -> Self {
        Self { front, key }
    }

    /// Path of the object in the API.
    pub fn path(&self) -> String {
        let Key { namespace, name } = &self.key;
        let (version, plural) = (self.front.api_version(), self.front.plural());
        format!("/apis/{version}/namespaces/{namespace}/{plural}/{name}")
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.front.kind(), self.key)
    }
}

/// One workload. Ordered by kind and then by key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Workload {
    /// Its kind.
    pub kind: Kind,
    /// Namespace and name.
    pub key: Key,
}

impl Workload {
    /// From both parts.
    pub fn new(kind: Kind, key: Key) -> Self {
        Self { kind, key }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.word(), self.key)
    }
}
