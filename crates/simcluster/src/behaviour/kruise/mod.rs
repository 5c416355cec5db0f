//! The workloads of Kruise (group apps.kruise.io), which a cluster has only when it is asked for.
//!
//! As recorded from the master of July 2026 with its default gates. Where its own webhook fills in a
//! field, the schema of our definitions does, so that the objects stand in the API as there.

pub mod clone_set;
pub mod daemon_set;
pub mod definitions;
pub mod in_place;
pub mod lifecycle;
pub mod priority;
pub mod stateful_set;

use crate::object::Collection;

/// Who writes, as `managedFields` have it: one process for all kinds.
pub const MANAGER: &str = "kruise-manager";

/// CloneSets.
pub const CLONESETS: Collection = Collection::known("apps.kruise.io", "clonesets");
/// Advanced StatefulSets.
pub const ADVANCED_STATEFULSETS: Collection = Collection::known("apps.kruise.io", "statefulsets");
/// Advanced DaemonSets.
pub const ADVANCED_DAEMONSETS: Collection = Collection::known("apps.kruise.io", "daemonsets");
