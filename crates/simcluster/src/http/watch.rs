//! Watch streams: events as they are committed, bookmarks, time-outs.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderValue, header};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::respond::{self, Include};
use super::{Skin, route::Form};
use crate::conversion;
use crate::error::ApiError;
use crate::json::{Value, json};
use crate::kind::Kind;
use crate::object::{Collection, Object};
use crate::server::convert;
use crate::server::read::{Filter, ListQuery, too_old};
use crate::server::watch::{EventType, Shown, select};
use crate::store::{encode, line};

/// Without `timeoutSeconds` the real server draws between 30 and 60 minutes; the least of them.
const TIMEOUT: Duration = Duration::from_secs(1800);
/// How often a watch is told how far it is.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);
/// How many bytes are sent in one piece, and a little more.
const CHUNK: usize = 64 * 1024;
/// A last bookmark comes this long before the end, so that the next watch starts from there.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);

struct Watch {
    skin: Skin,
    kind: Arc<Kind>,
    collection: Collection,
    namespace: Option<String>,
    filter: Filter,
    form: Form,
    include: Include,
    waker: Arc<Notify>,
    cursor: u64,
    /// What it begins with and has not been encoded yet.
    initial: std::vec::IntoIter<Object>,
    /// Whether a bookmark says that this was all.
    announce_end: bool,
    queue: VecDeque<Bytes>,
    bookmarks: bool,
    deadline: Instant,
    bookmark_at: Instant,
    ended: bool,
    columns_sent: bool,
    /// What waits for the webhook that converts it, in order with what comes after it.
    waiting: Vec<Waiting>,
}

enum Waiting {
    Object(EventType, Object),
    Bookmark { cursor: u64, initial_events_end: bool },
}

