//! The promises about a `StatefulsetRollout`, for each write of the operator.

use super::facts::{Facts, NAME, is_ready};
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
            let victim = before.pod(name);
            let standing = victim.is_some_and(|pod| pod["metadata"]["deletionTimestamp"].is_null());
            if !standing {
                return broken;
            }
            let uid = victim.map(|pod| pod["metadata"]["uid"].to_string()).unwrap_or_default();
            *witness.seen().evicted.entry(uid).or_default() += 1;
            if victim.is_some_and(is_ready) {
                broken.extend(budget(name, after));
            }
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

fn budget(name: &str, after: &Facts) -> Option<String> {
    let desired = after.desired_healthy()?;
    let healthy = after.healthy();
    (healthy < desired)
        .then(|| format!("budget: {healthy} healthy after evicting {name}, {desired} wanted"))
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
        match (method, parts.as_slice()) {
            ("POST", [.., "pods", name, "eviction"]) | ("DELETE", [.., "pods", name]) => {
                Some(Self::Evict((*name).to_owned()))
            }
            ("PATCH", [.., "statefulsets", NAME]) => Some(Self::WriteSet),
            ("PUT" | "PATCH", [.., "statefulsetrollouts", NAME, "status"]) => {
                Some(Self::WriteStatus)
            }
            _ => None,
        }
    }
}
