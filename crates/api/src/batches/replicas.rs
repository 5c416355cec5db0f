//! Counts and percentages, rounded as OpenKruise rounds them.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

/// What a manifest has where a number or a percentage goes, kept as it is written.
///
/// Any JSON can be in it: one object with nonsense must not make the whole watch fail.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(transparent)]
pub struct IntOrString(pub Value);

impl IntOrString {
    /// What it says.
    pub fn read(&self) -> Result<IntOrPercent, NotACount> {
        IntOrPercent::read(&self.0)
    }
}

impl From<IntOrPercent> for IntOrString {
    fn from(value: IntOrPercent) -> Self {
        Self(match value {
            IntOrPercent::Int(count) => Value::from(count),
            IntOrPercent::Percent(percent) => Value::from(format!("{percent}%")),
        })
    }
}

impl JsonSchema for IntOrString {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "IntOrString".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "x-kubernetes-int-or-string": true })
    }
}

/// A number of Pods, or a share of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntOrPercent {
    /// So many Pods.
    Int(u32),
    /// So many in a hundred; may be above 100, where that means something.
    Percent(u32),
}

/// Neither a number of Pods nor a percentage.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0} is neither a whole number of Pods nor a percentage such as \"20%\"")]
pub struct NotACount(pub String);

impl IntOrPercent {
    /// All Pods, in the one spelling that is never waited for at the end of a release.
    pub const ALL: Self = Self::Percent(100);

    /// Reads `5` and `"20%"`, nothing below 0 and nothing of more than 31 bits. A string of digits
    /// alone is no number: the original refuses it too.
    pub fn read(value: &Value) -> Result<Self, NotACount> {
        let count = |number: i64| u32::try_from(number).ok().filter(|n| i32::try_from(*n).is_ok());
        let read = match value {
            Value::Number(number) => number.as_i64().and_then(count).map(Self::Int),
            Value::String(text) => text
                .strip_suffix('%')
                .filter(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
                .and_then(|digits| digits.parse().ok())
                .and_then(count)
                .map(Self::Percent),
            _ => None,
        };
        read.ok_or_else(|| NotACount(value.to_string()))
    }

    /// Whether this is a percentage.
    pub fn is_percent(self) -> bool {
        matches!(self, Self::Percent(_))
    }

    /// Pods out of `replicas`, at most all of them; parts of a Pod count as a whole one.
    pub fn of(self, replicas: u32) -> u32 {
        self.rounded(replicas, |product| product.div_ceil(100)).min(replicas)
    }

    /// As [`of`](Self::of), but with less than `100%` of several Pods one at least stays behind: how
    /// the original sizes a Deployment.
    pub fn of_deployment(self, replicas: u32) -> u32 {
        let pods = self.of(replicas);
        let is_part = matches!(self, Self::Percent(percent) if percent < 100);
        if is_part && replicas > 1 { pods.min(replicas - 1) } else { pods }
    }

    /// Pods out of `replicas`, parts of a Pod not counted: how a workload's `maxUnavailable` is read.
    pub fn of_rounded_down(self, replicas: u32) -> u32 {
        self.rounded(replicas, |product| product / 100).min(replicas)
    }

    /// Unready Pods that are tolerated among `updated` ones.
    pub fn tolerated(self, updated: u32) -> u32 {
        self.of(updated)
    }

    fn rounded(self, replicas: u32, divide: impl Fn(u64) -> u64) -> u32 {
        match self {
            Self::Int(count) => count,
            Self::Percent(percent) => {
                let pods = divide(u64::from(percent) * u64::from(replicas));
                u32::try_from(pods).unwrap_or(u32::MAX)
            }
        }
    }
}

impl std::fmt::Display for IntOrPercent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(count) => write!(f, "{count}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn check(value: &Value, expect: Option<IntOrPercent>) {
        assert_eq!(IntOrPercent::read(value).ok(), expect, "{value}");
    }

    #[test]
    fn a_whole_number_or_a_percentage_is_a_count() {
        check(&json!(0), Some(IntOrPercent::Int(0)));
        check(&json!(2_147_483_647), Some(IntOrPercent::Int(2_147_483_647)));
        check(&json!("20%"), Some(IntOrPercent::Percent(20)));
        check(&json!("120%"), Some(IntOrPercent::Percent(120)));
        check(&json!("007%"), Some(IntOrPercent::Percent(7)));
        let wrong = [
            json!(-1),
            json!(2_147_483_648_i64),
            json!(1.5),
            json!("5"),
            json!("%"),
            json!("-5%"),
            json!("+5%"),
            json!("5 %"),
            json!("5%%"),
            json!("99999999999%"),
            json!(""),
            json!(null),
            json!([5]),
        ];
        for value in wrong {
            check(&value, None);
        }
        let error = IntOrPercent::read(&json!("5")).unwrap_err().to_string();
        assert!(error.starts_with("\"5\" is neither"), "{error}");
    }

    /// Pods at a step, of a Deployment's at a step, and as a maxUnavailable.
    fn pods(value: &Value, replicas: u32, expect: [u32; 3]) {
        let it = IntOrPercent::read(value).unwrap();
        let found = [it.of(replicas), it.of_deployment(replicas), it.of_rounded_down(replicas)];
        assert_eq!(found, expect, "{value} of {replicas}");
    }

    #[test]
    fn percentages_round_up_but_down_as_a_budget() {
        pods(&json!("50%"), 5, [3, 3, 2]);
        pods(&json!("20%"), 5, [1, 1, 1]);
        pods(&json!("1%"), 28, [1, 1, 0]);
        pods(&json!("99%"), 3, [3, 2, 2]);
        pods(&json!("99%"), 1, [1, 1, 0]);
        pods(&json!("100%"), 3, [3, 3, 3]);
        pods(&json!("120%"), 3, [3, 3, 3]);
        pods(&json!(5), 3, [3, 3, 3]);
        pods(&json!(2), 3, [2, 2, 2]);
        pods(&json!("50%"), 0, [0, 0, 0]);
        pods(&json!(2_147_483_647), 1000, [1000, 1000, 1000]);
    }

    #[test]
    fn a_count_is_written_as_it_is_read() {
        for value in [json!(3), json!("20%")] {
            let read = IntOrString(value.clone()).read().unwrap();
            assert_eq!(IntOrString::from(read).0, value);
        }
        assert_eq!(IntOrPercent::Percent(5).to_string(), "5%");
    }

    proptest! {
        #[test]
        fn more_is_never_fewer_pods_and_never_more_than_there_are(p in 0u32..200, n in 0u32..5000) {
            for make in [IntOrPercent::Int, IntOrPercent::Percent] {
                let (less, more) = (make(p), make(p + 1));
                prop_assert!(less.of(n) <= more.of(n));
                prop_assert!(less.of_deployment(n) <= more.of_deployment(n));
                prop_assert!(less.of_rounded_down(n) <= less.of(n));
                prop_assert!(more.of(n) <= n);
            }
        }
    }
}
