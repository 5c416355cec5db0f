//! One look at one subject: observe, decide, write the status, act. One file per front, same shape.

use cluster::{Front, Subject, Told};
use engine::front::Notice;
use engine::front::batch_release::Change;
use jiff::{SignedDuration, Timestamp};

use crate::context::Shop;
use crate::memory::Memory;
use crate::metrics::Stand;

mod batch_release;
mod failing;
pub(crate) mod history;
mod rollout;
mod statefulset_rollout;

/// What a look leaves behind.
pub(crate) struct Done {
    pub(crate) subject: Subject,
    /// `None` once the subject is gone.
    pub(crate) memory: Option<Memory>,
    /// When to look again though nothing happens.
    pub(crate) wake: Option<Timestamp>,
    /// Where it stands now.
    pub(crate) stand: Option<Stand>,
}

impl Done {
    /// There is nothing to be looked at.
    fn gone(subject: Subject) -> Self {
        Self { subject, memory: None, wake: None, stand: None }
    }
}

/// Looks at `subject` once.
pub(crate) async fn pass(shop: &Shop, subject: Subject, memory: Memory) -> Done {
    shop.context.metrics.pass();
    let now = shop.context.clock.now();
    let original = shop.original.running(now);
    shop.context.metrics.original_runs(original.is_some());
    match subject.front {
        Front::StatefulsetRollout => statefulset_rollout::pass(shop, subject, memory).await,
        Front::Rollout => rollout::pass(shop, subject, memory, original.as_ref()).await,
        // What holds of its Rollouts is said there; one of its own stays as it is.
        Front::BatchRelease if original.is_some() => {
            let wake = original.map(|running| running.until);
            Done { subject, memory: Some(memory), wake, stand: None }
        }
        Front::BatchRelease => batch_release::pass(shop, subject, memory).await,
    }
}

/// When the status of a release is written.
enum Write {
    No,
    Now,
    At(Timestamp),
}

/// What says where a release stands is written at once, and before the action; `numbers` may wait that long
/// after the last write.
fn due(change: Change, memory: &Memory, numbers: SignedDuration, now: Timestamp) -> Write {
    match change {
        Change::None => Write::No,
        Change::Standing => Write::Now,
        Change::Numbers => {
            let next = memory.wrote_at.and_then(|at| at.checked_add(numbers).ok());
            match next.filter(|next| *next > now) {
                Some(next) => Write::At(next),
                None => Write::Now,
            }
        }
    }
}

/// A status was written.
fn wrote(shop: &Shop, memory: &mut Memory, now: Timestamp) {
    shop.context.metrics.status_write();
    memory.wrote_at = Some(now);
    memory.succeeded();
}

/// The earlier of two times to look again.
fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    one.into_iter().chain(other).min()
}

/// What is told of a release in batches.
fn told(Notice { reason, warning, text }: Notice) -> Told {
    Told { warning, reason, action: "Release".to_owned(), note: text }
}

/// Why Deployments are left alone.
const NO_DEPLOYMENTS: &str =
    "Deployments are not released in batches without the feature gate AdvancedDeployment";
