//! Sizes ReplicaSets: a batch of a Deployment that its own controller leaves alone (paused, and of
//! type Recreate).
//!
//! One write at a time: the new ReplicaSet grows to the target inside the surge, the old ones shrink
//! as far as enough Pods are available, unhealthy Pods before healthy ones, the newest of the old
//! revisions before those that came earlier. Nothing that has moved is turned back; a Deployment that
//! is scaled keeps the share of the batch.
//!
//! Each decision stands on sizes that were asked for and counts that cannot be too high, so that it
//! may be made again on the sizes just written, before their effect is seen.

mod facts;
mod shrink;
mod grow;

pub use facts::{Bounds, Deployment, ReplicaSet};

/// What is to be done about the sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// One write.
    Write(Write),
    /// The sizes are not as wanted; what is waited for.
    Wait(Wait),
    /// The sizes are as wanted. That says nothing of Pods that are not ready yet.
    Rest,
}

/// A write of one ReplicaSet. With its size goes what it was sized for (`desired-replicas`), and the
/// most Pods there may be (`max-replicas`), as the Deployment's own controller keeps them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Create the new ReplicaSet at this size.
    Create {
        /// Pods.
        size: u32,
    },
    /// Give a ReplicaSet this size; the one it has already, where only what it was sized for is new.
    Size {
        /// Name.
        name: String,
        /// Pods.
        size: u32,
    },
}

/// Why nothing can be written now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wait {
    /// Paused: only a change of the Deployment's own replicas is followed.
    #[error("paused, nothing is moved")]
    Paused,
    /// The ReplicaSet's controller has not seen the last write, so its counts are of before.
    #[error("ReplicaSet {0} has not been seen by its controller yet")]
    Unseen(String),
    /// One Pod fewer would be one too few.
    #[error(
        "{available} of at least {least} Pods are available: the next one goes when more are; look at \
         the Pods of the new revision that are not ready"
    )]
    Available {
        /// Pods that are available.
        available: u32,
        /// Pods that have to be, by replicas and maxUnavailable.
        least: u32,
    },
    /// As many Pods as may be at once.
    #[error("{pods} Pods, of at most {most} with maxSurge: the next one comes when one has gone")]
    Surge {
        /// Pods there are.
        pods: u32,
        /// Pods there may be.
        most: u32,
    },
}

/// The next write towards the target, or why there is none.
pub fn next(deployment: &Deployment) -> Next {
    let shrunk = shrink::next(deployment);
    if let Some(write) = grow::new(deployment) {
        return Next::Write(write);
    }
    if let Ok(Some(write)) = shrunk {
        return Next::Write(write);
    }
    if let Some(write) = grow::old(deployment).or_else(|| record(deployment, shrunk.is_ok())) {
        return Next::Write(write);
    }
    match shrunk {
        Err(wait) => Next::Wait(wait),
        Ok(_) => match grow::held(deployment) {
            Some(wait) => Next::Wait(wait),
            None => Next::Rest,
        },
    }
}

/// What a ReplicaSet was sized for is kept current, or the Deployment's own controller, once it has its
/// work back, takes the difference for scaling and rolls nothing. The new one's tells its share as
/// long as it is to shrink.
fn record(deployment: &Deployment, rests: bool) -> Option<Write> {
    let stale = |set: &&ReplicaSet| set.size > 0 && set.sized_for != deployment.replicas;
    let new = deployment.new.as_ref().filter(|_| rests);
    let old = deployment.old.iter().filter(|_| rests || !deployment.paused);
    let set = new.into_iter().chain(old).find(stale)?;
    Some(Write::Size { name: set.name.clone(), size: set.size })
}
