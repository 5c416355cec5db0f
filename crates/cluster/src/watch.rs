//! A list and then a watch of one kind, for ever, with its own back-off: nothing is lost when a
//! watch breaks, since what a new list no longer holds has been deleted.
//!
//! RBAC: `list` and `watch` on the kind.
//!
//! Our own and not kube-runtime's `watcher`, for three reasons (kube-runtime 5.0.0): it opens a
//! watch that ends at once again without a pause; after a 410 at the opening it asks for the same
//! version again; and its back-off starts anew with each attempt that gets as far as a connection.
//! It also wants whole metadata, of which most would be thrown away for each Pod.

use std::time::Duration;

use futures::{StreamExt, stream::BoxStream};
use kube::Client;
use kube::core::{Request, WatchEvent, params};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;
use tracing::{debug, warn};

use crate::backoff::Backoff;
use crate::{definition, wire};

/// Objects of a page of a list.
const PAGE: u32 = 500;
/// How long the server is asked to keep a watch open, in seconds.
const OPEN: u32 = 290;
/// How long a watch may be silent: the server closes it before, if the connection still stands.
const SILENCE: Duration = Duration::from_secs(295);
/// A watch that ends sooner than this, without a word, has failed.
const TOO_SHORT: Duration = Duration::from_secs(1);
/// How long a page of a list may take.
const PAGE_TIME_OUT: Duration = Duration::from_secs(60);

/// Where the objects of a kind are listed and watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// What it is called where people are told of it: no two kinds have the same.
    pub title: &'static str,
    /// Plural, as in paths.
    pub plural: &'static str,
    /// Where it may be served, the first that is being taken: `/api/v1`, `/apis/apps/v1`.
    pub served: &'static [&'static str],
    /// The CustomResourceDefinition of a kind that a cluster may be without: until it comes, there are none.
    pub definition: Option<&'static str>,
    /// The one name that objects are looked at by; `None` for all.
    pub name: Option<&'static str>,
}

impl Source {
    /// A kind that is there in any cluster.
    pub const fn of(plural: &'static str, served: &'static [&'static str]) -> Self {
        Self { title: plural, plural, served, definition: None, name: None }
    }

    /// It may be missing: the name of its definition.
    #[must_use]
    pub const fn optional(self, definition: &'static str) -> Self {
        Self { definition: Some(definition), ..self }
    }

    /// Another kind has the same plural.
    #[must_use]
    pub const fn titled(self, title: &'static str) -> Self {
        Self { title, ..self }
    }

    /// Its objects in the API; `served` is one of where it may be served, `namespace` is `None` for all.
    pub fn collection(&self, served: &str, namespace: Option<&str>) -> String {
        match namespace {
            Some(namespace) => format!("{served}/namespaces/{namespace}/{}", self.plural),
            None => format!("{served}/{}", self.plural),
        }
    }

    fn field_selector(&self) -> Option<String> {
        self.name.map(|name| format!("metadata.name={name}"))
    }
}

/// A kind that can be watched: the part of its objects that is used. Whatever else they hold is
/// dropped while decoding, and nothing in them may make decoding fail, or one odd object would hide
/// all others.
pub trait Watched: DeserializeOwned + Clone + Send + 'static {
    /// `metadata.resourceVersion`.
    fn resource_version(&self) -> &str;
}

/// What a watch has to tell.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen<K> {
    /// Where the kind is served, one of [`Source::served`]; told before a list.
    Served(&'static str),
    /// All objects that there are, and as of which resourceVersion: any other is gone.
    All(Vec<K>, String),
    /// One is new or has changed.
    Applied(K),
    /// One is gone; its last content.
    Deleted(K),
    /// The watch has failed and will be tried again: why.
    Broken(String),
    /// The watch that had failed is open again; nothing was missed.
    Open,
}

