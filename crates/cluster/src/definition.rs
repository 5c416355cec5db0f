//! The definition of a kind that a cluster may be without. It is watched, by its name, while the kind is not
//! served: so nobody has to ask for the kind again and again, and it is seen at once when it comes.
//!
//! RBAC: `list` and `watch` on the `customresourcedefinitions` of these names.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use kube::Client;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Notify;

use crate::watch::{Seen, Source, Watched, watch};

/// How long until a kind is looked for again whose definition is there, or cannot be watched just now.
const ABSENT: Duration = Duration::from_secs(30);
/// How long until it is where only one namespace is looked at: definitions are in none, and not to be watched.
pub(crate) const UNWATCHED: Duration = Duration::from_secs(300);

/// A CustomResourceDefinition, as far as it says whether its kind is there.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Value")]
struct Definition {
    resource_version: String,
    /// `/apis/GROUP/VERSION` for each version that is served; none before it is established.
    served: Vec<String>,
}

impl From<Value> for Definition {
    fn from(raw: Value) -> Self {
        let conditions = raw["status"]["conditions"].as_array().into_iter().flatten();
        let mut established = conditions.filter(|it| it["type"] == "Established");
        let established = established.any(|it| it["status"] == "True");
        let group = raw["spec"]["group"].as_str().unwrap_or_default();
        let versions = raw["spec"]["versions"].as_array().into_iter().flatten();
        let versions = versions.filter(|version| established && version["served"] == true);
        let served = versions.filter_map(|version| version["name"].as_str());
        let served = served.map(|version| format!("/apis/{group}/{version}")).collect();
        let version = raw["metadata"]["resourceVersion"].as_str();
        Self { resource_version: version.unwrap_or_default().to_owned(), served }
    }
}

impl Watched for Definition {
    fn resource_version(&self) -> &str {
        &self.resource_version
    }
}

/// What is known of a definition.
enum News {
    /// It is not there, or serves no version that is asked for.
    Absent,
    /// It is, as of this resourceVersion.
    There(String),
    /// It cannot be watched.
    Unknown,
}

/// Returns when there is reason to look for a kind again: its definition has come, or has changed since
/// `tried`, its resourceVersion when the kind was looked for last.
pub(crate) fn comes<'a>(
    client: &'a Client,
    source: Source,
    name: &'static str,
    jitter: u64,
    tried: &'a mut String,
) -> BoxFuture<'a, ()> {
    async move {
        let (news, said) = (Arc::new(Mutex::new(News::Absent)), Arc::new(Notify::new()));
        let (hears, told) = (Arc::clone(&news), Arc::clone(&said));
        let tell = move |seen: Seen<Definition>| {
            let heard = match seen {
                Seen::All(all, _) => read(source, all.first()),
                Seen::Applied(one) => read(source, Some(&one)),
                Seen::Deleted(_) => News::Absent,
                Seen::Broken(_) => News::Unknown,
                Seen::Open | Seen::Served(_) => return,
            };
            *hears.lock().unwrap_or_else(PoisonError::into_inner) = heard;
            told.notify_one();
        };
        let definitions =
            Source::of("customresourcedefinitions", &["/apis/apiextensions.k8s.io/v1"]);
        let definitions = Source { name: Some(name), ..definitions };
        let mut watching = watch(client.clone(), definitions, None, jitter, tell).boxed();
        loop {
            tokio::select! {
                biased;
                () = &mut watching => {}
                () = said.notified() => {}
            }
            let heard = {
                let mut news = news.lock().unwrap_or_else(PoisonError::into_inner);
                std::mem::replace(&mut *news, News::Absent)
            };
            match heard {
                News::Absent => {}
                News::There(version) if *tried != version => {
                    *tried = version;
                    return;
                }
                News::There(_) | News::Unknown => return tokio::time::sleep(ABSENT).await,
            }
        }
    }
    .boxed()
}

fn read(source: Source, definition: Option<&Definition>) -> News {
    let asked = |served: &String| source.served.contains(&served.as_str());
    match definition.filter(|definition| definition.served.iter().any(asked)) {
        Some(definition) => News::There(definition.resource_version.clone()),
        None => News::Absent,
    }
}