impl Skin {
    pub(crate) fn watch(
        &self,
        kind: &Arc<Kind>,
        namespace: Option<String>,
        query: &ListQuery,
        form: Form,
        include: Include,
    ) -> Result<Response, ApiError> {
        let filter = Filter::parse(kind, query)?;
        let collection = kind.collection();
        let waker = self.server.waker(&collection);
        let start = self.server.lock().start_watch(kind, namespace.as_deref(), &filter, query)?;
        let now = Instant::now();
        let timeout = query.timeout_seconds.filter(|&seconds| seconds != 0);
        // Less than none is over at once.
        let seconds = |seconds| Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        let deadline = now + timeout.map_or(TIMEOUT, seconds);
        let mut watch = Watch {
            skin: self.clone(),
            kind: kind.clone(),
            collection,
            namespace,
            filter,
            form,
            include,
            waker,
            cursor: 0,
            initial: Vec::new().into_iter(),
            announce_end: false,
            queue: VecDeque::new(),
            bookmarks: query.bookmarks,
            deadline,
            bookmark_at: next_bookmark(now, deadline),
            ended: false,
            columns_sent: false,
            waiting: Vec::new(),
        };
        match start {
            Ok(start) => {
                watch.cursor = start.cursor;
                watch.initial = start.initial.into_iter();
                watch.announce_end = start.announce_end;
            }
            Err(error) => watch.push_error(&error),
        }
        let stream = futures::stream::unfold(watch, |mut watch| async move {
            watch.next().await.map(|chunk| (Ok::<_, Infallible>(chunk), watch))
        });
        let mut response = respond::raw(200, "application/json", Body::from_stream(stream));
        if form == Form::Table {
            response
                .headers_mut()
                .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        Ok(response)
    }
}

/// In a minute, or shortly before the end if that is sooner and still to come.
fn next_bookmark(now: Instant, deadline: Instant) -> Instant {
    let last = deadline.checked_sub(LAST_BOOKMARK).filter(|&last| last > now).unwrap_or(deadline);
    last.min(now + BOOKMARK_EVERY)
}

impl Watch {
    /// The next chunk: the events that are there, in one piece, as long as it isn't large.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            self.begin();
            self.convert().await;
            if let Some(chunk) = self.flush() {
                return Some(chunk);
            }
            if self.ended {
                return None;
            }
            let waker = self.waker.clone();
            let mut woken = std::pin::pin!(waker.notified());
            // Registered before the log is read: a change in between is not slept through.
            woken.as_mut().enable();
            self.read_log();
            if !self.queue.is_empty() || !self.waiting.is_empty() || self.ended {
                continue;
            }
            let until = self.deadline.min(self.bookmark_at);
            tokio::select! {
                biased;
                () = &mut woken => {}
                () = tokio::time::sleep_until(until) => self.tick(),
            }
        }
    }

    /// Takes in what it begins with: as much as fits into a chunk, so that a large collection is not
    /// there a second time as text; but all of it where a webhook is asked.
    fn begin(&mut self) {
        let whole = conversion::webhook(&self.kind).is_some();
        while whole || self.queued() < CHUNK {
            let Some(object) = self.initial.next() else {
                if std::mem::take(&mut self.announce_end) {
                    self.push_bookmark(true);
                }
                return;
            };
            self.push_object(EventType::Added, &object);
        }
    }

    fn queued(&self) -> usize {
        self.queue.iter().map(Bytes::len).sum()
    }

    /// Has what waits converted, all in one question.
    async fn convert(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let objects = waiting.iter().filter_map(|one| match one {
            Waiting::Object(_, object) => Some(object.clone()),
            Waiting::Bookmark { .. } => None,
        });
        let objects: Vec<Object> = objects.collect();
        if objects.is_empty() && waiting.is_empty() {
            return;
        }
        let mut converted = match self.skin.server.in_version(&self.kind, objects).await {
            Ok(converted) => converted.into_iter(),
            Err(error) => return self.push_error(&error),
        };
        for one in waiting {
            match one {
                Waiting::Object(type_, object) => {
                    let object = converted.next().unwrap_or(object);
                    self.write_object(type_, &object);
                }
                Waiting::Bookmark { cursor, initial_events_end } => {
                    self.write_bookmark(cursor, initial_events_end);
                }
            }
        }
    }

    fn flush(&mut self) -> Option<Bytes> {
        if self.queue.len() <= 1 {
            return self.queue.pop_front();
        }
        let mut all = BytesMut::with_capacity(CHUNK.min(self.queued()));
        while all.len() < CHUNK
            && let Some(line) = self.queue.pop_front()
        {
            all.put(line);
        }
        Some(all.freeze())
    }

    fn tick(&mut self) {
        let now = Instant::now();
        if now >= self.deadline {
            self.ended = true;
            return;
        }
        self.bookmark_at = next_bookmark(now, self.deadline);
        if self.bookmarks {
            self.push_bookmark(false);
        }
    }

    fn read_log(&mut self) {
        let (news, revision, oldest, served) = {
            let inner = self.skin.server.lock();
            let store = &inner.store;
            let oldest = store.compacted(&self.collection);
            let Kind { group, version, plural, .. } = &*self.kind;
            let served = inner.registry.find(group, version, plural).is_some();
            (store.log_of(&self.collection, self.cursor), store.revision(), oldest, served)
        };
        let Some(news) = news else {
            let error = too_old(self.cursor, oldest);
            self.push_error(&error);
            return;
        };
        for logged in news {
            let Some((type_, shown)) = select(&logged, self.namespace.as_deref(), &self.filter)
            else {
                continue;
            };
            match shown {
                Shown::Logged(logged)
                    if self.form == Form::Json
                        && self.kind.is_stored()
                        && conversion::webhook(&self.kind).is_none() =>
                {
                    if type_.as_str() == logged.type_() {
                        self.queue.push_back(logged.event());
                    } else {
                        self.queue.push_back(line(type_.as_str(), &logged.encoded()));
                    }
                }
                Shown::Logged(logged) => self.push_object(type_, &logged.shown),
                Shown::Left(object) => self.push_object(type_, &object),
            }
        }
        self.cursor = self.cursor.max(revision);
        // With its definition, or the version in it, the real server takes the watches away too.
        self.ended |= !served;
    }

    fn push_value(&mut self, type_: &str, object: &Value) {
        self.queue.push_back(line(type_, &encode(object)));
    }

    fn push_object(&mut self, type_: EventType, object: &Object) {
        if conversion::webhook(&self.kind).is_some() {
            self.waiting.push(Waiting::Object(type_, object.clone()));
        } else {
            self.write_object(type_, object);
        }
    }

    fn write_object(&mut self, type_: EventType, object: &Object) {
        let shown = convert::served(&self.kind, object);
        match self.form {
            Form::Partial => self.push_value(type_.as_str(), &respond::partial(&shown)),
            Form::Table => {
                let now = (self.skin.clock)();
                let rows = std::slice::from_ref(&shown);
                let mut table = respond::table(&self.kind, rows, self.include, now);
                // Columns are said once; later events leave them out.
                if self.columns_sent {
                    table["columnDefinitions"] = Value::Null;
                }
                self.columns_sent = true;
                self.push_value(type_.as_str(), &table);
            }
            _ => self.push_value(type_.as_str(), &shown),
        }
    }

    fn push_bookmark(&mut self, initial_events_end: bool) {
        let cursor = self.cursor;
        if self.waiting.is_empty() {
            self.write_bookmark(cursor, initial_events_end);
        } else {
            self.waiting.push(Waiting::Bookmark { cursor, initial_events_end });
        }
    }

    fn write_bookmark(&mut self, cursor: u64, initial_events_end: bool) {
        let mut metadata = json!({"resourceVersion": cursor.to_string()});
        if initial_events_end {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let object = json!({
            "kind": self.kind.kind,
            "apiVersion": self.kind.api_version(),
            "metadata": metadata,
        });
        match self.form {
            Form::Partial => self.push_value("BOOKMARK", &respond::partial(&object)),
            Form::Table => {
                let mut table = respond::table(&self.kind, &[], self.include, (self.skin.clock)());
                table["metadata"] = object["metadata"].clone();
                self.push_value("BOOKMARK", &table);
            }
            _ => self.push_value("BOOKMARK", &object),
        }
    }

    fn push_error(&mut self, error: &ApiError) {
        self.push_value("ERROR", &error.status());
        self.ended = true;
    }
}
