//! The kinds of workload, and all that is plain fact about each: one row of a table a kind.
//!
//! What is read of one and written on it is the business of its adapter: see [`crate::workload`].

use crate::watch::Source;

/// Kinds of workload. Kubernetes and Kruise have two each of one name: those of Kruise are called advanced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `apps` Deployment.
    Deployment,
    /// `apps` StatefulSet.
    StatefulSet,
    /// `apps` DaemonSet.
    DaemonSet,
    /// `apps.kruise.io` CloneSet.
    CloneSet,
    /// `apps.kruise.io` StatefulSet.
    AdvancedStatefulSet,
    /// `apps.kruise.io` DaemonSet.
    AdvancedDaemonSet,
}

/// What is plain fact about a kind.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Which kind.
    pub kind: Kind,
    /// Its API group.
    pub group: &'static str,
    /// Its name in manifests.
    pub name: &'static str,
    /// Its name in messages: no two kinds have the same.
    pub word: &'static str,
    /// The value of the label `rollouts.kruise.io/workload-type` on one.
    pub label: &'static str,
    /// How it is listed and watched.
    pub source: Source,
    /// What it owns besides Pods, and is looked at.
    pub owns: Owns,
    /// Whether a roll back may go through the steps again; the original has it so for these.
    pub rolls_back_in_batches: bool,
}

/// What a workload owns besides Pods, as far as a release has to look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owns {
    /// Nothing: its status says enough.
    Pods,
    /// ReplicaSets, which own the Pods. Sized by the operator, which the gate `AdvancedDeployment` lets it.
    ReplicaSets,
    /// ControllerRevisions: its status does not say what it ran before.
    Revisions,
}

/// Where Kubernetes has its own.
const NATIVE: &[&str] = &["/apis/apps/v1"];
/// Where Kruise may serve its own: in both versions, in one, or not at all until it is installed.
const KRUISE: &[&str] = &["/apis/apps.kruise.io/v1beta1", "/apis/apps.kruise.io/v1alpha1"];

const fn kruise(plural: &'static str, definition: &'static str) -> Source {
    Source::of(plural, KRUISE).optional(definition).titled(definition)
}

/// One row a kind, in the order of [`Kind`].
static FACTS: [Facts; Kind::ALL.len()] = [
    Facts {
        kind: Kind::Deployment,
        group: "apps",
        name: "Deployment",
        word: "Deployment",
        label: "deployment",
        source: Source::of("deployments", NATIVE),
        owns: Owns::ReplicaSets,
        rolls_back_in_batches: false,
    },
    Facts {
        kind: Kind::StatefulSet,
        group: "apps",
        name: "StatefulSet",
        word: "StatefulSet",
        label: "statefulset",
        source: Source::of("statefulsets", NATIVE),
        owns: Owns::Pods,
        rolls_back_in_batches: true,
    },
    Facts {
        kind: Kind::DaemonSet,
        group: "apps",
        name: "DaemonSet",
        word: "DaemonSet",
        label: "daemonset",
        source: Source::of("daemonsets", NATIVE),
        owns: Owns::Revisions,
        rolls_back_in_batches: false,
    },
    Facts {
        kind: Kind::CloneSet,
        group: "apps.kruise.io",
        name: "CloneSet",
        word: "CloneSet",
        label: "cloneset",
        source: kruise("clonesets", "clonesets.apps.kruise.io"),
        owns: Owns::Pods,
        rolls_back_in_batches: true,
    },
    Facts {
        kind: Kind::AdvancedStatefulSet,
        group: "apps.kruise.io",
        name: "StatefulSet",
        word: "Advanced StatefulSet",
        label: "statefulset",
        source: kruise("statefulsets", "statefulsets.apps.kruise.io"),
        owns: Owns::Pods,
        rolls_back_in_batches: true,
    },
    Facts {
        kind: Kind::AdvancedDaemonSet,
        group: "apps.kruise.io",
        name: "DaemonSet",
        word: "Advanced DaemonSet",
        label: "daemonset",
        source: kruise("daemonsets", "daemonsets.apps.kruise.io"),
        owns: Owns::Revisions,
        rolls_back_in_batches: false,
    },
];

impl Kind {
    /// All of them, in order.
    pub const ALL: [Self; 6] = [
        Self::Deployment,
        Self::StatefulSet,
        Self::DaemonSet,
        Self::CloneSet,
        Self::AdvancedStatefulSet,
        Self::AdvancedDaemonSet,
    ];

    /// What is plain fact about it.
    pub fn facts(self) -> &'static Facts {
        &FACTS[self as usize]
    }

    /// The kind of this group and name, if it is served.
    pub fn of(group: &str, name: &str) -> Option<Self> {
        let is = |kind: &Self| (kind.facts().group, kind.facts().name) == (group, name);
        Self::ALL.into_iter().find(is)
    }

    /// The kind that this `apiVersion` and name say, in whatever version.
    pub fn of_version(api_version: &str, name: &str) -> Option<Self> {
        let (group, _) = api_version.split_once('/')?;
        Self::of(group, name)
    }

    /// Its name in manifests.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// Its name in messages.
    pub fn word(self) -> &'static str {
        self.facts().word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_told_by_group_and_name_in_whatever_version() {
        fn check(api_version: &str, name: &str, expect: Option<Kind>) {
            assert_eq!(Kind::of_version(api_version, name), expect, "{api_version} {name}");
        }
        check("apps/v1", "StatefulSet", Some(Kind::StatefulSet));
        check("apps/v9", "StatefulSet", Some(Kind::StatefulSet));
        check("apps.kruise.io/v1alpha1", "StatefulSet", Some(Kind::AdvancedStatefulSet));
        check("apps.kruise.io/v1beta1", "StatefulSet", Some(Kind::AdvancedStatefulSet));
        check("apps.kruise.io/v1beta1", "DaemonSet", Some(Kind::AdvancedDaemonSet));
        check("apps.kruise.io/v1", "CloneSet", Some(Kind::CloneSet));
        check("apps/v1", "CloneSet", None);
        check("v1", "Deployment", None);
    }

    #[test]
    fn each_kind_has_its_own_row() {
        assert_eq!(FACTS.map(|facts| facts.kind), Kind::ALL);
    }

    #[test]
    fn no_two_kinds_are_called_the_same() {
        let all = |call: fn(Kind) -> &'static str| {
            let names: std::collections::BTreeSet<_> = Kind::ALL.into_iter().map(call).collect();
            names.len()
        };
        assert_eq!(all(Kind::word), Kind::ALL.len());
        assert_eq!(all(|kind| kind.facts().source.title), Kind::ALL.len());
    }
}
