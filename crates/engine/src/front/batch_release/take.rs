//! Taking a workload over: our name on it, the user's own fields kept, its Pods held where they are.
//!
//! Nothing moves by it, however far the workload has come: a partition is drawn up above what has not
//! moved, and no further, so that what has moved comes back as it is.

use super::decision::{Action, Held, Original};
use super::world::{Body, Control, Machinery, Rolling};
use crate::account::Account;
use crate::ground::Ground;
use crate::mover::partition;
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
    let on_delete = Strategy::OnDelete;
    match (&body.machinery, body.workload.strategy) {
        (Machinery::Deployment(deployment), _) if deployment.paused && deployment.recreate => {
            Held::AsItIs
        }
        (Machinery::Deployment(_), _) => Held::Paused,
        (_, Strategy::OnDelete) => Held::AsItIs,
        (Machinery::DaemonSet { .. }, _) => Held::Strategy(on_delete),
        (Machinery::StatefulSet { .. }, Strategy::RollingUpdate { partition }) => {
            let Some((ground, account)) = account.filter(|_| fresh) else { return Held::AsItIs };
            let kept = partition::keep(ground.facts.workload, account);
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
        Machinery::StatefulSet { saved: None } => {
            let own = match body.workload.strategy {
                Strategy::RollingUpdate { partition } if !fresh || partition >= ABOVE_ALL => {
                    Strategy::RollingUpdate { partition: 0 }
                }
                own => own,
            };
            Some(Original::Strategy(own))
        }
        Machinery::DaemonSet { saved: None } => {
            let own = match body.workload.strategy {
                Strategy::OnDelete if fresh => Strategy::OnDelete,
                _ => Strategy::RollingUpdate { partition: 0 },
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
        Machinery::StatefulSet { saved } | Machinery::DaemonSet { saved } => {
            let rolling = Strategy::RollingUpdate { partition: 0 };
            let stands = match body.workload.strategy {
                Strategy::OnDelete if matches!(body.machinery, Machinery::StatefulSet { .. }) => {
                    Strategy::OnDelete
                }
                _ => rolling,
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
        (Machinery::DaemonSet { saved }, _) => saved.is_some(),
        (Machinery::StatefulSet { saved }, Strategy::RollingUpdate { partition }) => {
            saved.is_some() || (body.in_progressing && partition >= ABOVE_ALL)
        }
        (Machinery::StatefulSet { saved }, Strategy::OnDelete) => saved.is_some(),
    }
}
