//! Workloads that a release has marked, and whose Rollout and BatchRelease are gone: somebody took a finalizer
//! off, or the definitions away. They stay as they are held; nobody else would say so.

use api::batches::names::{CONTROL_INFO, IN_PROGRESSING};
use api::batches::{BatchRelease, Rollout};
use engine::world::Uid;

use crate::caches::{Caches, Held};
use crate::kind::Kind;
use crate::seen::meta::Meta;
use crate::subject::Workload;

/// A workload that nobody releases any more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Orphan {
    /// Which one.
    pub workload: Workload,
    /// Its UID.
    pub uid: Uid,
}

impl Orphan {
    /// What is so, and what may be done about it.
    pub fn text(&self) -> String {
        let (kind, name) = (self.workload.kind.word(), &self.workload.key.name);
        format!(
            "{kind} {name} is marked by a release, but its Rollout and BatchRelease are gone: it stays as it is \
             held; create a Rollout for it again to go on, and delete that one to have the {kind} given back"
        )
    }
}

/// All of them, in order. None as long as the caches are not ready.
pub fn orphans(caches: &Caches) -> Vec<Orphan> {
    let held = caches.lock();
    if !held.waiting_for().is_empty() {
        return Vec::new();
    }
    let of_kind = |kind| {
        let table = held.workloads.of(kind);
        table.rows().filter_map(|seen| orphan(&held, kind, &seen.meta)).collect::<Vec<_>>()
    };
    Kind::ALL.into_iter().flat_map(of_kind).collect()
}

fn orphan(held: &Held, kind: Kind, meta: &Meta) -> Option<Orphan> {
    let marked = [IN_PROGRESSING, CONTROL_INFO].iter().any(|it| meta.annotations.contains_key(*it));
    if !marked || meta.deletion_timestamp.is_some() {
        return None;
    }
    let workload = Workload::new(kind, meta.key());
    let led = held.named_by::<Rollout>(&workload).next().is_some()
        || held.named_by::<BatchRelease>(&workload).next().is_some();
    (!led).then(|| Orphan { workload, uid: Uid(meta.uid.clone()) })
}
