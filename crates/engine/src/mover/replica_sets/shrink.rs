//! Fewer Pods: unhealthy old ones first, then old ones from the newest revision down, and of the new
//! revision only what scaling in leaves over.

use super::facts::{Deployment, ReplicaSet};
use super::{Wait, Write};

/// The next ReplicaSet to shrink; none where none has to; an error where one has to and may not.
pub(super) fn next(deployment: &Deployment) -> Result<Option<Write>, Wait> {
    let old = deployment.old_size().saturating_sub(deployment.wanted_old());
    let new = deployment.new_size().saturating_sub(deployment.wanted_new());
    if old == 0 && new == 0 {
        return Ok(None);
    }
    if deployment.paused && !deployment.scaled() {
        return Err(Wait::Paused);
    }
    if let Some(set) = deployment.sets().find(|set| set.size > 0 && !set.seen) {
        return Err(Wait::Unseen(set.name.clone()));
    }
    let (available, least) = (deployment.available(), deployment.least());
    let spare = available.saturating_sub(least);
    unhealthy(deployment, old)
        .or_else(|| surplus(deployment, new, spare))
        .or_else(|| healthy(deployment, old.min(spare)))
        .map(Some)
        .ok_or(Wait::Available { available, least })
}

fn shrink(set: &ReplicaSet, by: u32) -> Option<Write> {
    (by > 0).then(|| Write::Size { name: set.name.clone(), size: set.size - by })
}

/// Unhealthy old Pods cost nothing to remove. Yet as many stay as would be needed if they all came
/// back, while new ones are only starting.
fn unhealthy(deployment: &Deployment, most: u32) -> Option<Write> {
    let starting = deployment.new.as_ref().map_or(0, ReplicaSet::unsound);
    let kept = deployment.least().saturating_add(starting);
    let most = most.min(deployment.pods().saturating_sub(kept));
    let old = deployment.old.iter().filter(|set| set.unsound() > 0);
    let set = old.min_by_key(|set| (set.revision, &set.name))?;
    shrink(set, set.unsound().min(most))
}

/// What scaling in leaves over of the new revision; of it too, those that are not available go first.
fn surplus(deployment: &Deployment, most: u32, spare: u32) -> Option<Write> {
    let set = deployment.new.as_ref()?;
    shrink(set, most.min(set.unsound().saturating_add(spare)))
}

/// In a release on top of one that was never finished, the Pods of that one go before the stable ones.
fn healthy(deployment: &Deployment, most: u32) -> Option<Write> {
    let old = deployment.old.iter().filter(|set| set.size > 0);
    let stable = |set: &ReplicaSet| deployment.stable.as_ref() == Some(&set.name);
    let set = old.max_by_key(|set| (!stable(set), set.revision, &set.name))?;
    shrink(set, set.size.min(most))
}
