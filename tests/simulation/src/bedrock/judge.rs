//! The promises about a `StatefulsetRollout`, for each write of the operator.

use super::facts::Facts;
use crate::pods::{NAME, evicted, victim};
use crate::witness::{Verdict, Witness};

/// Looks at a write before it is done; what comes back looks after it.
pub fn judge(witness: &Witness, method: &str, path: &str) -> Option<Verdict> {
    let deed = Deed::of(method, path)?;
    let before = Facts::read(&witness.server);
    Some(Box::new(move |witness| verdict(witness, &deed, &before, &Facts::read(&witness.server))))
}

fn verdict(witness: &Witness, deed: &Deed, before: &Facts, after: &Facts) -> Vec<String> {
    let mut broken = Vec::new();
    match deed {
        Deed::Evict(name) => {
            let counts = (after.healthy(), after.desired_healthy());
            let Some(short) = evicted(witness, before.pod(name), name, counts) else {
                return broken;
            };
            broken.extend(short);
            broken.extend(asked_for(witness, name, before, after));
        }
        Deed::WriteSet => {
            let opened = after.open() > before.open();
            let room =
                before.desired_healthy().map(|desired| before.healthy().saturating_sub(desired));
            if opened && room.is_some_and(|room| after.open() > room) {
                broken.push(format!(
                    "budget: {} ready Pods opened with room for {room:?}",
                    after.open()
                ));
            }
            if after.moved() > before.moved() && after.set["metadata"]["generation"] != 1 {
                // Scaling is applied in a pause too, and new Pods come as they come.
                let of = |facts: &Facts, field: &str| facts.set["spec"][field].clone();
                let same = ["template", "replicas"].iter().all(|f| of(before, f) == of(after, f));
                if same {
                    broken.extend(asked_for(witness, "a partition", before, after));
                }
            }
        }
        Deed::WriteStatus => broken.extend(truth(witness, before, after)),
    }
    broken
}

/// The target and the pause.
fn asked_for(witness: &Witness, what: &str, before: &Facts, after: &Facts) -> Vec<String> {
    let mut broken = Vec::new();
    if !before.is_observed() {
        return broken;
    }
    if before.rollout["spec"]["pauseRequested"] == true {
        let set = |facts: &Facts| {
            let spec = &facts.set["spec"];
            let (moved, all) = (facts.moved(), facts.pods.len());
            format!("{} of {} {moved}/{all}", spec["updateStrategy"], spec["replicas"])
        };
        broken.push(format!(
            "pause: {what} was disturbed in a pause: {} to {}",
            set(before),
            set(after)
        ));
    }
    let (moved, target) = (after.moved(), after.target());
    if witness.calm() && moved > target && moved > before.moved() {
        broken.push(format!("target: {moved} Pods moved, {target} asked for, by {what}"));
    }
    broken
}

fn truth(witness: &Witness, before: &Facts, after: &Facts) -> Option<String> {
    let turned = after.phase() == "RolloutDone" && before.phase() != "RolloutDone";
    if !turned || !after.is_observed() || !witness.calm() {
        return None;
    }
    let (good, target) = (after.good(), after.target());
    (good < target).then(|| format!("truth: RolloutDone with {good} good Pods of {target}"))
}

enum Deed {
    Evict(String),
    WriteSet,
    WriteStatus,
}

impl Deed {
    fn of(method: &str, path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        if let Some(name) = victim(method, &parts) {
            return Some(Self::Evict(name.to_owned()));
        }
        match (method, parts.as_slice()) {
            ("PATCH", [.., "statefulsets", NAME]) => Some(Self::WriteSet),
            ("PUT" | "PATCH", [.., "statefulsetrollouts", NAME, "status"]) => {
                Some(Self::WriteStatus)
            }
            _ => None,
        }
    }
}