#[derive(Deserialize)]
struct List<K> {
    #[serde(default)]
    metadata: ListMeta,
    items: Vec<K>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ListMeta {
    resource_version: String,
    #[serde(rename = "continue")]
    next: Option<String>,
}

/// Why a list or a watch came to an end.
enum End {
    /// Go on from the last version: the watch has run its time.
    Resume,
    /// Go on from the last version, after a pause.
    Failed(String, Option<u32>),
    /// The version is too old, or something cannot be read: list again, after a pause.
    Desynced(String),
    /// The server does not know the kind.
    Unknown(String),
}

/// Lists and watches until dropped; every change is given to `tell`, in order.
///
/// `namespace` is `None` for all. `jitter` seeds the spread of the pauses.
pub async fn watch<K: Watched>(
    client: Client,
    source: Source,
    namespace: Option<String>,
    jitter: u64,
    mut tell: impl FnMut(Seen<K>),
) {
    let kind = source.title;
    let mut backoff = Backoff::new(jitter);
    let mut version: Option<String> = None;
    let mut broken = false;
    // Where it is served: the one that is tried, and those that are to be tried after it.
    let mut places = Places::new(source.served);
    // The definition as it was when the kind was looked for in vain.
    let mut tried = String::new();
    loop {
        let at = At { client: &client, source, path: places.path(source, namespace.as_deref()) };
        let end = match &mut version {
            None => match list::<K>(&at).await {
                Ok((items, listed)) => {
                    debug!(kind, items = items.len(), version = listed, "listed");
                    tell(Seen::Served(places.found()));
                    tell(Seen::All(items, listed.clone()));
                    backoff.reset();
                    broken = false;
                    version = Some(listed);
                    continue;
                }
                Err(end) => end,
            },
            Some(version) => match open::<K>(&at, version).await {
                Ok(stream) => {
                    if std::mem::take(&mut broken) {
                        tell(Seen::Open);
                    }
                    follow(stream, version, &mut backoff, &mut tell).await
                }
                Err(end) => end,
            },
        };
        let (why, asked) = match end {
            End::Resume => continue,
            End::Failed(why, asked) => (why, asked),
            End::Desynced(why) => {
                // The server answers again: what it cost to wait for it is over, and until the list
                // nothing is seen, a pause that is asked for among it.
                backoff.reset();
                version = None;
                (why, None)
            }
            End::Unknown(why) => {
                version = None;
                if places.next() {
                    continue;
                }
                if let Some(name) = source.definition {
                    debug!(kind, why, "there is no such kind");
                    tell(Seen::All(Vec::new(), String::new()));
                    broken = false;
                    backoff.reset();
                    match namespace {
                        Some(_) => tokio::time::sleep(definition::UNWATCHED).await,
                        None => definition::comes(&client, source, name, jitter, &mut tried).await,
                    }
                    continue;
                }
                (why, None)
            }
        };
        let pause = backoff.pause().max(Duration::from_secs(asked.unwrap_or(0).into()));
        warn!(kind, ?pause, why, "watch is broken");
        broken = true;
        tell(Seen::Broken(why));
        tokio::time::sleep(pause).await;
    }
}

/// Where a kind may be served: a round ends where it has been asked for at each place in vain, and another
/// begins at the preferred one.
struct Places {
    all: &'static [&'static str],
    at: usize,
    /// How many have said no since one said yes.
    vain: usize,
}

impl Places {
    fn new(all: &'static [&'static str]) -> Self {
        Self { all, at: 0, vain: 0 }
    }

    fn path(&self, source: Source, namespace: Option<&str>) -> String {
        source.collection(self.all.get(self.at).copied().unwrap_or_default(), namespace)
    }

    /// It is served here.
    fn found(&mut self) -> &'static str {
        self.vain = 0;
        self.all.get(self.at).copied().unwrap_or_default()
    }

    /// Not here: whether there is another place to ask at, before the round is over.
    fn next(&mut self) -> bool {
        self.vain += 1;
        let over = self.vain >= self.all.len();
        (self.at, self.vain) = match over {
            true => (0, 0),
            false => ((self.at + 1) % self.all.len(), self.vain),
        };
        !over
    }
}

/// What is asked, and where.
struct At<'a> {
    client: &'a Client,
    source: Source,
    path: String,
}

