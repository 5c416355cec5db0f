//! A diary of Pods: every change of every Pod in order, as a watch tells it, so that what happens
//! between two looks is seen too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::TryStreamExt;
use kube::core::WatchEvent;
use serde_json::Value;
use tokio::task::JoinHandle;

use super::pod::{Pod, seconds};
use crate::env::{Env, Failure, PODS};

/// One change. Times are the server's, in seconds, since a look of ours may be late.
#[derive(Clone, Debug)]
struct Entry {
    pod: Pod,
    /// The resourceVersion, as a number.
    version: u64,
    gone: bool,
    evicted: bool,
    /// Since when it is ready.
    ready: Option<i64>,
    /// Since when it is on its way out.
    going: Option<i64>,
}

/// Watches from its making until it is dropped.
pub(crate) struct Diary {
    env: Env,
    /// Path and query of the Pods.
    path: String,
    entries: Arc<Mutex<Vec<Entry>>>,
    /// How many entries say what was there at the start.
    listed: usize,
    broken: Arc<Mutex<Option<String>>>,
    task: JoinHandle<()>,
}

impl Drop for Diary {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A Pod that went.
#[derive(Clone, Debug)]
pub(crate) struct Departure {
    pub(crate) pod: Pod,
    /// When it began to go, by the server's clock, in seconds.
    pub(crate) since: Option<i64>,
    /// Whether the Eviction API had a hand in it.
    pub(crate) evicted: bool,
}

impl Departure {
    /// How many seconds after another it began to go.
    pub(crate) fn seconds_after(&self, other: &Self) -> Result<i64, Failure> {
        let nothing = |of: &Self| {
            Failure::Broken(format!("{} went without a deletionTimestamp", of.pod.name))
        };
        let since = |of: &Self| of.since.ok_or_else(|| nothing(of));
        Ok(since(self)? - since(other)?)
    }
}

/// What was written.
pub(crate) struct Pages {
    entries: Vec<Entry>,
    listed: usize,
}

impl Diary {
    /// Begins with the Pods that match `selector` now.
    pub(crate) async fn begin(env: &Env, selector: &str) -> Result<Self, Failure> {
        let path = format!("{}?labelSelector={selector}", env.path(PODS, ""));
        let list = env.send("GET", &path, "application/json", &Value::Null).await?;
        let first = list["items"].as_array().into_iter().flatten().map(|pod| entry(pod, false));
        let first: Vec<Entry> = first.collect();
        let listed = first.len();
        let entries = Arc::new(Mutex::new(first));
        let broken = Arc::new(Mutex::new(None));
        let mut version = list["metadata"]["resourceVersion"].as_str().unwrap_or("0").to_owned();
        let (pages, fault, uri) = (Arc::clone(&entries), Arc::clone(&broken), path.clone());
        let reader = env.clone();
        let task = tokio::spawn(async move {
            loop {
                let uri = format!("{uri}&watch=true&resourceVersion={version}");
                match follow(&reader.client, &uri, &mut version, &pages).await {
                    Ok(()) => {}
                    // The server no longer knows what came after that: something may be missing.
                    Err(kube::Error::Api(status)) if status.code == 410 => {
                        *lock(&fault) = Some(status.message.clone());
                        return;
                    }
                    // A connection that breaks is taken up where it was, and misses nothing.
                    Err(_) => tokio::time::sleep(reader.look).await,
                }
            }
        });
        Ok(Self { env: env.clone(), path, entries, listed, broken, task })
    }

