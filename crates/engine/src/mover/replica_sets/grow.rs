//! More Pods: of the new revision up to the goal, of the stable one where some are missing.

use super::facts::{Deployment, ReplicaSet};
use super::{Wait, Write};

/// The new ReplicaSet, inside the surge.
pub(super) fn new(deployment: &Deployment) -> Option<Write> {
    let goal = goal(deployment);
    let size = deployment.new_size();
    let room = deployment.most().saturating_sub(deployment.pods());
    // Never empty, though the surge be none: with a single ReplicaSet that has Pods, the Deployment's own
    // controller gives it all of them, and takes back what has been taken away. Where there are more Pods
    // than replicas, some go first.
    let begins = goal > 0 && (room > 0 || deployment.pods() <= deployment.replicas);
    match &deployment.new {
        None if begins => Some(Write::Create { size: room.clamp(1, goal) }),
        Some(set) if size == 0 && begins => {
            Some(Write::Size { name: set.name.clone(), size: room.clamp(1, goal) })
        }
        Some(set) if size < goal && room > 0 => {
            Some(Write::Size { name: set.name.clone(), size: goal.min(size.saturating_add(room)) })
        }
        _ => None,
    }
}

/// Where no other template was ever run, there is nothing to hold the rest at.
fn goal(deployment: &Deployment) -> u32 {
    let alone = deployment.old.is_empty() && !deployment.paused;
    if alone { deployment.replicas } else { deployment.goal() }
}

/// The stable ReplicaSet, where Pods are missing that are none of the new one's.
pub(super) fn old(deployment: &Deployment) -> Option<Write> {
    let missing = deployment.wanted_old().saturating_sub(deployment.old_size());
    let room = deployment.most().saturating_sub(deployment.pods());
    let more = missing.min(room);
    let set = stable(deployment).filter(|_| more > 0)?;
    Some(Write::Size { name: set.name.clone(), size: set.size + more })
}

/// The one that is known to be stable; else the earliest that has Pods, for what was released after it
/// was perhaps never finished; else the latest.
fn stable(deployment: &Deployment) -> Option<&ReplicaSet> {
    let named = |set: &&ReplicaSet| deployment.stable.as_ref() == Some(&set.name);
    let old = &deployment.old;
    let key = |set: &&ReplicaSet| (set.revision, set.name.clone());
    old.iter()
        .find(named)
        .or_else(|| old.iter().filter(|set| set.size > 0).min_by_key(key))
        .or_else(|| old.iter().max_by_key(key))
}

/// Why the new ReplicaSet is smaller than it is to be.
pub(super) fn held(deployment: &Deployment) -> Option<Wait> {
    let target = deployment.target.min(deployment.replicas);
    let behind = deployment.new_size() < target;
    if deployment.paused {
        let missing = deployment.pods() < deployment.replicas;
        return (behind || missing).then_some(Wait::Paused);
    }
    behind.then(|| Wait::Surge { pods: deployment.pods(), most: deployment.most() })
}