/// All pages, and the version at which to go on.
async fn list<K: Watched>(at: &At<'_>) -> Result<(Vec<K>, String), End> {
    let request = Request::new(at.path.as_str());
    let mut items = Vec::new();
    let mut next: Option<String> = None;
    loop {
        let ask = params::ListParams {
            field_selector: at.source.field_selector(),
            limit: Some(PAGE),
            continue_token: next.take(),
            ..params::ListParams::default()
        };
        let ask = request.list(&ask).map_err(|error| End::Desynced(error.to_string()))?;
        let page = tokio::time::timeout(PAGE_TIME_OUT, at.client.request::<List<K>>(ask)).await;
        let page = page
            .map_err(|_| End::Failed("no answer to a list".to_owned(), None))?
            .map_err(|error| failed(&error))?;
        items.extend(page.items);
        match page.metadata.next.filter(|token| !token.is_empty()) {
            Some(token) => next = Some(token),
            None if page.metadata.resource_version.is_empty() => {
                return Err(End::Desynced("a list without a resourceVersion".to_owned()));
            }
            None => return Ok((items, page.metadata.resource_version)),
        }
    }
}

type Events<K> = BoxStream<'static, kube::Result<WatchEvent<K>>>;

async fn open<K: Watched>(at: &At<'_>, version: &str) -> Result<Events<K>, End> {
    let request = Request::new(at.path.as_str());
    let ask = params::WatchParams {
        field_selector: at.source.field_selector(),
        timeout: Some(OPEN),
        bookmarks: true,
        ..params::WatchParams::default()
    };
    let ask = request.watch(&ask, version).map_err(|error| End::Desynced(error.to_string()))?;
    match tokio::time::timeout(wire::TIME_OUT, at.client.request_events::<K>(ask)).await {
        Ok(Ok(stream)) => Ok(stream.boxed()),
        Ok(Err(error)) => Err(failed(&error)),
        Err(_) => Err(End::Failed("no answer to a watch".to_owned(), None)),
    }
}

/// One watch to its end; `version` goes on with what is told.
async fn follow<K: Watched>(
    mut stream: Events<K>,
    version: &mut String,
    backoff: &mut Backoff,
    tell: &mut impl FnMut(Seen<K>),
) -> End {
    let opened = Instant::now();
    let mut silent = true;
    loop {
        let event = match tokio::time::timeout(SILENCE, stream.next()).await {
            Ok(Some(Ok(event))) => event,
            Ok(Some(Err(error))) => return failed(&error),
            Ok(None) if silent && opened.elapsed() < TOO_SHORT => {
                return End::Failed("the watch ended at once".to_owned(), None);
            }
            Ok(None) | Err(_) => return End::Resume,
        };
        match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                version.clear();
                version.push_str(object.resource_version());
                tell(Seen::Applied(object));
            }
            WatchEvent::Deleted(object) => {
                version.clear();
                version.push_str(object.resource_version());
                tell(Seen::Deleted(object));
            }
            WatchEvent::Bookmark(mark) => *version = mark.metadata.resource_version,
            WatchEvent::Error(status) if status.code == 410 => {
                return End::Desynced(status.message);
            }
            WatchEvent::Error(status) => {
                let asked = status.details.as_ref().map(|details| details.retry_after_seconds);
                return End::Failed(status.message, asked);
            }
        }
        if version.is_empty() {
            return End::Desynced("an event without a resourceVersion".to_owned());
        }
        silent = false;
        backoff.reset();
    }
}

fn failed(error: &kube::Error) -> End {
    match error {
        kube::Error::Api(status) if status.code == 410 => End::Desynced(status.message.clone()),
        kube::Error::Api(status) if status.code == 404 => End::Unknown(status.message.clone()),
        // kube takes any line that is no event for a Status, and finds an empty one.
        kube::Error::Api(status) if status.code == 0 => {
            End::Desynced("cannot read an event".to_owned())
        }
        kube::Error::Api(status) => {
            let asked = status.details.as_ref().map(|details| details.retry_after_seconds);
            End::Failed(status.message.clone(), asked)
        }
        kube::Error::SerdeError(error) => End::Desynced(format!("cannot read an object: {error}")),
        error => End::Failed(wire::chain(error), None),
    }
}
