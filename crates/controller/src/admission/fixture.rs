//! An admission service whose caches are empty, and have not been listed.

use super::*;
use jiff::Timestamp;

pub(super) fn admission() -> Admission {
    let noon: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
    Admission {
        attention: Attention::new(),
        clock: Clock::starting_at(noon),
        settings: Settings::default(),
        rules: Rules::default(),
        gates: Gates::default(),
        metrics: Metrics::default(),
    }
}
