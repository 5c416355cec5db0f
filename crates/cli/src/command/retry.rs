//! `sluice retry`: a rollout starts again under a new identity.

use std::hash::{BuildHasher, Hasher};

use serde_json::json;

use super::change::{self, Change, spec};
use crate::exit::{Failure, Outcome};
use crate::find::{Found, Front};
use crate::out::Out;
use crate::session::Session;

/// Start a rollout by percent again, after a failure or a leak, with a new rolloutIdentity
#[derive(clap::Args, Debug)]
#[group(skip)]
pub(crate) struct Flags {
    #[command(flatten)]
    change: change::Flags,
}

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    retry(&flags.change.connection.open().await?, flags, out).await
}

pub(super) async fn retry(session: &Session, flags: &Flags, out: &mut Out) -> Outcome {
    // The one source of randomness that the standard library has, seeded by the system.
    let seed = std::collections::hash_map::RandomState::new().build_hasher().finish();
    change::make(session, &flags.change, "retry", out, async |found: &Found| decide(found, seed))
        .await
}

fn decide(found: &Found, seed: u64) -> Result<Change, Failure> {
    let name = found.argument();
    match found.front {
        Front::Percent => {
            let identity = identity(seed);
            let message = format!("starts again with rolloutIdentity {identity}");
            Ok(spec(found, &json!({"rolloutIdentity": identity}), message))
        }
        Front::Steps => found.refuse(&format!(
            "never gives up, so there is nothing to try again: it goes on as soon as its Pods are ready. \
             What holds it shows `sluice describe {name}`; back it goes with `sluice abort {name}`; \
             released again, as it is, with `sluice restart {name}`"
        )),
        Front::Release => found.refuse(&format!(
            "never gives up, so there is nothing to try again: what holds it shows `sluice describe {name}`"
        )),
    }
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

    #[tokio::test(start_paused = true)]
    async fn a_rollout_by_steps_never_gives_up_and_says_what_to_do_instead() {
        let far_side = crate::far_side::FarSide::in_steps();
        let flags = crate::far_side::flags(&["web"]);
        let failure =
            super::retry(&far_side.session(), &flags, &mut Out::nowhere()).await.unwrap_err();
        for says in ["never gives up", "`sluice abort rollout/web`", "`sluice restart rollout/web`"]
        {
            assert!(failure.to_string().contains(says), "{failure}");
        }
        assert_eq!(far_side.patches().len(), 0);
    }
}
