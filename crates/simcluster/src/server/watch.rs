//! WATCH: where it starts, and which events a selector lets through.

use std::sync::Arc;

use super::Inner;
use super::read::{Filter, ListQuery, too_large, too_old};
use crate::error::ApiError;
use crate::kind::Kind;
use crate::object::Object;
use crate::store::Logged;

/// The type of a watch event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventType {
    /// New, or newly selected.
    Added,
    /// Changed.
    Modified,
    /// Gone, or no longer selected.
    Deleted,
}

impl EventType {
    /// As on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

/// What a watch shows of one change.
#[derive(Clone, Debug)]
pub enum Shown {
    /// The content that the log holds; its encoding can be shared.
    Logged(Arc<Logged>),
    /// The content from before under the new version: the object left the selection.
    Left(Object),
}

/// How a watch begins.
#[derive(Clone, Debug)]
pub struct Start {
    /// Objects that are sent as ADDED before anything else.
    pub initial: Vec<Object>,
    /// Events after this revision follow.
    pub cursor: u64,
    /// Whether a bookmark says that the initial events are complete.
    pub announce_end: bool,
}

impl Inner {
    /// Begins a watch; a version that is too old is an error *event*, not an error answer.
    pub fn start_watch(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        filter: &Filter,
        query: &ListQuery,
    ) -> Result<Result<Start, ApiError>, ApiError> {
        let current = self.store.revision();
        let version = query.version()?;
        let streaming = query.initial_events == Some(true);
        query.refuse()?;
        if streaming && let Some(wanted) = version.filter(|&wanted| wanted > current) {
            return Err(too_large(wanted, current));
        }
        if let Some(cursor) = version.filter(|&version| version != 0 && !streaming) {
            let oldest = self.store.compacted(&kind.collection());
            if cursor < oldest {
                return Ok(Err(too_old(cursor, oldest)));
            }
            return Ok(Ok(Start { initial: Vec::new(), cursor, announce_end: false }));
        }
        if query.initial_events == Some(false) {
            return Ok(Ok(Start { initial: Vec::new(), cursor: current, announce_end: false }));
        }
        let initial = filter
            .candidates(&self.store, kind, namespace, None)
            .filter(|object| filter.matches(object))
            .cloned()
            .collect();
        Ok(Ok(Start { initial, cursor: current, announce_end: streaming }))
    }
}

/// What a watch with this filter makes of a change, if anything.
pub fn select(
    logged: &Arc<Logged>,
    namespace: Option<&str>,
    filter: &Filter,
) -> Option<(EventType, Shown)> {
    let change = &logged.change;
    if namespace.is_some_and(|namespace| namespace != change.key.namespace) {
        return None;
    }
    let matched = |object: &Option<Object>| {
        object.as_ref().is_some_and(|object| filter.is_empty() || filter.matches(object))
    };
    match (matched(&change.before), matched(&change.after)) {
        (false, false) => None,
        (false, true) => Some((EventType::Added, Shown::Logged(logged.clone()))),
        (true, true) => Some((EventType::Modified, Shown::Logged(logged.clone()))),
        (true, false) if change.after.is_none() => {
            Some((EventType::Deleted, Shown::Logged(logged.clone())))
        }
        (true, false) => {
            let mut left = (**change.before.as_ref()?).clone();
            left["metadata"]["resourceVersion"] = logged.revision.to_string().into();
            Some((EventType::Deleted, Shown::Left(Arc::new(left))))
        }
    }
}
