//! Quantities that users write: percentages and what they come to in Pods.

use thiserror::Error;

/// A whole percentage, 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percent(u8);

/// A number that is no percentage.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0} is not a percentage: use a whole number from 0 to 100")]
pub struct NotAPercentage(pub i64);

impl Percent {
    /// All Pods.
    pub const ALL: Self = Self(100);
    /// No Pod.
    pub const NONE: Self = Self(0);

    /// Checks the range 0 to 100.
    pub fn new(value: i64) -> Result<Self, NotAPercentage> {
        u8::try_from(value).ok().filter(|p| *p <= 100).map(Self).ok_or(NotAPercentage(value))
    }

    /// The number itself.
    pub fn get(self) -> u8 {
        self.0
    }

    /// Whether every Pod is meant.
    pub fn is_all(self) -> bool {
        self == Self::ALL
    }

    /// How many Pods of `replicas` this is: rounded up, and between the ends (0 < p < 100, more
    /// than one replica) at least one Pod and never all of them, so that a canary is a canary.
    pub fn of(self, replicas: u32) -> u32 {
        let exact = (u64::from(self.0) * u64::from(replicas)).div_ceil(100);
        let pods = u32::try_from(exact).expect("a percentage of a u32 fits a u32");
        if self.0 == 0 || self.is_all() || replicas < 2 {
            return pods;
        }
        pods.clamp(1, replicas - 1)
    }
}

impl std::fmt::Display for Percent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}%", self.0)
    }
}

/// A number of Pods, or a share of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IntOrPercent {
    /// So many Pods.
    Int(u32),
    /// So many in a hundred; may be above 100, where that means something.
    Percent(u32),
}

impl IntOrPercent {
    /// All Pods, in the one spelling that is never waited for at the end of a release.
    pub const ALL: Self = Self::Percent(100);

    /// Pods out of `replicas`, at most all of them; parts of a Pod count as a whole one.
    pub fn of(self, replicas: u32) -> u32 {
        self.rounded(replicas, |product| product.div_ceil(100))
    }

    /// As [`of`](Self::of), but with less than `100%` of several Pods one at least stays behind: how
    /// a batch of a Deployment is sized.
    pub fn of_deployment(self, replicas: u32) -> u32 {
        let part = matches!(self, Self::Percent(percent) if percent < 100);
        let pods = self.of(replicas);
        if part && replicas > 1 { pods.min(replicas - 1) } else { pods }
    }

    /// Pods out of `replicas`, parts of a Pod not counted: how a `maxUnavailable` is read.
    pub fn of_rounded_down(self, replicas: u32) -> u32 {
        self.rounded(replicas, |product| product / 100)
    }

    fn rounded(self, replicas: u32, divide: impl Fn(u64) -> u64) -> u32 {
        let pods = match self {
            Self::Int(count) => return count.min(replicas),
            Self::Percent(percent) => divide(u64::from(percent) * u64::from(replicas)),
        };
        u32::try_from(pods).unwrap_or(u32::MAX).min(replicas)
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

    use super::*;

    fn check(percent: i64, replicas: u32, pods: u32) {
        assert_eq!(Percent::new(percent).unwrap().of(replicas), pods, "{percent}% of {replicas}");
    }

    #[test]
    fn a_percentage_rounds_up_but_a_part_is_never_all() {
        check(0, 10, 0);
        check(100, 10, 10);
        check(50, 4, 2);
        check(25, 4, 1);
        check(1, 1000, 10);
        check(1, 3, 1);
        check(99, 3, 2);
        check(33, 3, 1);
        check(34, 3, 2);
        check(99, 10, 9);
        check(25, 1, 1);
        check(25, 0, 0);
        check(50, 2, 1);
    }

    #[test]
    fn only_0_to_100_is_a_percentage() {
        assert_eq!(Percent::new(101), Err(NotAPercentage(101)));
        assert_eq!(Percent::new(-1), Err(NotAPercentage(-1)));
    }

    /// Pods at a step, of a Deployment's at a step, and as a maxUnavailable.
    fn check_count(count: IntOrPercent, replicas: u32, pods: [u32; 3]) {
        let found =
            [count.of(replicas), count.of_deployment(replicas), count.of_rounded_down(replicas)];
        assert_eq!(found, pods, "{count} of {replicas}");
    }

    #[test]
    fn a_step_rounds_up_and_a_budget_down() {
        use IntOrPercent::{Int, Percent};
        check_count(Percent(50), 5, [3, 3, 2]);
        check_count(Percent(20), 5, [1, 1, 1]);
        check_count(Percent(1), 28, [1, 1, 0]);
        check_count(Percent(99), 3, [3, 2, 2]);
        check_count(Percent(99), 1, [1, 1, 0]);
        check_count(Percent(100), 3, [3, 3, 3]);
        check_count(Percent(120), 3, [3, 3, 3]);
        check_count(Int(5), 3, [3, 3, 3]);
        check_count(Int(2), 3, [2, 2, 2]);
        check_count(Percent(50), 0, [0, 0, 0]);
        check_count(Int(2_147_483_647), 1000, [1000, 1000, 1000]);
        assert_eq!((Int(5).to_string(), Percent(5).to_string()), ("5".into(), "5%".into()));
    }

    proptest! {
        #[test]
        fn a_larger_percentage_never_means_fewer_pods(p in 0i64..100, n in 0u32..5000) {
            let (less, more) = (Percent::new(p).unwrap(), Percent::new(p + 1).unwrap());
            prop_assert!(less.of(n) <= more.of(n));
            prop_assert!(more.of(n) <= n);
        }

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
