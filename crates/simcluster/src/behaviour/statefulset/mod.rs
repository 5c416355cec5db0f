//! The StatefulSet controller.

pub mod hands;
pub mod replica;
pub mod revision;
pub mod revisions;
pub mod seen;
pub mod sync;
pub mod want;

use std::collections::BTreeMap;

use jiff::Timestamp;

use self::hands::Hands;
use self::replica::Hold;
use self::revisions::Revisions;
use self::seen::{Counts, Seen};
use self::sync::Act;
use self::want::Want;
use super::{Behaviour, Change, Refusal, Step, View, Write, pod};
use crate::json::json;
use crate::object::{self, Key, STATEFULSETS};

/// The controller of native StatefulSets, as it behaves in Kubernetes 1.36 with its default gates.
#[derive(Debug, Default)]
pub struct StatefulSets;

impl Behaviour for StatefulSets {
    fn name(&self) -> &'static str {
        "statefulset-controller"
    }

    fn concerns(&self, view: &dyn View, change: &Change) -> Vec<Key> {
        hands::concerns(view, change, &STATEFULSETS, pod::matters)
    }

    fn refused(&self, key: &Key, refusal: &Refusal) -> Option<Write> {
        hands::refused(key, refusal)
    }

    fn step(&self, view: &dyn View, key: &Key, now: Timestamp, _: &mut fastrand::Rng) -> Step {
        let Some(set) = view.get(key) else { return Step::default() };
        Look { hands: Hands::new(view, key, set), now, want: Want::of(set) }.step()
    }
}

/// One look at one set.
struct Look<'a> {
    hands: Hands<'a>,
    now: Timestamp,
    want: Want,
}

impl Look<'_> {
    fn step(mut self) -> Step {
        if self.hands.may_not_act() {
            return Step::default();
        }
        let revisions = self.hands.revisions();
        let owned = self.hands.pods();
        let seconds = self.hands.set["spec"]["minReadySeconds"].as_i64().unwrap_or(0);
        let pods: BTreeMap<i64, Seen> =
            owned.iter().map(|(ordinal, pod)| (*ordinal, Seen::of(pod, seconds))).collect();
        let update = revisions.update_name();
        let (acts, rolled) = sync::acts(&self.want, &pods, update, self.now);
        let hold = Hold::of(self.hands.set, &self.want);
        for act in acts {
            match act {
                Act::Create(ordinal) => {
                    let held = hold.keeps_current(self.want.below(ordinal));
                    let from = if held { &revisions.current } else { &revisions.update };
                    self.hands.create(from, ordinal, |_| ());
                }
                Act::Delete(ordinal) => self.hands.delete(ordinal, !self.want.has(ordinal)),
            }
        }
        let mut counts = seen::count(&pods, revisions.current_name(), update, self.now);
        if rolled {
            counts.current -= 1;
        }
        self.write_status(counts, &revisions);
        self.hands.prune(&revisions, &owned);
        Step { writes: self.hands.writes, wake: seen::wake(&pods, self.now) }
    }

    /// `currentRevision` advances only when a RollingUpdate is complete; under OnDelete never.
    fn write_status(&mut self, mut counts: Counts, revisions: &Revisions) {
        let (mut current, update) = (revisions.current_name(), revisions.update_name());
        let replicas = self.want.replicas;
        if !self.want.on_delete
            && counts.updated == replicas
            && counts.ready == replicas
            && counts.replicas == replicas
        {
            counts.current = counts.updated;
            current = update;
        }
        let mut status = json!({
            "observedGeneration": object::generation(self.hands.set),
            "replicas": counts.replicas, "availableReplicas": counts.available,
            "currentRevision": current, "updateRevision": update,
            "collisionCount": revisions.collisions,
        });
        let optional = [
            ("readyReplicas", counts.ready),
            ("currentReplicas", counts.current),
            ("updatedReplicas", counts.updated),
        ];
        for (field, count) in optional {
            if count != 0 {
                status[field] = count.into();
            }
        }
        self.hands.write_status(status);
    }
}

#[cfg(test)]
mod tests;
