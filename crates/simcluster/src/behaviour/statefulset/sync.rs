//! One pass of the StatefulSet controller over its Pods: what to create, what to delete, and why
//! it stops where it does. Plain values in, plain values out.

use std::collections::BTreeMap;
use std::ops::ControlFlow::{self, Break, Continue};

use jiff::Timestamp;

/// How a set wants its Pods kept.
#[derive(Clone, Debug)]
pub struct Want {
    /// `spec.replicas`.
    pub replicas: i64,
    /// `spec.ordinals.start`.
    pub start: i64,
    /// `spec.podManagementPolicy` is Parallel.
    pub parallel: bool,
    /// `spec.updateStrategy.type` is OnDelete.
    pub on_delete: bool,
    /// `spec.updateStrategy.rollingUpdate.partition`, 0 when absent.
    pub partition: i64,
    /// The set itself is being deleted: only its status is kept up.
    pub terminating: bool,
}

/// What the controller sees of one Pod.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The value of the revision label.
    pub revision: String,
    /// It has a phase.
    pub created: bool,
    /// Its phase is Failed or Succeeded.
    pub ended: bool,
    /// Running, and its Ready condition is True; terminating or not.
    pub ready: bool,
    /// Since when it has been ready for minReadySeconds, if it is ready.
    pub available_at: Option<Timestamp>,
    /// It has a deletion timestamp.
    pub terminating: bool,
}

impl Seen {
    fn available(&self, now: Timestamp) -> bool {
        self.ready && self.available_at.is_some_and(|at| at <= now)
    }

    fn healthy(&self) -> bool {
        self.ready && !self.terminating
    }
}

/// What to do, by ordinal, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Make the Pod.
    Create(i64),
    /// Delete the Pod. No budget is asked.
    Delete(i64),
}

/// The acts of one pass, and whether the last of them is a delete of the rolling update, which
/// takes one from `currentReplicas` at once.
pub fn acts(
    want: &Want,
    pods: &BTreeMap<i64, Seen>,
    update_revision: &str,
    now: Timestamp,
) -> (Vec<Act>, bool) {
    if want.terminating {
        return (Vec::new(), false);
    }
    let mut pass = Pass { want, pods, now, acts: Vec::new() };
    if pass.replicas().is_break() || pass.condemned().is_break() || want.on_delete {
        return (pass.acts, false);
    }
    let rolled = pass.roll(update_revision);
    (pass.acts, rolled)
}

struct Pass<'a> {
    want: &'a Want,
    pods: &'a BTreeMap<i64, Seen>,
    now: Timestamp,
    acts: Vec<Act>,
}

