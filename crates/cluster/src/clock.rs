//! The one clock: real in the operator, virtual wherever a run has to replay.

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// Says what time it is. Clones agree with each other.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    Wall,
    Virtual { epoch: Timestamp, since: Instant },
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Self(Source::Wall)
    }

    /// A clock that shows `epoch` now and goes with tokio's time, which tests pause and advance.
    pub fn starting_at(epoch: Timestamp) -> Self {
        Self(Source::Virtual { epoch, since: Instant::now() })
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Source::Wall => wall(),
            Source::Virtual { epoch, since } => {
                let gone = SignedDuration::try_from(since.elapsed()).unwrap_or(SignedDuration::MAX);
                epoch.saturating_add(gone).unwrap_or(Timestamp::MAX)
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the wall clock")]
fn wall() -> Timestamp {
    Timestamp::now()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_virtual_clock_goes_with_the_paused_time_and_only_with_it() {
        let epoch: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let clock = Clock::starting_at(epoch);
        let copy = clock.clone();
        assert_eq!(clock.now(), epoch);
        tokio::time::advance(Duration::from_millis(1500)).await;
        assert_eq!(clock.now(), "2026-01-01T00:00:01.5Z".parse().unwrap());
        assert_eq!(copy.now(), clock.now());
    }
}
