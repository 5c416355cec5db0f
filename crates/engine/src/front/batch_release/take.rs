//! Taking a workload over: our name on it, the user's own fields kept, its Pods held where they are.
//!
//! Nothing moves by it, however far the workload has come: a partition is drawn up above what has not
//! moved, and no further, so that what has moved comes back as it is.

use super::decision::{Action, Held, Original};
use super::world::{Body, Control, Machinery, Rolling};
use crate::account::Account;
use crate::ground::Ground;
use crate::mover;
use crate::nature::Holds;
use crate::world::Strategy;

/// Above every ordinal that a set can be scaled to, as the webhook writes it.
const ABOVE_ALL: u32 = 32767;

/// The write that is still missing; `None` where the workload is ours and held.
///
/// `fresh` says that no release holds it yet, so that what stands there is the user's own.
pub(super) fn missing(
    body: &Body,
    account: Option<(&Ground<'_>, &Account<'_>)>,
    fresh: bool,
) -> Option<Action> {
    let held = held(body, account, fresh);
    if body.control == Control::Ours && held == Held::AsItIs {
        return None;
    }
    Some(Action::Take { keep: keep(body, fresh), held })
}

fn held(body: &Body, account: Option<(&Ground<'_>, &Account<'_>)>, fresh: bool) -> Held {
    match (&body.machinery, body.workload.strategy) {
        (Machinery::Deployment(deployment), _) if deployment.paused && deployment.recreate => {
            Held::AsItIs
        }
        (Machinery::Deployment(_), _) => Held::Paused,
        (Machinery::Pods { .. }, Strategy::OnDelete) => Held::AsItIs,
        (Machinery::Pods { nature, .. }, _) if nature.holds == Holds::Nothing => {
            Held::Strategy(Strategy::OnDelete)
        }
        (Machinery::Pods { .. }, Strategy::RollingUpdate { partition }) => {
            let Some((ground, account)) = account.filter(|_| fresh) else { return Held::AsItIs };
            let kept = mover::keep(ground, account);
            let untouched = account.moved() == 0 || kept == whole(ground);
            let above_all = Strategy::RollingUpdate { partition: ABOVE_ALL };
            match kept {
                Strategy::RollingUpdate { partition: kept } if kept == partition => Held::AsItIs,
                _ if untouched => Held::Strategy(above_all),
                kept => Held::Strategy(kept),
            }
        }
    }
}

/// The strategy that holds every Pod that there is.
fn whole(ground: &Ground<'_>) -> Strategy {
    Strategy::RollingUpdate { partition: ground.facts.workload.replicas }
}

/// What is to be kept of the user's own: never what a release put there.
fn keep(body: &Body, fresh: bool) -> Option<Original> {
    match &body.machinery {
        Machinery::Pods { nature, saved: None } => {
            let own = match body.workload.strategy {
                // It is what holds the Pods, and so may be a release's.
                Strategy::OnDelete if nature.holds == Holds::Nothing && !fresh => rolling(),
                Strategy::RollingUpdate { partition } if !fresh || partition >= ABOVE_ALL => {
                    rolling()
                }
                own => own,
            };
            Some(Original::Strategy(own))
        }
        Machinery::Deployment(deployment) if deployment.saved.is_none() => {
            Some(Original::Rolling(deployment.rolling.unwrap_or_default()))
        }
        _ => None,
    }
}

/// The user's own fields, as they are to stand when the workload is given back, by whichever front.
pub fn original(body: &Body) -> Original {
    match &body.machinery {
        Machinery::Pods { nature, saved } => {
            let stands = match body.workload.strategy {
                Strategy::OnDelete if nature.holds != Holds::Nothing => Strategy::OnDelete,
                _ => rolling(),
            };
            Original::Strategy(saved.unwrap_or(stands))
        }
        Machinery::Deployment(deployment) => {
            let rolling = deployment.saved.or(deployment.rolling);
            Original::Rolling(rolling.unwrap_or_else(Rolling::default))
        }
    }
}

/// Whether a release, or the webhook before it, holds the workload still, though it bears no name.
pub fn is_held(body: &Body) -> bool {
    match (&body.machinery, body.workload.strategy) {
        (Machinery::Deployment(deployment), _) => {
            deployment.saved.is_some() || (body.in_progressing && deployment.paused)
        }
        (Machinery::Pods { saved, .. }, Strategy::OnDelete) => saved.is_some(),
        (Machinery::Pods { nature, saved }, Strategy::RollingUpdate { partition }) => {
            let above_all = partition >= ABOVE_ALL && nature.holds != Holds::Nothing;
            saved.is_some() || (body.in_progressing && above_all)
        }
    }
}

/// What nothing holds.
fn rolling() -> Strategy {
    Strategy::RollingUpdate { partition: 0 }
}
