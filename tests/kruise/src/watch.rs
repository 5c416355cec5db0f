//! One collection of a server, listed and then watched, for ever: in order, and nothing is lost.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream, Stream};
use kube::Client;
use kube::core::WatchEvent;
use simcluster::json::Value;
use simcluster::kind::Kind;
use tokio::sync::watch::Receiver;
use tokio::time::{sleep, timeout};

use crate::resource::{name_kind, path, revision};

/// Objects of a page of a list.
const PAGE: u32 = 500;
/// How long the server is asked to keep a watch open, and how long a silent one is believed to be.
const OPEN: u32 = 290;
const SILENCE: Duration = Duration::from_secs(300);
/// How long a page, or the opening of a watch, may take.
const ANSWER: Duration = Duration::from_secs(30);
/// First and longest rest after a failure; it doubles each time.
const REST: Duration = Duration::from_millis(50);
const REST_LIMIT: Duration = Duration::from_secs(5);

/// What a watch has to tell.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// All that there is as of a revision; what else was known is gone.
    All {
        /// In the server's order.
        objects: Vec<Value>,
        /// As of when.
        revision: u64,
        /// Lists that had been asked for when this one began.
        asked: u64,
    },
    /// One is new or has changed.
    There(Value),
    /// One is gone: its last content, under the revision at which it went.
    Gone(Value),
    /// Nothing else has happened up to this revision.
    Reached(u64),
}

type Events = BoxStream<'static, Result<WatchEvent<Value>, kube::Error>>;

struct Watch {
    client: Client,
    kind: Arc<Kind>,
    /// Counts the lists that have been asked for, and those that have begun.
    asked: Receiver<u64>,
    begun: u64,
    /// The newest revision that was told.
    reached: u64,
    /// Whether a list comes next.
    lost: bool,
    events: Option<Events>,
    failures: u32,
}

/// Lists and watches. A list is repeated each time that `asked` grows.
pub fn watch(
    client: Client,
    kind: Arc<Kind>,
    asked: Receiver<u64>,
) -> impl Stream<Item = Told> + Send {
    let lost = true;
    let watch =
        Watch { client, kind, asked, begun: 0, reached: 0, lost, events: None, failures: 0 };
    stream::unfold(watch, |mut watch| async move {
        let told = watch.next().await;
        Some((told, watch))
    })
}

impl Watch {
    async fn next(&mut self) -> Told {
        loop {
            if self.lost || *self.asked.borrow() > self.begun {
                match self.list().await {
                    Some(told) => return told,
                    None => self.rest().await,
                }
                continue;
            }
            let Some(events) = &mut self.events else {
                self.open().await;
                continue;
            };
            let event = tokio::select! {
                biased;
                event = timeout(SILENCE, events.next()) => event,
                // Nobody asks any more once the driver has ended, and then nobody hears either.
                Ok(()) = self.asked.changed() => continue,
            };
            match event {
                Ok(Some(Ok(event))) => {
                    if let Some(told) = self.hear(event) {
                        self.failures = 0;
                        return told;
                    }
                }
                // It has run its time, or the connection broke: it goes on where it was.
                Ok(Some(Err(_)) | None) | Err(_) => self.events = None,
            }
            if self.events.is_none() {
                self.rest().await;
            }
        }
    }

    fn hear(&mut self, event: WatchEvent<Value>) -> Option<Told> {
        let told = match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => Told::There(object),
            WatchEvent::Deleted(object) => Told::Gone(object),
            WatchEvent::Bookmark(mark) => {
                Told::Reached(mark.metadata.resource_version.parse().unwrap_or_default())
            }
            WatchEvent::Error(status) => {
                tracing::debug!(kind = self.kind.kind, code = status.code, "a watch has ended");
                self.lost |= status.code == 410;
                self.events = None;
                return None;
            }
        };
        let at = match &told {
            Told::There(object) | Told::Gone(object) => revision(object),
            Told::Reached(at) => *at,
            Told::All { .. } => 0,
        };
        self.reached = self.reached.max(at);
        Some(told)
    }

    async fn open(&mut self) {
        let path = format!(
            "{}?watch=true&allowWatchBookmarks=true&timeoutSeconds={OPEN}&resourceVersion={}",
            path(&self.kind, ""),
            self.reached
        );
        let request = http::Request::get(path).body(Vec::new()).expect("a path of our own");
        match timeout(ANSWER, self.client.request_events::<Value>(request)).await {
            Ok(Ok(events)) => self.events = Some(events.boxed()),
            Ok(Err(error)) => {
                tracing::debug!(kind = self.kind.kind, %error, "a watch does not open");
                self.lost |= matches!(error, kube::Error::Api(status) if status.code == 410);
                self.rest().await;
            }
            Err(_) => self.rest().await,
        }
    }

    /// The whole collection; `None` if it can't be had now.
    async fn list(&mut self) -> Option<Told> {
        self.events = None;
        let asked = *self.asked.borrow_and_update();
        let (mut objects, mut next) = (Vec::new(), String::new());
        loop {
            let path = format!("{}?limit={PAGE}&continue={next}", path(&self.kind, ""));
            let request = http::Request::get(path).body(Vec::new()).expect("a path of our own");
            let mut list = match timeout(ANSWER, self.client.request::<Value>(request)).await {
                Ok(Ok(list)) => list,
                Ok(Err(error)) => {
                    tracing::debug!(kind = self.kind.kind, %error, "a list is refused");
                    return None;
                }
                Err(_) => return None,
            };
            if let Some(items) = list["items"].as_array_mut() {
                objects.append(items);
            }
            match list["metadata"]["continue"].as_str().filter(|next| !next.is_empty()) {
                // It is base64 without padding, for URLs.
                Some(more) => more.clone_into(&mut next),
                None => {
                    let revision = revision(&list);
                    if revision < self.reached {
                        // From a server that is behind: what is known already is newer.
                        return None;
                    }
                    objects.iter_mut().for_each(|object| name_kind(&self.kind, object));
                    (self.begun, self.reached) = (asked, revision);
                    (self.lost, self.failures) = (false, 0);
                    return Some(Told::All { objects, revision, asked });
                }
            }
        }
    }

    async fn rest(&mut self) {
        let rest = REST.saturating_mul(1 << self.failures.min(10)).min(REST_LIMIT);
        self.failures += 1;
        sleep(rest).await;
    }
}
