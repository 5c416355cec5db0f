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

    proptest! {
        #[test]
        fn a_larger_percentage_never_means_fewer_pods(p in 0i64..100, n in 0u32..5000) {
            let (less, more) = (Percent::new(p).unwrap(), Percent::new(p + 1).unwrap());
            prop_assert!(less.of(n) <= more.of(n));
            prop_assert!(more.of(n) <= n);
        }
    }
}
