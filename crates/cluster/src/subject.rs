//! Who is looked at by the loop, and which workload it names.

use std::fmt;

use crate::key::Key;

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

/// Kinds of workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `apps/v1` Deployment.
    Deployment,
    /// `apps/v1` StatefulSet.
    StatefulSet,
    /// `apps/v1` DaemonSet.
    DaemonSet,
}

impl Kind {
    /// The kind of this group and name, if it is served.
    pub fn of(group: &str, kind: &str) -> Option<Self> {
        match (group, kind) {
            ("apps", "Deployment") => Some(Self::Deployment),
            ("apps", "StatefulSet") => Some(Self::StatefulSet),
            ("apps", "DaemonSet") => Some(Self::DaemonSet),
            _ => None,
        }
    }

    /// Its name in manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deployment => "Deployment",
            Self::StatefulSet => "StatefulSet",
            Self::DaemonSet => "DaemonSet",
        }
    }

    /// Its collection in the API.
    pub fn collection(self, namespace: &str) -> String {
        let plural = match self {
            Self::Deployment => "deployments",
            Self::StatefulSet => "statefulsets",
            Self::DaemonSet => "daemonsets",
        };
        format!("/apis/apps/v1/namespaces/{namespace}/{plural}")
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

    /// Path of the object in the API.
    pub fn path(&self) -> String {
        format!("{}/{}", self.kind.collection(&self.key.namespace), self.key.name)
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.name(), self.key)
    }
}
