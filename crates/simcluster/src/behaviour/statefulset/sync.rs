//! One pass of the StatefulSet controller over its Pods: what to create, what to delete, and why
//! it stops where it does. Plain values in, plain values out.

use std::collections::BTreeMap;
use std::ops::ControlFlow::{self, Break, Continue};

use jiff::Timestamp;

use super::seen::Seen;
use super::want::Want;

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
    let (mut acts, done) = scale(want, pods, now);
    if done.is_break() || want.on_delete {
        return (acts, false);
    }
    let rolled = roll(want, pods, update_revision, now);
    acts.extend(rolled.map(Act::Delete));
    (acts, rolled.is_some())
}

/// What has to be made and what is too many, and whether the pass ends there.
pub fn scale(
    want: &Want,
    pods: &BTreeMap<i64, Seen>,
    now: Timestamp,
) -> (Vec<Act>, ControlFlow<()>) {
    if want.terminating {
        return (Vec::new(), Break(()));
    }
    let mut pass = Pass { want, pods, now, acts: Vec::new() };
    let mut done = pass.replicas();
    if done.is_continue() {
        done = pass.condemned();
    }
    (pass.acts, done)
}

struct Pass<'a> {
    want: &'a Want,
    pods: &'a BTreeMap<i64, Seen>,
    now: Timestamp,
    acts: Vec<Act>,
}

impl Pass<'_> {
    /// Lowest ordinal first. OrderedReady stops at the first Pod that is not yet as it should be:
    /// so Pods lost together come back one by one, and a broken one holds up all above it.
    fn replicas(&mut self) -> ControlFlow<()> {
        let parallel = self.want.parallel;
        let mut left = self.want.scale_most;
        for ordinal in self.want.ordinals() {
            let pod = self.pods.get(&ordinal);
            match pod {
                Some(pod) if pod.ended => {
                    if !pod.terminating {
                        self.acts.push(Act::Delete(ordinal));
                    }
                    if !parallel || self.want.ended_holds {
                        return Break(());
                    }
                    continue;
                }
                Some(pod) if !pod.terminating && pod.available(self.now) => continue,
                Some(_) => {}
                None => self.acts.push(Act::Create(ordinal)),
            }
            if !parallel {
                return Break(());
            }
            left = left.map(|left| left - 1);
            if left.is_some_and(|left| left <= 0) {
                break;
            }
        }
        Continue(())
    }

    /// Highest ordinal first. OrderedReady takes one at a time, and leaves an unhealthy one alone
    /// unless it is the first unhealthy one of all.
    fn condemned(&mut self) -> ControlFlow<()> {
        let (want, pods, now) = (self.want, self.pods, self.now);
        let mut condemned =
            pods.iter().filter(|(ordinal, _)| !want.has(**ordinal)).map(|(i, pod)| (*i, pod));
        let first_unhealthy = want
            .ordinals()
            .find(|ordinal| !pods.get(ordinal).is_some_and(Seen::healthy))
            .or_else(|| condemned.clone().find(|(_, pod)| !pod.healthy()).map(|(i, _)| i));
        while let Some((ordinal, pod)) = condemned.next_back() {
            let blocked =
                pod.terminating || (!pod.available(now) && first_unhealthy != Some(ordinal));
            if want.parallel {
                if !pod.terminating {
                    self.acts.push(Act::Delete(ordinal));
                }
                continue;
            }
            if !blocked {
                self.acts.push(Act::Delete(ordinal));
            }
            return Break(());
        }
        Continue(())
    }
}

/// Highest ordinal first, one at a time: the first outdated Pod whatever its health; and no further
/// than a Pod that is not available yet.
fn roll(
    want: &Want,
    pods: &BTreeMap<i64, Seen>,
    update_revision: &str,
    now: Timestamp,
) -> Option<i64> {
    for ordinal in want.ordinals().rev().take_while(|&i| want.below(i) >= want.partition) {
        // A Pod that this pass creates is at the update revision above the partition.
        let pod = pods.get(&ordinal)?;
        if pod.revision != update_revision && !pod.terminating {
            return Some(ordinal);
        }
        if pod.terminating || !pod.available(now) {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behaviour::statefulset::seen::tests::pods;
    use crate::behaviour::statefulset::seen::{Counts, count};

    fn now() -> Timestamp {
        "2026-01-01T00:00:00Z".parse().unwrap()
    }

    fn want(replicas: i64) -> Want {
        Want { replicas, ..Want::default() }
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
    fn reserved_ordinals_are_left_out_and_their_pods_go() {
        let want = Want { reserved: [1, 3, 9].into(), parallel: true, ..want(4) };
        assert_eq!(want.ordinals().collect::<Vec<_>>(), [0, 2, 4, 5]);
        assert_eq!([0, 2, 4, 5].map(|ordinal| want.below(ordinal)), [0, 1, 2, 3]);
        assert!(want.has(5) && !want.has(3) && !want.has(6));
        check(&want, "RRRRR", &[Create(5), Delete(3), Delete(1)]);
        check(&Want { parallel: false, ..want.clone() }, "RRRRR", &[Create(5)]);
        check(&Want { parallel: false, ..want }, "RRRRRR", &[Delete(3)]);
    }

    #[test]
    fn a_bound_on_what_is_missing_slows_scaling_down_but_not_the_rest() {
        let bound = |most| Want { scale_most: Some(most), parallel: true, ..want(5) };
        check(&bound(2), "", &[Create(0), Create(1)]);
        check(&bound(2), "RU---", &[Create(2)]);
        check(&bound(1), "uR---", &[]);
        check(&bound(2), "RRR--RR", &[Create(3), Create(4), Delete(6), Delete(5)]);
    }

    #[test]
    fn a_pod_that_has_come_to_an_end_may_hold_up_the_rest_under_parallel_too() {
        let want = Want { ended_holds: true, parallel: true, ..want(3) };
        check(&want, "F-R", &[Delete(0)]);
    }

    #[test]
    fn a_pod_that_is_being_changed_is_neither_healthy_nor_available() {
        let mut pods = pods("rrr");
        pods.get_mut(&1).unwrap().changing = true;
        assert_eq!(acts(&want(3), &pods, "new", now()).0, []);
        assert_eq!(count(&pods, "old", "new", now()).available, 2);
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
