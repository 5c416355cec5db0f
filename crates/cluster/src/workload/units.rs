//! What a partition is counted in: Pods, or a part of them that a kind rounds in its own way.

use engine::quantity::IntOrPercent;
use serde_json::{Value, json};

use super::{ABOVE_ALL, count, number};

/// What a partition is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Units {
    /// Pods, or the lowest ordinal of those that move.
    Count,
    /// Pods or a part of them, rounded up; of less than all of several Pods one moves at least. All is
    /// `100%`.
    Up,
    /// Pods or a part of them, rounded down.
    Down,
}

impl Units {
    /// In Pods; [`ABOVE_ALL`] where all are meant, and 0 where there is none.
    pub(super) fn read(self, partition: &Value, replicas: u32) -> u32 {
        match (self, count(partition)) {
            (Self::Count, _) | (_, None) => number(partition, 0),
            (_, Some(IntOrPercent::Int(pods))) => pods,
            (_, Some(IntOrPercent::Percent(100..))) => ABOVE_ALL,
            (Self::Up, Some(part)) => part.of_deployment(replicas),
            (Self::Down, Some(part)) => part.of_rounded_down(replicas),
        }
    }

    /// A number counts against however many Pods there will be, and all that come beside it are of the newest
    /// template: so where a percentage comes to the same now, that is written.
    pub(super) fn written(self, pods: u32, percent: Option<u32>, replicas: u32) -> Value {
        let percent = match self {
            Self::Up if pods >= ABOVE_ALL => Some(100),
            Self::Up => percent.or_else(|| largest(pods, replicas)),
            Self::Down | Self::Count => percent,
        };
        percent.map_or(json!(pods), |percent| json!(format!("{percent}%")))
    }
}

/// The largest percentage that comes to this many of several Pods, if one does: the fewer are of the newest
/// template when more come. Just under all of them leaves one to move, of however many.
fn largest(pods: u32, replicas: u32) -> Option<u32> {
    if pods > 0 && pods >= replicas {
        return Some(100);
    }
    let part = pods.saturating_mul(100).checked_div(replicas).filter(|_| pods > 0)?;
    let comes_to = |percent: &u32| IntOrPercent::Percent(*percent).of_deployment(replicas);
    [99, part].into_iter().find(|percent| comes_to(percent) == pods)
}
