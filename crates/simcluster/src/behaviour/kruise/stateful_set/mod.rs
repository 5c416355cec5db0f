//! The controller of Advanced StatefulSets.

pub mod roll;
pub mod status;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use self::roll::Rolling;
use self::status::Numbers;
use super::clone_set::MARK;
use super::{ADVANCED_STATEFULSETS, in_place, lifecycle};
use crate::behaviour::share::scaled;
use crate::behaviour::statefulset::hands::{self, Hands};
use crate::behaviour::statefulset::replica::{Hold, REVISION_LABEL};
use crate::behaviour::statefulset::revisions::Revisions;
use crate::behaviour::statefulset::seen::{self, Seen};
use crate::behaviour::statefulset::sync::{self, Act};
use crate::behaviour::statefulset::want::Want;
use crate::behaviour::{Behaviour, Change, Refusal, Step, View, Write};
use crate::json::Value;
use crate::object::{self, Key, Object};

/// The controller of Advanced StatefulSets.
#[derive(Debug, Default)]
pub struct AdvancedStatefulSets;

impl Behaviour for AdvancedStatefulSets {
    fn name(&self) -> &'static str {
        super::MANAGER
    }

    fn concerns(&self, view: &dyn View, change: &Change) -> Vec<Key> {
        hands::concerns(view, change, &ADVANCED_STATEFULSETS, in_place::matters)
    }

    fn refused(&self, key: &Key, refusal: &Refusal) -> Option<Write> {
        hands::refused(key, refusal)
    }

    fn step(&self, view: &dyn View, key: &Key, now: Timestamp, _: &mut fastrand::Rng) -> Step {
        let Some(set) = view.get(key) else { return Step::default() };
        let mut hands = Hands::new(view, key, set);
        let want = want(set);
        if hands.may_not_act() {
            return Step::default();
        }
        let revisions = hands.revisions();
        let owned = hands.pods();
        let mut look = Look { hands, now, want, revisions, owned, written: BTreeSet::new() };
        look.refresh();
        let pods = look.seen();
        look.act(&pods);
        Step { writes: look.hands.writes, wake: seen::wake(&pods, now) }
    }
}

/// What a set says of how its Pods are kept. Unlike a native one it may leave ordinals out.
fn want(set: &Value) -> Want {
    let want = Want::of(set);
    let most = &set["spec"]["scaleStrategy"]["maxUnavailable"];
    Want {
        reserved: reserved(&set["spec"]["reserveOrdinals"]),
        scale_most: (!most.is_null()).then(|| scaled(most, want.replicas, false).max(1)),
        ended_holds: true,
        ..want
    }
}

/// Numbers, and ranges in words (`3-5`).
fn reserved(listed: &Value) -> BTreeSet<i64> {
    let mut out = BTreeSet::new();
    for one in listed.as_array().into_iter().flatten() {
        out.extend(one.as_i64());
        let Some(words) = one.as_str() else { continue };
        let (first, last) = words.split_once('-').unwrap_or((words, words));
        if let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>()) {
            out.extend(first..=last);
        }
    }
    out
}

/// One look at one set.
struct Look<'a> {
    hands: Hands<'a>,
    now: Timestamp,
    want: Want,
    revisions: Revisions,
    /// Its Pods, by ordinal.
    owned: Vec<(i64, Object)>,
    /// Those that have been written in this look: a second write would meet a newer version.
    written: BTreeSet<i64>,
}