    /// What has been written until now: all that the server knew when this was called.
    pub(crate) async fn read(&self) -> Result<Pages, Failure> {
        let list = self.env.send("GET", &self.path, "application/json", &Value::Null).await?;
        let at = version(&list);
        let now: Vec<Entry> =
            list["items"].as_array().into_iter().flatten().map(|pod| entry(pod, false)).collect();
        // A watch may be late; what it has not told yet must not count as not having been.
        let mut patience = self.env.patience(self.env.limit(60));
        loop {
            if let Some(fault) = &*lock(&self.broken) {
                return Err(Failure::Late(format!("the watch of the Pods broke: {fault}")));
            }
            let entries = lock(&self.entries).clone();
            let pages = Pages { entries, listed: self.listed };
            if pages.know(&now, at) {
                return Ok(pages);
            }
            patience.rest(|| "the watch of the Pods tells what the list says".to_owned()).await?;
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn follow(
    client: &kube::Client,
    uri: &str,
    version: &mut String,
    pages: &Mutex<Vec<Entry>>,
) -> kube::Result<()> {
    let request = http::Request::get(uri).body(Vec::new()).map_err(kube::Error::HttpError)?;
    let events = client.request_events::<Value>(request).await?;
    let mut events = std::pin::pin!(events);
    while let Some(event) = events.try_next().await? {
        let (pod, gone) = match event {
            WatchEvent::Added(pod) | WatchEvent::Modified(pod) => (pod, false),
            WatchEvent::Deleted(pod) => (pod, true),
            WatchEvent::Bookmark(_) => continue,
            WatchEvent::Error(status) => return Err(kube::Error::Api(status)),
        };
        pod["metadata"]["resourceVersion"].as_str().unwrap_or_default().clone_into(version);
        lock(pages).push(entry(&pod, gone));
    }
    Ok(())
}

fn entry(pod: &Value, gone: bool) -> Entry {
    let conditions = pod["status"]["conditions"].as_array();
    let by_eviction =
        |c: &Value| c["type"] == "DisruptionTarget" && c["reason"] == "EvictionByEvictionAPI";
    let evicted = conditions.into_iter().flatten().any(by_eviction);
    let ready = |c: &&Value| c["type"] == "Ready" && c["status"] == "True";
    let ready = conditions.into_iter().flatten().find(ready);
    // It is the end of the grace.
    let grace = pod["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or(0);
    Entry {
        version: version(pod),
        gone,
        evicted,
        ready: ready.and_then(|ready| seconds(&ready["lastTransitionTime"])),
        going: seconds(&pod["metadata"]["deletionTimestamp"]).map(|end| end - grace),
        pod: Pod::read(pod),
    }
}

fn version(object: &Value) -> u64 {
    let version = object["metadata"]["resourceVersion"].as_str();
    version.and_then(|version| version.parse().ok()).unwrap_or(0)
}

impl Pages {
    /// Whether they say of each Pod what a list of that resourceVersion said, or something newer, and
    /// of none that it was there when it was not.
    fn know(&self, list: &[Entry], at: u64) -> bool {
        let mut last: BTreeMap<&str, &Entry> = BTreeMap::new();
        for entry in &self.entries {
            last.insert(&entry.pod.uid, entry);
        }
        let told = |entry: &Entry| {
            last.get(entry.pod.uid.as_str()).is_some_and(|last| last.version >= entry.version)
        };
        let there = |uid: &str| list.iter().any(|entry| entry.pod.uid == uid);
        let gone = |(uid, last): (&&str, &&Entry)| last.gone || there(uid) || last.version > at;
        list.iter().all(told) && last.iter().all(gone)
    }

    /// The fewest healthy Pods that there were at any moment.
    pub(crate) fn fewest_healthy(&self) -> usize {
        let mut alive: BTreeMap<&str, &Entry> = BTreeMap::new();
        let mut fewest = usize::MAX;
        for (index, entry) in self.entries.iter().enumerate() {
            match entry.gone {
                true => alive.remove(entry.pod.uid.as_str()),
                false => alive.insert(&entry.pod.uid, entry),
            };
            // Those that were there at the start are counted once all of them are in.
            let counted = index + 1 >= self.listed;
            if counted {
                fewest = fewest.min(alive.values().filter(|entry| entry.pod.healthy()).count());
            }
        }
        fewest
    }

    /// The Pods that began to go, in that order.
    pub(crate) fn departures(&self) -> Vec<Departure> {
        let mut known = BTreeSet::new();
        let mut departures: Vec<Departure> = Vec::new();
        for entry in self.entries.iter().filter(|entry| entry.gone || entry.pod.terminating) {
            if known.insert(&entry.pod.uid) {
                let Entry { going: since, evicted, .. } = *entry;
                departures.push(Departure { pod: entry.pod.clone(), since, evicted });
            } else if let Some(known) = departures.iter_mut().find(|d| d.pod.uid == entry.pod.uid) {
                known.evicted |= entry.evicted;
            }
        }
        departures
    }

    /// Names of the Pods that began to go, in that order.
    pub(crate) fn went(&self) -> Vec<String> {
        self.departures().into_iter().map(|departure| departure.pod.name).collect()
    }

    /// Since when a Pod was ready for the first time, by the server's clock, in seconds; `None` if it
    /// never was.
    pub(crate) fn ready_since(&self, uid: &str) -> Option<i64> {
        self.entries.iter().find(|entry| entry.pod.uid == uid && entry.pod.healthy())?.ready
    }

    /// How many Pods were of this image at some time; one that changed in its place is of both.
    pub(crate) fn ever_of(&self, image: &str) -> usize {
        let of_it = self.entries.iter().filter(|entry| entry.pod.image == image);
        of_it.map(|entry| entry.pod.uid.as_str()).collect::<BTreeSet<_>>().len()
    }

    /// Every Pod that was there at some time, as it was first seen.
    pub(crate) fn lives(&self) -> Vec<Pod> {
        let mut known = BTreeSet::new();
        let new = |entry: &&Entry| known.insert(entry.pod.uid.clone());
        self.entries.iter().filter(new).map(|entry| entry.pod.clone()).collect()
    }
}