impl Pass<'_> {
    fn range(&self) -> std::ops::Range<i64> {
        self.want.start..self.want.start + self.want.replicas
    }

    /// Lowest ordinal first. OrderedReady stops at the first Pod that is not yet as it should be:
    /// so Pods lost together come back one by one, and a broken one holds up all above it.
    fn replicas(&mut self) -> ControlFlow<()> {
        for ordinal in self.range() {
            let Some(pod) = self.pods.get(&ordinal) else {
                self.acts.push(Act::Create(ordinal));
                if !self.want.parallel {
                    return Break(());
                }
                continue;
            };
            if pod.ended {
                if !pod.terminating {
                    self.acts.push(Act::Delete(ordinal));
                }
                if !self.want.parallel {
                    return Break(());
                }
                continue;
            }
            let settled = !pod.terminating && pod.available(self.now);
            if !settled && !self.want.parallel {
                return Break(());
            }
        }
        Continue(())
    }

    /// Highest ordinal first. OrderedReady takes one at a time, and leaves an unhealthy one alone
    /// unless it is the first unhealthy one of all.
    fn condemned(&mut self) -> ControlFlow<()> {
        let range = self.range();
        let (pods, now) = (self.pods, self.now);
        let first_unhealthy = range
            .clone()
            .find(|ordinal| !pods.get(ordinal).is_some_and(Seen::healthy))
            .or_else(|| {
                let mut condemned = pods.iter().filter(|(ordinal, _)| !range.contains(ordinal));
                condemned.find(|(_, pod)| !pod.healthy()).map(|(ordinal, _)| *ordinal)
            });
        for (ordinal, pod) in pods.iter().rev().filter(|(ordinal, _)| !range.contains(ordinal)) {
            let blocked =
                pod.terminating || (!pod.available(now) && first_unhealthy != Some(*ordinal));
            if self.want.parallel {
                if !pod.terminating {
                    self.acts.push(Act::Delete(*ordinal));
                }
                continue;
            }
            if !blocked {
                self.acts.push(Act::Delete(*ordinal));
            }
            return Break(());
        }
        Continue(())
    }

    /// Highest ordinal first, one at a time: deletes the first outdated Pod whatever its health,
    /// and goes no further than a Pod that is not available yet.
    fn roll(&mut self, update_revision: &str) -> bool {
        let range = self.range();
        for ordinal in (range.start + self.want.partition..range.end).rev() {
            // A Pod that this pass creates is at the update revision above the partition.
            let Some(pod) = self.pods.get(&ordinal) else { return false };
            if pod.revision != update_revision && !pod.terminating {
                self.acts.push(Act::Delete(ordinal));
                return true;
            }
            if pod.terminating || !pod.available(self.now) {
                return false;
            }
        }
        false
    }
}

/// The numbers of a StatefulSet's status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pods with a phase, terminating ones included.
    pub replicas: i64,
    /// Running and Ready ones, terminating ones included.
    pub ready: i64,
    /// Those ready for minReadySeconds, terminating ones included.
    pub available: i64,
    /// At the current revision, terminating ones not.
    pub current: i64,
    /// At the update revision, terminating ones not.
    pub updated: i64,
}

