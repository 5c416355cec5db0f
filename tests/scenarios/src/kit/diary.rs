//! A diary of Pods: every change of every Pod in order, as a watch tells it, so that what happens
//! between two looks is seen too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::TryStreamExt;
use kube::core::WatchEvent;
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::pod::Pod;
use crate::env::{Env, Failure, PODS};

/// One change.
#[derive(Clone, Debug)]
struct Entry {
    at: Instant,
    pod: Pod,
    gone: bool,
    evicted: bool,
    until: Option<i64>,
}

/// Watches from its making until it is dropped.
pub(crate) struct Diary {
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
    /// When it began to go.
    pub(crate) at: Instant,
    /// The deletionTimestamp that it began to go with, in seconds: when that was, and its grace.
    until: Option<i64>,
    /// Whether the Eviction API had a hand in it.
    pub(crate) evicted: bool,
}

impl Departure {
    /// How long after another it began to go, for Pods of one grace; by the server's clock, since a
    /// look of ours may be late.
    pub(crate) fn seconds_after(&self, other: &Self) -> Result<i64, Failure> {
        let nothing =
            |of: &Self| Failure(format!("{} went without a deletionTimestamp", of.pod.name));
        let until = |of: &Self| of.until.ok_or_else(|| nothing(of));
        Ok(until(self)? - until(other)?)
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
        let version = list["metadata"]["resourceVersion"].as_str().unwrap_or("0").to_owned();
        let (pages, fault, client) =
            (Arc::clone(&entries), Arc::clone(&broken), env.client.clone());
        let task = tokio::spawn(async move {
            let mut version = version;
            loop {
                let uri = format!("{path}&watch=true&resourceVersion={version}");
                if let Err(error) = follow(&client, &uri, &mut version, &pages).await {
                    *fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
                    return;
                }
            }
        });
        Ok(Self { entries, listed, broken, task })
    }

    /// What has been written until now.
    pub(crate) async fn read(&self) -> Result<Pages, Failure> {
        // The last changes are on their way.
        tokio::time::sleep(Duration::from_millis(300)).await;
        if let Some(fault) = &*self.broken.lock().unwrap_or_else(PoisonError::into_inner) {
            return Err(Failure(format!("the watch of the Pods broke: {fault}")));
        }
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(Pages { entries, listed: self.listed })
    }
}

async fn follow(
    client: &kube::Client,
    uri: &str,
    version: &mut String,
    pages: &Mutex<Vec<Entry>>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let request = http::Request::get(uri).body(Vec::new())?;
    let events = client.request_events::<Value>(request).await?;
    let mut events = std::pin::pin!(events);
    while let Some(event) = events.try_next().await? {
        let (pod, gone) = match event {
            WatchEvent::Added(pod) | WatchEvent::Modified(pod) => (pod, false),
            WatchEvent::Deleted(pod) => (pod, true),
            WatchEvent::Bookmark(_) => continue,
            WatchEvent::Error(status) => return Err(status.message.clone().into()),
        };
        pod["metadata"]["resourceVersion"].as_str().unwrap_or_default().clone_into(version);
        pages.lock().unwrap_or_else(PoisonError::into_inner).push(entry(&pod, gone));
    }
    Ok(())
}

fn entry(pod: &Value, gone: bool) -> Entry {
    let conditions = pod["status"]["conditions"].as_array();
    let by_eviction =
        |c: &Value| c["type"] == "DisruptionTarget" && c["reason"] == "EvictionByEvictionAPI";
    let evicted = conditions.into_iter().flatten().any(by_eviction);
    let meta = serde_json::from_value::<kube::api::ObjectMeta>(pod["metadata"].clone());
    let until = meta.ok().and_then(|meta| meta.deletion_timestamp).map(|time| time.0.as_second());
    Entry { at: Instant::now(), pod: Pod::read(pod), gone, evicted, until }
}

impl Pages {
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
                let Entry { at, evicted, until, .. } = *entry;
                departures.push(Departure { pod: entry.pod.clone(), at, until, evicted });
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

    /// When a Pod was first seen ready; `None` if it never was.
    pub(crate) fn ready_at(&self, uid: &str) -> Option<Instant> {
        self.entries.iter().find(|entry| entry.pod.uid == uid && entry.pod.healthy()).map(|e| e.at)
    }

    /// Every Pod that was there at some time, as it was first seen.
    pub(crate) fn lives(&self) -> Vec<Pod> {
        let mut known = BTreeSet::new();
        let new = |entry: &&Entry| known.insert(entry.pod.uid.clone());
        self.entries.iter().filter(new).map(|entry| entry.pod.clone()).collect()
    }
}
