//! The one way to the movers, whatever the kind: the next write towards a target, or the one that draws
//! back what is open and has not moved.

use jiff::Timestamp;

use super::decision::Action;
use super::standing::Remark;
use super::status::Status;
use super::terms::ground;
use super::world::{Body, Deployment, Machinery, World};
use crate::account::Account;
use crate::decision::Action as Write;
use crate::front::report::{describe, pods};
use crate::ground::Ground;
use crate::mover::replica_sets::{self, Bounds};
use crate::mover::{Move, Mover, Scene};

/// What moves the Pods of a workload, and where they stand.
pub(super) enum Motion<'a> {
    /// One by one.
    Pods(Box<Ground<'a>>, Account<'a>, Timestamp),
    /// By the sizes of ReplicaSets.
    Sizes(replica_sets::Deployment),
}

/// What comes next.
pub(super) enum Next {
    Act(Remark, Action),
    Wait(Remark),
    /// As many have moved as may.
    Rest,
}

impl<'a> Motion<'a> {
    pub(super) fn new(
        world: &'a World,
        status: &'a Status,
        body: &'a Body,
        target: u32,
        now: Timestamp,
    ) -> Self {
        let nature = match &body.machinery {
            Machinery::Pods { nature, .. } => *nature,
            Machinery::Deployment(deployment) => {
                return Self::Sizes(sizes(deployment, body.workload.replicas, target));
            }
        };
        let ground = ground(world, status, body, nature, target);
        let account = Account::take(&ground, now);
        Self::Pods(Box::new(ground), account, now)
    }

    /// The account of Pods that are moved one by one.
    pub(super) fn account(&self) -> Option<(&Ground<'a>, &Account<'a>)> {
        match self {
            Self::Pods(ground, account, _) => Some((ground, account)),
            Self::Sizes(_) => None,
        }
    }

    /// How many Pods run the update revision, or will without our doing.
    pub(super) fn moved(&self) -> u32 {
        match self {
            Self::Pods(_, account, _) => account.moved(),
            Self::Sizes(deployment) => deployment.new.as_ref().map_or(0, |set| set.size),
        }
    }

    /// The next write towards the target.
    pub(super) fn advance(&self) -> Next {
        match self {
            Self::Pods(ground, account, now) => {
                let scene = Scene { ground, account, now: *now };
                next(account, Mover::of(ground).advance(&scene))
            }
            Self::Sizes(deployment) => sized(deployment),
        }
    }

    /// What keeps everything where it is: what is open and has not moved is closed; a Deployment that is
    /// scaled is followed.
    pub(super) fn freeze(&self) -> Option<(Remark, Action)> {
        match self {
            Self::Pods(ground, account, now) => {
                let scene = Scene { ground, account, now: *now };
                let action = Mover::of(ground).freeze(&scene)?;
                Some((moving(account, &action), Action::Move(action)))
            }
            Self::Sizes(deployment) => {
                let still = replica_sets::Deployment { paused: true, ..deployment.clone() };
                match sized(&still) {
                    Next::Act(remark, action) => Some((remark, action)),
                    Next::Wait(_) | Next::Rest => None,
                }
            }
        }
    }

    /// The eviction of broken Pods of another revision that would come back at the update revision.
    pub(super) fn broken(&self) -> Next {
        let Self::Pods(ground, account, now) = self else { return Next::Rest };
        next(account, Scene { ground, account, now: *now }.broken())
    }

    /// The Pod to name when it does not get on.
    pub(super) fn worst(&self) -> Option<String> {
        self.account()?.1.worst().map(describe)
    }
}

fn next(account: &Account<'_>, of: Move) -> Next {
    match of {
        Move::Act(action) => Next::Act(moving(account, &action), Action::Move(action)),
        Move::Wait(hold) => Next::Wait(hold.into()),
        Move::Rest => Next::Rest,
    }
}

fn sizes(deployment: &Deployment, replicas: u32, target: u32) -> replica_sets::Deployment {
    let rolling = deployment.saved.or(deployment.rolling).unwrap_or_default();
    replica_sets::Deployment {
        replicas,
        target,
        bounds: Bounds::of(rolling.max_surge, rolling.max_unavailable, replicas),
        paused: false,
        new: deployment.new.clone(),
        old: deployment.old.clone(),
        stable: deployment.stable.clone(),
    }
}

fn sized(deployment: &replica_sets::Deployment) -> Next {
    match replica_sets::next(deployment) {
        replica_sets::Next::Write(write) => {
            let message = match &write {
                replica_sets::Write::Create { size } => {
                    format!("creating the new ReplicaSet with {}", pods(*size))
                }
                replica_sets::Write::Size { name, size } => {
                    format!("sizing ReplicaSet {name} to {}", pods(*size))
                }
            };
            Next::Act(Remark::on("Sizing", message), Action::Size(write))
        }
        replica_sets::Next::Wait(wait) => {
            Next::Wait(Remark::on("WaitingForPods", wait.to_string()))
        }
        replica_sets::Next::Rest => Next::Rest,
    }
}

fn moving(account: &Account<'_>, action: &Write) -> Remark {
    let names: Vec<&str> = action.victims().iter().map(|pod| pod.name.as_str()).collect();
    let (first, more) = names.split_at(names.len().min(5));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    let (moved, target) = (account.moved(), account.target);
    let deed = match action {
        Write::Open { percent: Some(percent), .. } => {
            format!("opening the partition down to {percent}%")
        }
        Write::Open { partition, .. } => format!("opening the partition down to {partition}"),
        Write::SetStrategy { .. } => "drawing the partition back".to_owned(),
        _ => format!("moving {}{more}", first.join(", ")),
    };
    Remark::on("Moving", format!("{deed}; {moved} Pods have moved or may, {target} wanted"))
}