/// Counts the Pods as the real controller does.
pub fn count(pods: &BTreeMap<i64, Seen>, current: &str, update: &str, now: Timestamp) -> Counts {
    let mut counts = Counts::default();
    for pod in pods.values() {
        counts.replicas += i64::from(pod.created);
        counts.ready += i64::from(pod.ready);
        counts.available += i64::from(pod.available(now));
        if pod.created && !pod.terminating {
            counts.current += i64::from(pod.revision == current);
            counts.updated += i64::from(pod.revision == update);
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-01-01T00:00:00Z".parse().unwrap()
    }

    fn want(replicas: i64) -> Want {
        Want {
            replicas,
            start: 0,
            parallel: false,
            on_delete: false,
            partition: 0,
            terminating: false,
        }
    }

    /// Pods from words: `r` ready, `u` unready, `t` terminating but ready, `f` failed, `-` absent;
    /// a capital letter is at the update revision.
    fn pods(words: &str) -> BTreeMap<i64, Seen> {
        let pod = |c: char| Seen {
            revision: if c.is_uppercase() { "new" } else { "old" }.to_owned(),
            created: true,
            ended: c.eq_ignore_ascii_case(&'f'),
            ready: matches!(c.to_ascii_lowercase(), 'r' | 't'),
            available_at: Some(Timestamp::MIN),
            terminating: c.eq_ignore_ascii_case(&'t'),
        };
        words.chars().zip(0..).filter(|(c, _)| *c != '-').map(|(c, i)| (i, pod(c))).collect()
    }

    fn check(want: &Want, words: &str, expect: &[Act]) {
        assert_eq!(acts(want, &pods(words), "new", now()).0, expect, "{words}");
    }

    use Act::{Create, Delete};

    #[test]
    fn ordered_ready_recreates_one_at_a_time_from_the_lowest() {
        check(&want(4), "R--R", &[Create(1)]);
        check(&want(4), "RU-R", &[]);
        check(&want(4), "RT-R", &[]);
        check(&want(4), "RR-R", &[Create(2)]);
    }

    #[test]
    fn parallel_recreates_all_missing_pods_at_once() {
        let want = Want { parallel: true, ..want(5) };
        check(&want, "U-T--", &[Create(1), Create(3), Create(4)]);
    }

    #[test]
    fn a_broken_low_ordinal_blocks_the_rolling_update_under_ordered_ready() {
        check(&want(3), "urr", &[]);
        check(&want(3), "rrU", &[]);
        check(&want(3), "rru", &[]);
        check(&Want { parallel: true, ..want(3) }, "rru", &[Delete(2)]);
    }

    #[test]
    fn a_rolling_update_goes_from_the_highest_one_at_a_time() {
        check(&want(3), "rrr", &[Delete(2)]);
        check(&want(3), "rrR", &[Delete(1)]);
        check(&Want { parallel: true, ..want(3) }, "rrU", &[]);
        check(&Want { parallel: true, ..want(3) }, "rrT", &[]);
        check(&want(3), "RRR", &[]);
    }

    #[test]
    fn a_rolling_update_stops_at_the_partition() {
        let held = |partition| Want { partition, ..want(3) };
        check(&held(2), "rrr", &[Delete(2)]);
        check(&held(2), "rrR", &[]);
        check(&held(3), "rrr", &[]);
        check(&held(9), "rrr", &[]);
    }

    #[test]
    fn under_on_delete_nothing_is_rolled() {
        check(&Want { on_delete: true, ..want(3) }, "rrr", &[]);
        check(&Want { on_delete: true, ..want(3) }, "rr-", &[Create(2)]);
    }

    #[test]
    fn scaling_in_takes_the_highest_first_and_waits_under_ordered_ready() {
        check(&want(1), "RRR", &[Delete(2)]);
        check(&want(1), "RRT", &[]);
        check(&want(1), "RUR", &[Delete(2)]);
        check(&want(1), "RUU", &[]);
        check(&want(1), "RRU", &[Delete(2)]);
        check(&want(1), "URR", &[]);
        check(&Want { parallel: true, ..want(1) }, "RRT", &[Delete(1)]);
        check(&Want { parallel: true, ..want(1) }, "UUR", &[Delete(2), Delete(1)]);
    }

    #[test]
    fn a_failed_pod_is_deleted_and_comes_back_on_a_later_pass() {
        check(&want(2), "fR", &[Delete(0)]);
        check(&Want { parallel: true, ..want(3) }, "F-R", &[Delete(0), Create(1)]);
    }

    #[test]
    fn a_terminating_set_does_nothing() {
        check(&Want { terminating: true, ..want(3) }, "r--", &[]);
    }

    #[test]
    fn ordinals_may_start_above_zero() {
        let want = Want { start: 2, parallel: true, ..want(2) };
        check(&want, "rrR-", &[Create(3), Delete(1), Delete(0)]);
        let held = Want { partition: 1, ..want };
        check(&held, "--rr", &[Delete(3)]);
        check(&held, "--rR", &[]);
    }

    #[test]
    fn a_pod_that_is_not_available_yet_holds_both_policies() {
        let mut pods = pods("rrR");
        pods.get_mut(&2).unwrap().available_at = Some("2026-01-01T00:00:10Z".parse().unwrap());
        for parallel in [true, false] {
            let want = Want { parallel, ..want(3) };
            assert_eq!(acts(&want, &pods, "new", now()).0, []);
            let later = "2026-01-01T00:00:10Z".parse().unwrap();
            assert_eq!(acts(&want, &pods, "new", later).0, [Delete(1)]);
        }
    }

    #[test]
    fn ready_counts_include_terminating_pods_and_updated_counts_do_not() {
        let counts = count(&pods("rTUt"), "old", "new", now());
        assert_eq!(counts, Counts { replicas: 4, ready: 3, available: 3, current: 1, updated: 1 });
    }
}
