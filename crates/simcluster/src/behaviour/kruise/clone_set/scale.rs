//! A CloneSet's Pods made and deleted.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::sizes::Sizes;
use super::{INSTANCE, Look, Seen, order, pods};
use crate::behaviour::Write;
use crate::object::{self, Key, PODS};

/// The Pods that go when there are too many: from each revision its own share.
fn surplus<'a, 'b>(sizes: &Sizes, all: &'b [Seen<'a>], now: Timestamp) -> Vec<&'b Seen<'a>> {
    let choose = |updated: bool, count: i64| {
        let mut pods: Vec<&Seen<'_>> = all.iter().filter(|pod| pod.updated == updated).collect();
        order::to_delete(&mut pods, now);
        pods.truncate(usize::try_from(count).unwrap_or_default());
        pods
    };
    let old = sizes.surplus.min(sizes.surplus_old);
    let mut chosen = choose(false, old);
    chosen.extend(choose(true, sizes.surplus - old));
    chosen
}

impl Look<'_> {
    /// Makes what is missing, or deletes what is marked, or what is too many. Says whether there was
    /// anything: nothing is updated then.
    pub(super) fn scale(
        &mut self,
        sizes: &Sizes,
        all: &[Seen<'_>],
        rng: &mut fastrand::Rng,
    ) -> bool {
        if sizes.missing > 0 {
            if sizes.missing > sizes.make {
                let limit = sizes.make;
                self.event(
                    "Warning",
                    "ScaleUpLimited",
                    format!(
                        "scaleUp is limited because of scaleStrategy.maxUnavailable, limit: {limit}"
                    ),
                );
            }
            self.make(sizes, all, rng);
            return sizes.make > 0;
        }
        let mut room = sizes.delete_ready;
        let marked: Vec<&Seen<'_>> = all.iter().filter(|pod| pod.marked).collect();
        if self.delete(&marked, &mut room) {
            return true;
        }
        if sizes.surplus == 0 || !marked.is_empty() {
            return false;
        }
        let chosen = surplus(sizes, all, self.now);
        self.delete(&chosen, &mut room)
    }

    fn make(&mut self, sizes: &Sizes, all: &[Seen<'_>], rng: &mut fastrand::Rng) {
        let ids = all.iter().filter_map(|pod| object::label(pod.pod, INSTANCE));
        let mut taken: BTreeSet<String> = ids.map(str::to_owned).collect();
        for number in 0..sizes.make {
            let old = number < sizes.make_old;
            let from = if old { &self.revisions.current } else { &self.revisions.update };
            let id = pods::new_id(&mut taken, rng);
            let object = pods::of(self.set, from, &id, self.now);
            let message = format!("succeed to create pod {}", object::name(&object));
            self.writes.push(Write::Create { collection: PODS, object });
            self.event("Normal", "SuccessfulCreate", message);
        }
    }

    /// Deletes Pods, ready ones as far as there is room. Says whether any.
    fn delete(&mut self, pods: &[&Seen<'_>], room: &mut i64) -> bool {
        let before = self.writes.len();
        for seen in pods {
            if seen.ready && seen.normal {
                if *room <= 0 {
                    continue;
                }
                *room -= 1;
            }
            let key = Key::of(PODS, seen.pod);
            let message = format!("succeed to delete pod {}", key.name);
            self.writes.push(Write::delete(key, seen.pod));
            self.event("Normal", "SuccessfulDelete", message);
        }
        self.writes.len() > before
    }
}
