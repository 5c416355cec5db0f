//! What a set says of how its Pods are kept.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::json::Value;
use crate::object;

/// How a set wants its Pods kept.
#[derive(Clone, Debug, Default)]
pub struct Want {
    /// `spec.replicas`.
    pub replicas: i64,
    /// `spec.ordinals.start`.
    pub start: i64,
    /// Ordinals that are left out, so that the last one is higher. A native set has none.
    pub reserved: BTreeSet<i64>,
    /// `spec.podManagementPolicy` is Parallel.
    pub parallel: bool,
    /// How many Pods at once may be missing or not yet available, under Parallel, before no more
    /// are made. A native set has no such bound.
    pub scale_most: Option<i64>,
    /// A Pod that has come to an end holds up everything else under Parallel too, as it does under
    /// OrderedReady. Not so in a native set.
    pub ended_holds: bool,
    /// `spec.updateStrategy.type` is OnDelete.
    pub on_delete: bool,
    /// `spec.updateStrategy.rollingUpdate.partition`, 0 when absent.
    pub partition: i64,
    /// The set itself is being deleted: only its status is kept up.
    pub terminating: bool,
}

impl Want {
    /// What a set of either group says of it.
    pub fn of(set: &Value) -> Self {
        let spec = &set["spec"];
        let strategy = &spec["updateStrategy"];
        Self {
            replicas: spec["replicas"].as_i64().unwrap_or(1),
            start: spec["ordinals"]["start"].as_i64().unwrap_or(0),
            parallel: spec["podManagementPolicy"] == "Parallel",
            on_delete: strategy["type"] == "OnDelete",
            partition: strategy["rollingUpdate"]["partition"].as_i64().unwrap_or(0),
            terminating: object::is_terminating(set),
            ..Self::default()
        }
    }

    fn range(&self) -> Range<i64> {
        let mut end = self.start + self.replicas;
        for &reserved in self.reserved.range(self.start..) {
            if reserved >= end {
                break;
            }
            end += 1;
        }
        self.start..end
    }

    /// The ordinals that are to have a Pod, in order.
    pub fn ordinals(&self) -> impl DoubleEndedIterator<Item = i64> + '_ {
        self.range().filter(|ordinal| !self.reserved.contains(ordinal))
    }

    /// Whether an ordinal is to have a Pod.
    pub fn has(&self, ordinal: i64) -> bool {
        self.range().contains(&ordinal) && !self.reserved.contains(&ordinal)
    }

    /// How many ordinals that are to have a Pod are below one that is.
    pub fn below(&self, ordinal: i64) -> i64 {
        let reserved = self.reserved.range(self.start..ordinal.max(self.start)).count();
        ordinal - self.start - i64::try_from(reserved).unwrap_or(i64::MAX)
    }
}
