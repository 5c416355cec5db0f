//! `sluice retry`: a rollout starts again under a new identity.

use std::hash::{BuildHasher, Hasher};

use serde_json::json;

use super::change::{self, Change};
use crate::exit::Outcome;
use crate::out::Out;

/// Start a rollout again, after a failure or a leak, with a new rolloutIdentity
#[derive(clap::Args, Debug)]
#[group(skip)]
pub(crate) struct Flags {
    #[command(flatten)]
    change: change::Flags,
}

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    let flags = &flags.change;
    let session = flags.connection.open().await?;
    // The one source of randomness that the standard library has, seeded by the system.
    let seed = std::collections::hash_map::RandomState::new().build_hasher().finish();
    change::make(&session, flags, "retry", out, |_| {
        let identity = identity(seed);
        let message = format!("starts again with rolloutIdentity {identity}");
        Change { spec: Some(json!({"rolloutIdentity": identity})), message }
    })
    .await
}

/// Twenty letters and digits, as release platforms write them.
fn identity(seed: u64) -> String {
    let mut random = fastrand::Rng::with_seed(seed);
    std::iter::repeat_with(|| random.alphanumeric()).take(20).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_twenty_letters_and_digits_and_never_the_same() {
        assert_eq!(identity(1).len(), 20);
        assert!(identity(1).chars().all(|c| c.is_ascii_alphanumeric()));
        assert_ne!(identity(1), identity(2));
    }
}
