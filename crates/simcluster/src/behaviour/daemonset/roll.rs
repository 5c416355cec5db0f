//! The rolling update of a DaemonSet: which old Pods go, which nodes get a second one.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::hands::Bounds;
use super::keep::{Place, Plan, Seen};

/// The one Pod of today's template and the one of another, of those that are not on their way out.
/// `None` when there are more of either.
pub fn pair(place: &Place) -> Option<(Option<&Seen>, Option<&Seen>)> {
    let one = |updated: bool| {
        let mut all = place.pods.iter().filter(|pod| !pod.terminating && pod.updated == updated);
        let first = all.next();
        all.next().is_none().then_some(first)
    };
    Some((one(true)?, one(false)?))
}

/// What the rolling update does next within its bounds. `down_counts` as in [`replace`].
pub fn next(
    places: &BTreeMap<String, Place>,
    bounds: Bounds,
    down_counts: bool,
    now: Timestamp,
) -> Plan {
    match bounds.surge {
        0 => replace(places, bounds.unavailable, down_counts, now),
        surge => self::surge(places, surge, bounds.desired, now),
    }
}

/// Deletes old Pods, as long as no more than `most` nodes are without an available one. Those that
/// are not available go in any case; `down_counts` says whether they count among the `most`.
pub fn replace(
    places: &BTreeMap<String, Place>,
    most: usize,
    down_counts: bool,
    now: Timestamp,
) -> Plan {
    let (mut unavailable, mut at_once, mut candidates) = (0, Vec::new(), Vec::new());
    for place in places.values() {
        match pair(place) {
            None | Some((None, None) | (Some(_), Some(_))) => unavailable += 1,
            Some((Some(new), None)) => unavailable += usize::from(!new.available(now)),
            Some((None, Some(old))) if !old.available(now) => {
                unavailable += usize::from(down_counts);
                at_once.push(old.name.clone());
            }
            Some((None, Some(old))) if unavailable < most => candidates.push(old.name.clone()),
            Some((None, Some(_))) => {}
        }
    }
    candidates.truncate(most.saturating_sub(unavailable));
    at_once.extend(candidates);
    Plan { delete: at_once, ..Plan::default() }
}

/// Puts a second Pod beside old ones, on at most `most` nodes at once, and deletes the old one when
/// the second is available. Nodes whose old Pod is not available get one in any case. On nodes that
/// are to have none any more, old Pods go when enough others are available.
pub fn surge(
    places: &BTreeMap<String, Place>,
    most: usize,
    desired: usize,
    now: Timestamp,
) -> Plan {
    let (mut surging, mut available) = (0, 0);
    let (mut delete, mut leaving) = (Vec::new(), Vec::new());
    let (mut at_once, mut candidates) = (Vec::new(), Vec::new());
    for (node, place) in places {
        let Some((new, old)) = pair(place) else {
            surging += 1;
            continue;
        };
        available += usize::from(old.or(new).is_some_and(|pod| pod.available(now)));
        let Some(old) = old else { continue };
        match new {
            Some(new) if !new.available(now) => surging += 1,
            Some(_) => delete.push(old.name.clone()),
            None if !old.available(now) && !place.fit.runs => delete.push(old.name.clone()),
            None if !old.available(now) => at_once.push(node.clone()),
            None if !place.fit.runs => leaving.push(old.name.clone()),
            None if surging < most => candidates.push(node.clone()),
            None => {}
        }
    }
    leaving.truncate(available.saturating_sub(desired));
    delete.extend(leaving);
    candidates.truncate(most.saturating_sub(surging));
    at_once.extend(candidates);
    Plan { create: at_once, delete, ..Plan::default() }
}

#[cfg(test)]
mod tests {
    use super::super::keep::tests::place;
    use super::*;

    fn places(words: &str) -> BTreeMap<String, Place> {
        let nodes = words.split(' ').zip(["a", "b", "c", "d"]);
        nodes
            .map(|(words, node)| {
                // `!` is a node that is to have no Pod.
                let (wanted, words) =
                    words.strip_prefix('!').map_or((true, words), |rest| (false, rest));
                let words = words.trim_matches('-');
                (node.to_owned(), place(node, wanted, true, words))
            })
            .collect()
    }

    #[track_caller]
    fn check_replace(words: &str, most: usize, delete: &[&str]) {
        let plan = replace(&places(words), most, true, Timestamp::UNIX_EPOCH);
        assert_eq!(plan.delete, delete, "{words}");
    }

    #[test]
    fn where_those_that_are_down_do_not_count_one_more_goes_with_them() {
        let plan = replace(&places("u r r"), 1, false, Timestamp::UNIX_EPOCH);
        assert_eq!(plan.delete, ["a0", "b0"]);
    }

    #[test]
    fn old_pods_go_within_what_may_be_unavailable() {
        check_replace("r r r", 1, &["a0"]);
        check_replace("r r r", 2, &["a0", "b0"]);
        check_replace("U r r", 1, &[]);
        check_replace("R r r", 1, &["b0"]);
        check_replace("- r r", 1, &[]);
        check_replace("t r r", 1, &[]);
        check_replace("r r U", 1, &[]);
    }

    #[test]
    fn old_pods_that_are_not_available_go_whatever_the_bound() {
        check_replace("u u r", 1, &["a0", "b0"]);
        check_replace("U u r", 1, &["b0"]);
    }

    #[track_caller]
    fn check_surge(words: &str, most: usize, create: &[&str], delete: &[&str]) {
        let places = places(words);
        let desired = places.values().filter(|place| place.fit.runs).count();
        let plan = surge(&places, most, desired, Timestamp::UNIX_EPOCH);
        let all = |some: &[&str]| some.iter().map(|&one| one.to_owned()).collect::<Vec<_>>();
        assert_eq!((plan.create, plan.delete), (all(create), all(delete)), "{words}");
    }

    #[test]
    fn new_pods_come_beside_old_ones_within_the_surge() {
        check_surge("r r r", 1, &["a"], &[]);
        check_surge("rU r r", 1, &[], &[]);
        check_surge("rR r r", 1, &["b"], &["a0"]);
        check_surge("u r r", 1, &["a", "b"], &[]);
        check_surge("R R R", 1, &[], &[]);
    }

    #[test]
    fn where_none_is_wanted_any_more_the_old_one_goes_when_others_can_stand_in() {
        check_surge("!r r r", 1, &["b"], &["a0"]);
        check_surge("!r rU u", 1, &["c"], &[]);
        check_surge("!u rU r", 1, &[], &["a0"]);
    }
}
