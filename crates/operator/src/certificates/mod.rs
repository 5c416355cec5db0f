//! The webhook's own certificates: an authority, what it signs, and when to renew.

mod authority;
mod serving;
mod shelf;

pub(crate) use authority::Authority;
pub(crate) use serving::{Serving, Shown};
pub(crate) use shelf::{SECRET, Shelf};

use crate::Error;
use jiff::{SignedDuration, Timestamp};

/// From when until when a certificate is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Validity {
    pub(crate) from: Timestamp,
    pub(crate) until: Timestamp,
}

impl Validity {
    /// From a little before `now`, for clocks that lag behind ours.
    fn of(now: Timestamp, lifetime: SignedDuration) -> Result<Self, Error> {
        let at = |offset| now.checked_add(offset).map_err(|error| wrong(&error));
        Ok(Self { from: at(-SignedDuration::from_mins(5))?, until: at(lifetime)? })
    }

    /// When to replace it: after two thirds of its time, so that a third is left for trying.
    pub(crate) fn renew_at(&self) -> Timestamp {
        self.from + self.until.duration_since(self.from) * 2 / 3
    }
}

fn wrong(error: &dyn std::fmt::Display) -> Error {
    Error::Certificate(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_replaced_after_two_thirds_of_its_time() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let validity = Validity::of(now, SignedDuration::from_hours(24 * 30)).unwrap();
        assert!(validity.from < now);
        let renew = validity.renew_at();
        assert!(renew > now + SignedDuration::from_hours(24 * 19));
        assert!(renew < now + SignedDuration::from_hours(24 * 21));
        assert!(renew < validity.until);
    }
}
