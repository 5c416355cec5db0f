//! Which Pods a user wants updated before others (`priorityStrategy`).

use std::cmp::Reverse;

use crate::behaviour::select;
use crate::json::Value;
use crate::object;

/// A Pod's rank: the least comes first. All are alike without a strategy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority {
    weight: Reverse<i64>,
    level: Reverse<usize>,
    number: Reverse<i64>,
}

impl Priority {
    /// By weights: the sum of those whose selectors select the Pod, the heaviest first. By order:
    /// the first of the keys that is a label of the Pod, and the number that ends its value, the
    /// greatest first; Pods without any of the keys come last.
    pub fn of(pod: &Value, strategy: &Value) -> Self {
        let labels = object::labels(pod);
        let terms = strategy["weightPriority"].as_array().into_iter().flatten();
        let selecting = terms.filter(|term| select::selects(&term["matchSelector"], labels));
        let weight = selecting.filter_map(|term| term["weight"].as_i64()).sum();
        let keys: Vec<&str> = strategy["orderPriority"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|term| term["orderedKey"].as_str())
            .collect();
        let labelled = |(place, key): (usize, &&str)| Some((place, object::label(pod, key)?));
        let (level, number) = match keys.iter().enumerate().find_map(labelled) {
            Some((place, value)) => (keys.len() - place, last_number(value)),
            None => (if keys.is_empty() { 0 } else { keys.len() + 1 }, 0),
        };
        Self { weight: Reverse(weight), level: Reverse(level), number: Reverse(number) }
    }
}

/// The number that a text ends with: 10 of `sts-10`.
fn last_number(text: &str) -> i64 {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    text[digits..].parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    /// The names of Pods with these labels in the order of a strategy.
    fn check(strategy: &Value, pods: &[(&str, Value)], expect: &[&str]) {
        let of = |labels: &Value| Priority::of(&json!({"metadata": {"labels": labels}}), strategy);
        let mut sorted: Vec<(Priority, &str)> =
            pods.iter().map(|(name, labels)| (of(labels), *name)).collect();
        sorted.sort_by_key(|(priority, _)| *priority);
        assert_eq!(sorted.iter().map(|(_, name)| *name).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn the_heaviest_pods_come_first() {
        let term = |weight: i64, tier: &str| json!({"weight": weight, "matchSelector": {"matchLabels": {"tier": tier}}});
        let strategy = json!({"weightPriority": [term(10, "a"), term(50, "b")]});
        let pods =
            [("none", json!({})), ("light", json!({"tier": "a"})), ("heavy", json!({"tier": "b"}))];
        check(&strategy, &pods, &["heavy", "light", "none"]);
    }

    #[test]
    fn the_greatest_numbers_of_the_first_key_come_first() {
        let strategy =
            json!({"orderPriority": [{"orderedKey": "first"}, {"orderedKey": "second"}]});
        let pods = [
            ("neither", json!({})),
            ("second", json!({"second": "99"})),
            ("small", json!({"first": "web-9"})),
            ("great", json!({"first": "web-10"})),
        ];
        check(&strategy, &pods, &["neither", "great", "small", "second"]);
    }

    #[test]
    fn without_a_strategy_all_are_alike() {
        assert_eq!(
            Priority::of(&json!({"metadata": {"labels": {"a": "1"}}}), &Value::Null),
            Priority::default()
        );
    }
}
