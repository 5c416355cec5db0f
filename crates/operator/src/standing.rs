//! Whether what the API server was told still stands: each object that it was told by is watched, by its name.
//! So nobody has to be told again and again, and what is deleted or altered is seen at once.
//!
//! RBAC: `list` and `watch` on the two configurations and on the definitions of these names.

use crate::registration::{CONVERTED, NAME, Told, mark};
use cluster::watch::{Seen, Source, Watched, watch};
use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// What was changed so long after the last time is mended at once; sooner, with growing pauses, since somebody
/// may change it back each time: a tool that applies another manifest, an operator of another version.
const CALM: Duration = Duration::from_secs(600);

/// Where each object is watched that the API server is told by.
fn watched() -> [(&'static str, Source); 4] {
    const ADMISSION: &[&str] = &["/apis/admissionregistration.k8s.io/v1"];
    const DEFINITIONS: &[&str] = &["/apis/apiextensions.k8s.io/v1"];
    let one = |plural, served, name| Source { name: Some(name), ..Source::of(plural, served) };
    let hooks = |plural| (plural, one(plural, ADMISSION, NAME));
    let definition = |name| (name, one("customresourcedefinitions", DEFINITIONS, name));
    let [rollouts, releases] = CONVERTED;
    [
        hooks("validatingwebhookconfigurations"),
        hooks("mutatingwebhookconfigurations"),
        definition(rollouts),
        definition(releases),
    ]
}

/// An object, as far as it says whether it is the one that was written.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(from = "Value")]
struct Version {
    resource_version: String,
    mark: String,
}

impl From<Value> for Version {
    fn from(raw: Value) -> Self {
        let text = |key: &str| raw["metadata"][key].as_str().unwrap_or_default();
        let generation = raw["metadata"]["generation"].as_i64();
        let mark = mark(text("uid"), generation, text("resourceVersion"));
        Self { resource_version: text("resourceVersion").to_owned(), mark }
    }
}

impl Watched for Version {
    fn resource_version(&self) -> &str {
        &self.resource_version
    }
}

/// The last news of each object that nobody has looked at: its mark, `None` where it is not there.
type News = Arc<Mutex<BTreeMap<&'static str, Option<String>>>>;

/// What stands on the API server.
pub(crate) struct Standing {
    news: News,
    heard: Arc<Notify>,
    watches: FuturesUnordered<BoxFuture<'static, ()>>,
    mended: Option<Instant>,
    pause: Duration,
}

impl Standing {
    /// Watched from here on, whenever [`altered`](Self::altered) is awaited.
    pub(crate) fn new(client: &kube::Client) -> Self {
        let (news, heard) = (News::default(), Arc::new(Notify::new()));
        let watches = watched().into_iter().map(|(thing, source)| {
            let (news, heard) = (news.clone(), heard.clone());
            let tell = move |seen: Seen<Version>| {
                let stands = match seen {
                    Seen::All(all, _) => all.into_iter().next().map(|it| it.mark),
                    Seen::Applied(one) => Some(one.mark),
                    Seen::Deleted(_) => None,
                    Seen::Served(_) | Seen::Broken(_) | Seen::Open => return,
                };
                news.lock().unwrap_or_else(PoisonError::into_inner).insert(thing, stands);
                heard.notify_one();
            };
            watch(client.clone(), source, None, 0, tell).boxed()
        });
        let watches = watches.collect();
        Self { news, heard, watches, mended: None, pause: Duration::ZERO }
    }

    /// Resolves when something of what was told does not stand as it was written: with its name, and as soon as it
    /// may be mended.
    pub(crate) async fn altered(&mut self, told: &Told) -> &'static str {
        let thing = loop {
            let news =
                std::mem::take(&mut *self.news.lock().unwrap_or_else(PoisonError::into_inner));
            let other = news.into_iter().find(|(thing, stands)| told.get(thing) != Some(stands));
            if let Some((thing, _)) = other {
                break thing;
            }
            tokio::select! {
                biased;
                () = self.heard.notified() => {}
                Some(()) = self.watches.next() => {}
            }
        };
        let again = self.mended.is_some_and(|at| at.elapsed() < CALM);
        let longer = (self.pause * 2).clamp(Duration::from_secs(1), CALM);
        self.pause = if again { longer } else { Duration::ZERO };
        tokio::time::sleep(self.pause).await;
        self.mended = Some(Instant::now());
        thing
    }
}
