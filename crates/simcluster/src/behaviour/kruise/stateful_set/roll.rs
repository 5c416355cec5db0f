//! Which Pods of an Advanced StatefulSet are updated next, and which are deleted because somebody
//! said so.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::behaviour::kruise::priority::Priority;
use crate::behaviour::share::scaled;
use crate::behaviour::statefulset::seen::Seen;
use crate::behaviour::statefulset::want::Want;
use crate::json::Value;
use crate::object::Object;

/// How an Advanced StatefulSet wants its Pods updated.
#[derive(Clone, Debug, Default)]
pub struct Rolling {
    /// `maxUnavailable`, at least 1; a percentage is rounded down.
    pub most: usize,
    /// `unorderedUpdate` is there: those that are updated, wherever they are, fill what the
    /// partition leaves free.
    pub unordered: bool,
    /// Where Pods stand by `priorityStrategy`, without order: the lowest first.
    pub ranks: BTreeMap<i64, Priority>,
    /// `paused`.
    pub paused: bool,
}

impl Rolling {
    /// What `spec.updateStrategy.rollingUpdate` says of it, and of these Pods.
    pub fn of(rolling: &Value, replicas: i64, pods: &[(i64, Object)]) -> Self {
        let most = scaled(&rolling["maxUnavailable"], replicas, false).max(1);
        let rank = |pod| Priority::of(pod, &rolling["unorderedUpdate"]["priorityStrategy"]);
        Self {
            most: usize::try_from(most).unwrap_or(1),
            unordered: rolling["unorderedUpdate"].is_object(),
            ranks: pods.iter().map(|(i, pod)| (*i, rank(pod))).collect(),
            paused: rolling["paused"] == true,
        }
    }
}

/// What is next, each in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// Those that somebody marked for deletion.
    pub delete: Vec<i64>,
    /// Those that get the update revision.
    pub update: Vec<i64>,
}

/// The turn of one pass: as many as may be unavailable at once, and those that are so already. Pods
/// that this pass makes are among the others, as those that they will be.
pub fn next(
    want: &Want,
    rolling: &Rolling,
    pods: &BTreeMap<i64, Seen>,
    marked: &BTreeSet<i64>,
    update_revision: &str,
    now: Timestamp,
) -> Turn {
    let mut turn = Turn::default();
    let stands = |pod: &Seen| pod.healthy() && pod.available(now);
    let mut down: BTreeSet<i64> =
        want.ordinals().filter(|ordinal| !pods.get(ordinal).is_some_and(stands)).collect();
    for ordinal in want.ordinals().rev().filter(|ordinal| marked.contains(ordinal)) {
        // One that may not go is passed over: another that is down already may.
        if down.len() < rolling.most || down.contains(&ordinal) {
            turn.delete.push(ordinal);
            down.insert(ordinal);
        }
    }
    for ordinal in order(want, rolling, pods, update_revision) {
        let Some(pod) = pods.get(&ordinal) else { continue };
        if pod.revision == update_revision {
            continue;
        }
        if down.len() >= rolling.most && !down.contains(&ordinal) {
            break;
        }
        if !turn.delete.contains(&ordinal) && !pod.terminating {
            turn.update.push(ordinal);
            down.insert(ordinal);
        }
    }
    turn
}

/// The ordinals that are to be at the update revision, in the order in which they are brought there.
fn order(
    want: &Want,
    rolling: &Rolling,
    pods: &BTreeMap<i64, Seen>,
    update_revision: &str,
) -> Vec<i64> {
    let free = usize::try_from(want.replicas - want.partition).unwrap_or(0);
    if !rolling.unordered {
        // Reserved ordinals are counted by the one bound and not by the other.
        let lowest = want.start + want.partition;
        return want.ordinals().rev().take_while(|ordinal| *ordinal >= lowest).take(free).collect();
    }
    let moved = |pod: &Seen| pod.terminating || pod.revision == update_revision;
    let (mut order, mut waiting): (Vec<i64>, Vec<i64>) =
        want.ordinals().rev().partition(|ordinal| pods.get(ordinal).is_some_and(moved));
    waiting.sort_by_key(|ordinal| rolling.ranks.get(ordinal));
    order.extend(waiting);
    order.truncate(free);
    order
}

#[cfg(test)]
mod tests {
    use std::borrow::Borrow;

    use super::*;
    use crate::behaviour::statefulset::seen::tests::pods;
    use crate::json::json;

    fn want(replicas: i64, partition: i64) -> Want {
        Want { replicas, partition, parallel: true, ..Want::default() }
    }

    fn rolling(most: usize, unordered: bool) -> Rolling {
        Rolling { most, unordered, ..Rolling::default() }
    }

    #[track_caller]
    fn check(want: &Want, rolling: impl Borrow<Rolling>, words: &str, update: &[i64]) {
        let rolling = rolling.borrow();
        let turn =
            next(want, rolling, &pods(words), &BTreeSet::new(), "new", Timestamp::UNIX_EPOCH);
        assert_eq!(turn, Turn { delete: Vec::new(), update: update.to_vec() }, "{words}");
    }

