//! Which nodes the rolling update of an Advanced DaemonSet may look at.

use std::collections::BTreeMap;

use crate::behaviour::daemonset::keep::Place;
use crate::behaviour::daemonset::roll::pair;
use crate::behaviour::share::scaled;
use crate::json::Value;

/// The nodes that the partition leaves free: those that have a Pod of today's template or none at
/// all come first, then the last ones by name. A percentage of the partition is rounded down. Where
/// there is a selector, an old Pod is left alone on any node that it does not select.
pub fn chosen(
    places: &BTreeMap<String, Place>,
    partition: &Value,
    selected: Option<&dyn Fn(&str) -> bool>,
) -> BTreeMap<String, Place> {
    let total = i64::try_from(places.len()).unwrap_or(i64::MAX);
    let free = usize::try_from(total - scaled(partition, total, false)).unwrap_or(0);
    let (mut updated, mut empty, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for (node, place) in places.iter().rev() {
        match pair(place) {
            None | Some((Some(_), _)) => updated.push(node),
            Some((None, None)) => empty.push(node),
            Some((None, Some(_))) if selected.is_none_or(|selects| selects(node)) => {
                rest.push(node);
            }
            Some((None, Some(_))) => {}
        }
    }
    let first = updated.into_iter().chain(empty).chain(rest).take(free);
    first
        .filter_map(|node| places.get_key_value(node))
        .map(|(n, p)| (n.clone(), p.clone()))
        .collect()
}

/// How many Pods may be made at once where they are made step by step, as the partition is lowered:
/// the others stay without one.
pub fn makes(places: &BTreeMap<String, Place>, partition: &Value) -> usize {
    let desired = places.values().filter(|place| place.fit.runs).count();
    let total = i64::try_from(desired).unwrap_or(i64::MAX);
    let partition = usize::try_from(scaled(partition, total, false)).unwrap_or(0).min(desired);
    let new = places.values().filter(|place| matches!(pair(place), Some((Some(_), _)))).count();
    desired.saturating_sub(new + partition)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behaviour::daemonset::fit::Fit;
    use crate::behaviour::daemonset::keep::Seen;
    use crate::json::json;

    /// Nodes a, b, c … from words: `o` an old Pod, `N` a new one, `-` none, `t` one on its way out.
    fn places(words: &str) -> BTreeMap<String, Place> {
        let place = |(word, node): (char, char)| {
            let name = format!("{node}0");
            let seen =
                Seen { name, updated: word == 'N', terminating: word == 't', ..Seen::default() };
            let pods = if word == '-' { Vec::new() } else { vec![seen] };
            (node.to_string(), Place { fit: Fit { runs: true, keeps: true }, pods })
        };
        words.chars().zip('a'..).map(place).collect()
    }

    #[track_caller]
    fn check(words: &str, partition: impl Into<Value>, expect: &str) {
        let partition = partition.into();
        let chosen: String = chosen(&places(words), &partition, None).into_keys().collect();
        assert_eq!(chosen, expect, "{words} {partition}");
    }

    #[test]
    fn the_last_nodes_go_first() {
        check("ooo", 3, "");
        check("ooo", 2, "c");
        check("ooo", 1, "bc");
        check("ooo", 0, "abc");
        check("ooo", Value::Null, "abc");
        check("ooo", 9, "");
    }

    #[test]
    fn a_percentage_is_rounded_down() {
        check("ooo", "100%", "");
        check("ooo", "50%", "bc");
        check("ooo", "34%", "bc");
        check("ooo", "33%", "abc");
        check("ooo", "0%", "abc");
    }

    #[test]
    fn nodes_that_have_moved_already_or_have_no_pod_fill_the_partition_up() {
        check("Noo", 2, "a");
        check("Noo", 1, "ac");
        check("NNo", 2, "b");
        check("-oo", 2, "a");
        check("too", 2, "a");
        check("-No", 2, "b");
    }

    #[test]
    fn a_selector_leaves_old_pods_on_other_nodes_alone() {
        let only = |node: &str| node == "b";
        let nodes: String = chosen(&places("oNoo"), &json!(0), Some(&only)).into_keys().collect();
        assert_eq!(nodes, "b");
        let nodes: String = chosen(&places("ooo"), &json!(1), Some(&only)).into_keys().collect();
        assert_eq!(nodes, "b");
    }

    #[test]
    fn step_by_step_as_many_are_made_as_the_partition_leaves_free() {
        let check = |words: &str, partition: Value, expect: usize| {
            assert_eq!(makes(&places(words), &partition), expect, "{words} {partition}");
        };
        check("---", json!(2), 1);
        check("--N", json!(2), 0);
        check("--N", json!(1), 1);
        check("---", json!("50%"), 2);
        check("---", json!(9), 0);
    }
}
