//! Pauses that grow, spread so that many do not come back at once, and replayable from a seed.

use std::time::Duration;

/// The first pause, before it is spread.
const FIRST: Duration = Duration::from_secs(1);
/// The longest.
const LONGEST: Duration = Duration::from_secs(30);

/// Doubles from 1 s to 30 s; each pause is shortened by up to a fifth.
#[derive(Clone, Debug)]
pub struct Backoff {
    rng: fastrand::Rng,
    failures: u32,
}

impl Backoff {
    /// With a seed for the spread.
    pub fn new(seed: u64) -> Self {
        Self { rng: fastrand::Rng::with_seed(seed), failures: 0 }
    }

    /// How long to wait after one more failure.
    pub fn pause(&mut self) -> Duration {
        let grown = FIRST.saturating_mul(2u32.saturating_pow(self.failures)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        grown.mul_f64(1.0 - 0.2 * self.rng.f64())
    }

    /// Something has worked: the next failure is a first one.
    pub fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_half_a_minute_and_begin_again_after_a_success() {
        let mut backoff = Backoff::new(1);
        for grown in [1, 2, 4, 8, 16, 30, 30, 30] {
            let (pause, most) = (backoff.pause(), Duration::from_secs(grown));
            assert!(pause <= most && pause >= most.mul_f64(0.8), "{pause:?} of {most:?}");
        }
        backoff.reset();
        assert!(backoff.pause() <= Duration::from_secs(1));
    }

    #[test]
    fn the_same_seed_gives_the_same_pauses() {
        let pauses = |seed| {
            let mut backoff = Backoff::new(seed);
            (0..5).map(|_| backoff.pause()).collect::<Vec<_>>()
        };
        assert_eq!(pauses(7), pauses(7));
        assert_ne!(pauses(7), pauses(8));
    }
}
