//! A Deployment in a line, and the next write in a word.

use engine::mover::replica_sets::{Bounds, Deployment, Next, ReplicaSet, Wait, Write, next};

/// Ten replicas with surge 2 and 2 unavailable, the target 5, nothing moved yet.
pub(crate) fn deployment() -> Deployment {
    Deployment {
        replicas: 10,
        target: 5,
        bounds: Bounds { surge: 2, unavailable: 2 },
        paused: false,
        new: None,
        old: vec![set(1, 10)],
        stable: None,
    }
}

/// A ReplicaSet of this revision, all its Pods available, sized for ten.
pub(crate) fn set(revision: u64, size: u32) -> ReplicaSet {
    ReplicaSet {
        name: format!("v{revision}"),
        revision,
        size,
        available: size,
        sized_for: 10,
        seen: true,
    }
}

pub(crate) trait Told {
    fn available(self, available: u32) -> Self;
    fn sized_for(self, replicas: u32) -> Self;
    fn unseen(self) -> Self;
}

impl Told for ReplicaSet {
    fn available(self, available: u32) -> Self {
        Self { available, ..self }
    }
    fn sized_for(self, replicas: u32) -> Self {
        Self { sized_for: replicas, ..self }
    }
    fn unseen(self) -> Self {
        Self { seen: false, ..self }
    }
}

/// `create 2`, `v1 8`, `wait …`, `rest`.
pub(crate) fn say(next: &Next) -> String {
    match next {
        Next::Write(Write::Create { size }) => format!("create {size}"),
        Next::Write(Write::Size { name, size }) => format!("{name} {size}"),
        Next::Wait(Wait::Paused) => "wait paused".to_owned(),
        Next::Wait(Wait::Unseen(name)) => format!("wait unseen {name}"),
        Next::Wait(Wait::Available { available, least }) => format!("wait {available}<={least}"),
        Next::Wait(Wait::Surge { pods, most }) => format!("wait {pods}>={most}"),
        Next::Rest => "rest".to_owned(),
    }
}

#[track_caller]
pub(crate) fn check(change: impl FnOnce(&mut Deployment), expect: &str) {
    let mut deployment = deployment();
    change(&mut deployment);
    assert_eq!(say(&next(&deployment)), expect, "{deployment:#?}");
}
