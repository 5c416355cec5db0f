//! The time of a real cluster.

use std::sync::Arc;

use jiff::Timestamp;
use simcluster::http::Clock;

/// The machine's clock, which a real cluster goes by.
pub fn wall() -> Clock {
    #[expect(clippy::disallowed_methods, reason = "a real cluster is on the wall's time")]
    let now = || Timestamp::now();
    Arc::new(now)
}