    #[test]
    fn the_highest_go_first_as_many_as_may_be_unavailable() {
        check(&want(4, 0), rolling(1, false), "rrrr", &[3]);
        check(&want(4, 0), rolling(2, false), "rrrr", &[3, 2]);
        check(&want(4, 0), rolling(9, false), "rrrr", &[3, 2, 1, 0]);
        check(&want(4, 0), rolling(2, false), "rrrU", &[2]);
        check(&want(4, 0), rolling(2, false), "rrCU", &[]);
        check(&want(4, 0), rolling(2, false), "rrtU", &[]);
        check(&want(4, 0), rolling(2, false), "rr-R", &[1]);
        check(&want(4, 0), rolling(1, false), "RRRR", &[]);
    }

    #[test]
    fn one_that_is_down_goes_whatever_the_bound_when_its_turn_comes() {
        check(&want(4, 0), rolling(1, false), "rrru", &[3]);
        check(&want(4, 0), rolling(1, false), "rruu", &[3, 2]);
        check(&want(4, 0), rolling(1, false), "urrr", &[]);
        check(&want(4, 0), rolling(2, false), "urrr", &[3]);
    }

    #[test]
    fn a_partition_leaves_the_lowest_ones() {
        check(&want(5, 3), rolling(9, false), "rrrrr", &[4, 3]);
        check(&want(5, 5), rolling(9, false), "rrrrr", &[]);
        check(&want(5, 9), rolling(9, false), "rrrrr", &[]);
        check(&want(5, 3), rolling(9, false), "RrrrR", &[3]);
    }

    #[test]
    fn without_order_those_that_are_updated_already_fill_the_partition_up() {
        check(&want(5, 3), rolling(9, true), "rrrrr", &[4, 3]);
        check(&want(5, 3), rolling(9, true), "Rrrrr", &[4]);
        check(&want(5, 3), rolling(9, true), "RRrrr", &[]);
        check(&want(5, 3), rolling(9, true), "trrrr", &[4]);
        check(&want(5, 0), rolling(2, true), "rrURr", &[4]);
        check(&want(5, 3), rolling(9, true), "RrUrr", &[]);
    }

    #[test]
    fn without_order_those_that_wait_go_by_rank_and_then_by_ordinal() {
        let strategy = json!({"orderPriority": [{"orderedKey": "rank"}]});
        let pod = |rank| json!({"metadata": {"labels": {"rank": rank}}});
        let ranks = ["9", "1", "9", "1", "5"].map(|rank| Priority::of(&pod(rank), &strategy));
        let ranked = Rolling { ranks: (0..).zip(ranks).collect(), ..rolling(9, true) };
        check(&want(5, 2), &ranked, "rrrrr", &[2, 0, 4]);
        check(&want(5, 2), &ranked, "rRrrr", &[2, 0]);
        check(&want(5, 2), Rolling { unordered: false, ..ranked }, "rrrrr", &[4, 3, 2]);
    }

    #[test]
    fn reserved_ordinals_are_passed_over() {
        let reserved = |partition| Want { reserved: [1, 3].into(), ..want(5, partition) };
        check(&reserved(3), rolling(9, false), "r-r-rrr", &[6, 5]);
        check(&reserved(0), rolling(9, false), "r-r-rrr", &[6, 5, 4, 2, 0]);
        check(&reserved(0), rolling(9, false), "rrrrrrr", &[6, 5, 4, 2, 0]);
        check(&reserved(3), rolling(9, true), "r-R-rrr", &[6]);
    }

    #[test]
    fn marked_pods_are_deleted_below_a_partition_too_and_count_as_unavailable() {
        let turn = |most, words: &str, marked: &[i64]| {
            let marked = marked.iter().copied().collect();
            next(&want(5, 3), &rolling(most, false), &pods(words), &marked, "new", Timestamp::MIN)
        };
        let both = |delete: &[i64], update: &[i64]| Turn {
            delete: delete.to_vec(),
            update: update.to_vec(),
        };
        assert_eq!(turn(1, "rrrrr", &[0]), both(&[0], &[]));
        assert_eq!(turn(2, "rrrrr", &[0]), both(&[0], &[4]));
        assert_eq!(turn(2, "rrrrr", &[0, 1, 4]), both(&[4, 1], &[]));
        assert_eq!(turn(2, "ruurr", &[1, 4]), both(&[1], &[]));
    }

    #[test]
    fn a_percentage_is_rounded_down_but_never_to_nothing() {
        let most = |value: Value| Rolling::of(&json!({"maxUnavailable": value}), 5, &[]).most;
        assert_eq!(most("50%".into()), 2);
        assert_eq!(most("10%".into()), 1);
        assert_eq!(most("100%".into()), 5);
        assert_eq!(most(0.into()), 1);
        assert_eq!(most(Value::Null), 1);
    }
}