impl Look<'_> {
    fn rolling(&self) -> &Value {
        &self.hands.set["spec"]["updateStrategy"]["rollingUpdate"]
    }

    /// Brings updates in place forward.
    fn refresh(&mut self) {
        let step = |(ordinal, pod): &(i64, Object)| {
            let update = || self.in_place(pod);
            let (_, write) = in_place::proceed(pod, self.is_updated(pod), update, self.now)?;
            Some((*ordinal, write))
        };
        let stays = |owned: &&(i64, Object)| !object::is_terminating(&owned.1);
        let steps: Vec<(i64, Write)> = self.owned.iter().filter(stays).filter_map(step).collect();
        for (ordinal, write) in steps {
            self.written.insert(ordinal);
            self.hands.writes.push(write);
        }
    }

    fn is_updated(&self, pod: &Value) -> bool {
        object::label(pod, REVISION_LABEL) == Some(self.revisions.update_name())
    }

    /// The next write that updates a Pod in place, where it can be done.
    fn in_place(&self, pod: &Object) -> Option<Write> {
        let policy = self.rolling()["podUpdatePolicy"].as_str().unwrap_or_default();
        if !matches!(policy, "InPlaceIfPossible" | "InPlaceOnly") {
            return None;
        }
        let old = self.revisions.named(object::label(pod, REVISION_LABEL)?)?;
        in_place::update(pod, old, &self.revisions.update, self.now)
    }

    fn seen(&self) -> BTreeMap<i64, Seen> {
        let min_ready_seconds = self.rolling()["minReadySeconds"].as_i64().unwrap_or(0);
        let changing = |pod: &Object| !lifecycle::counts(pod) || !in_place::is_complete(pod);
        let seen = |pod| Seen { changing: changing(pod), ..Seen::of(pod, min_ready_seconds) };
        self.owned.iter().map(|(ordinal, pod)| (*ordinal, seen(pod))).collect()
    }

    fn act(&mut self, pods: &BTreeMap<i64, Seen>) {
        let (current, update) =
            (self.revisions.current_name().to_owned(), self.revisions.update_name().to_owned());
        let rolling = Rolling::of(self.rolling(), self.want.replicas, &self.owned);
        let (acts, done) = sync::scale(&self.want, pods, self.now);
        let missing = self.missing(&rolling, pods);
        for act in acts {
            match act {
                Act::Create(ordinal) => self.create(ordinal, missing.get(&ordinal)),
                Act::Delete(ordinal) => self.hands.delete(ordinal, !self.want.has(ordinal)),
            }
        }
        let mut numbers = Numbers::of(pods, &current, &update, self.now);
        if done.is_continue() && !self.want.on_delete && !rolling.paused {
            let mut pods = pods.clone();
            pods.extend(missing);
            self.roll(&rolling, &pods, &mut numbers);
        }
        let status = status::of(self.hands.set, &numbers, &self.revisions);
        self.hands.write_status(status);
        self.hands.prune(&self.revisions, &self.owned);
    }

    /// The Pods that are not there yet, as those that they will be: of the current revision, where
    /// the partition holds it, or of the update revision. Without order a partition holds as many as
    /// it says, whichever they are.
    fn missing(&self, rolling: &Rolling, pods: &BTreeMap<i64, Seen>) -> BTreeMap<i64, Seen> {
        let (current, update) = (self.revisions.current_name(), self.revisions.update_name());
        let hold = Hold::of(self.hands.set, &self.want);
        let unordered = rolling.unordered && !self.want.on_delete;
        let outdated = |(i, pod): &(&i64, &Seen)| self.want.has(**i) && pod.revision != update;
        let mut outdated = i64::try_from(pods.iter().filter(outdated).count()).unwrap_or(i64::MAX);
        let all = self.want.ordinals().filter(|ordinal| !pods.contains_key(ordinal));
        // One by one no more than the first is made, whatever the others will be.
        let many = if self.want.parallel { usize::MAX } else { 1 };
        let future = |ordinal| {
            let held = if unordered {
                outdated < self.want.partition
            } else {
                hold.keeps_current(self.want.below(ordinal))
            };
            outdated += i64::from(held);
            let revision = if held { current } else { update }.to_owned();
            (ordinal, Seen { revision, ..Seen::default() })
        };
        all.take(many).map(future).collect()
    }

    fn create(&mut self, ordinal: i64, wanted: Option<&Seen>) {
        let current = self.revisions.current_name();
        let held = wanted.is_some_and(|pod| pod.revision == current);
        let from = if held { &self.revisions.current } else { &self.revisions.update };
        self.hands.create(from, ordinal, |pod| lifecycle::set(pod, lifecycle::NORMAL, self.now));
    }

    fn roll(&mut self, rolling: &Rolling, pods: &BTreeMap<i64, Seen>, numbers: &mut Numbers) {
        let is_marked = |pod: &Object| object::label(pod, MARK) == Some("true");
        let marked =
            self.owned.iter().filter(|(_, pod)| is_marked(pod)).map(|(ordinal, _)| *ordinal);
        let (marked, update) = (marked.collect(), self.revisions.update_name());
        let turn = roll::next(&self.want, rolling, pods, &marked, update, self.now);
        let (current, update) =
            (self.revisions.current_name().to_owned(), self.revisions.update_name().to_owned());
        let at = |ordinal: &i64, revision: &str| {
            i64::from(pods.get(ordinal).is_some_and(|pod| pod.revision == revision))
        };
        for ordinal in turn.delete {
            numbers.counts.current -= at(&ordinal, &current);
            if current != update {
                numbers.counts.updated -= at(&ordinal, &update);
            }
            if pods.get(&ordinal).is_some_and(|pod| !pod.terminating) {
                self.hands.delete(ordinal, false);
            }
        }
        for ordinal in turn.update {
            if self.written.contains(&ordinal) {
                continue;
            }
            if !self.update(ordinal) {
                return;
            }
            numbers.counts.current -= at(&ordinal, &current);
        }
    }

    /// Updates a Pod, in place where the set wants it and it can be done; else it goes, and comes
    /// back. Says whether it could: one that may only be changed in place holds up the others.
    fn update(&mut self, ordinal: i64) -> bool {
        let Some((_, pod)) = self.owned.iter().find(|(i, _)| *i == ordinal) else { return true };
        let Some(write) = self.in_place(pod) else {
            if self.rolling()["podUpdatePolicy"] == "InPlaceOnly" {
                return false;
            }
            self.hands.delete(ordinal, false);
            return true;
        };
        let message = in_place::said(pod, self.revisions.update_name());
        self.hands.writes.push(write);
        self.written.insert(ordinal);
        self.hands.say("SuccessfulUpdatePodInPlace", message);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    #[test]
    fn ordinals_are_reserved_one_by_one_or_in_ranges() {
        let listed = reserved(&json!([1, "3", "5-7", "x", "9-8"]));
        assert_eq!(listed.into_iter().collect::<Vec<_>>(), [1, 3, 5, 6, 7]);
        assert!(reserved(&Value::Null).is_empty());
    }
}
