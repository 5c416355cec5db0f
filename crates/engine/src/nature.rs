//! What tells one kind of workload from another, as far as its Pods are moved one by one: a handful of
//! answers for each, so that account and movers ask for the answer and never for the kind.

/// The answers of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nature {
    /// As messages name it.
    pub name: &'static str,
    /// How its Pods are told apart.
    pub places: Places,
    /// What a partition holds.
    pub holds: Holds,
    /// Who replaces what a partition opens.
    pub replaced: Replaced,
    /// Which of those that are open its own controller replaces first.
    pub first: First,
    /// Whether a partition may be a percentage, which keeps its share when the workload is scaled.
    pub percent: bool,
}

/// How Pods are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places {
    /// By ordinals: a Pod that goes comes back under the same name.
    Ordinals,
    /// By names that are never used again.
    Names,
}

/// Which Pods a partition of n holds at the old revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Those of the n lowest ordinals: one that goes comes back as it was.
    Lowest,
    /// Any n: one that goes comes back at the old revision while fewer than n are.
    Any,
    /// Any n, as long as they live: one that goes comes back at the update revision.
    Living,
    /// There is no partition: `OnDelete` holds them all, and one that goes comes back at the update
    /// revision.
    Nothing,
}

/// Who replaces what a partition opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// The workload's own controller, one at a time; so what is to go together is evicted.
    OneByOne,
    /// The workload's own controller, as many at a time as its `maxUnavailable` and `maxSurge` say. It asks
    /// no disruption budget, so no more is opened than that allows.
    Together,
}

/// Which of the open Pods the workload's own controller replaces first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// Those that are not ready.
    Unready,
    /// The highest ordinal.
    Highest,
    /// Nobody knows: priorities that the user gave decide, or the names of Nodes.
    Unknown,
}

impl First {
    /// Where a Pod stands among those that a partition opens by their number alone: the lower the sooner.
    /// Where nobody knows, it is counted with the worst: that ready ones go first.
    pub fn turn(self, ready: bool) -> bool {
        match self {
            Self::Unready => ready,
            Self::Unknown => !ready,
            Self::Highest => false,
        }
    }
}

impl Nature {
    /// `apps/v1` StatefulSet.
    pub const STATEFUL_SET: Self = Self {
        name: "StatefulSet",
        places: Places::Ordinals,
        holds: Holds::Lowest,
        replaced: Replaced::OneByOne,
        first: First::Highest,
        percent: false,
    };

    /// `apps/v1` DaemonSet.
    pub const DAEMON_SET: Self = Self {
        name: "DaemonSet",
        places: Places::Names,
        holds: Holds::Nothing,
        replaced: Replaced::OneByOne,
        first: First::Unready,
        percent: false,
    };

    /// `apps.kruise.io` CloneSet.
    pub const CLONE_SET: Self = Self {
        name: "CloneSet",
        places: Places::Names,
        holds: Holds::Any,
        replaced: Replaced::Together,
        first: First::Unready,
        percent: true,
    };

    /// `apps.kruise.io` StatefulSet.
    pub const ADVANCED_STATEFUL_SET: Self = Self {
        name: "Advanced StatefulSet",
        places: Places::Ordinals,
        holds: Holds::Lowest,
        replaced: Replaced::Together,
        first: First::Highest,
        percent: false,
    };

    /// `apps.kruise.io` StatefulSet with `unorderedUpdate`.
    pub const UNORDERED_STATEFUL_SET: Self =
        Self { holds: Holds::Any, first: First::Unknown, ..Self::ADVANCED_STATEFUL_SET };

    /// `apps.kruise.io` DaemonSet.
    pub const ADVANCED_DAEMON_SET: Self = Self {
        name: "Advanced DaemonSet",
        places: Places::Names,
        holds: Holds::Living,
        replaced: Replaced::Together,
        first: First::Unknown,
        percent: false,
    };

    /// Whether a Pod that goes comes back at the update revision whatever a partition says.
    pub fn loses(self) -> bool {
        matches!(self.holds, Holds::Living | Holds::Nothing)
    }
}
