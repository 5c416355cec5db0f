//! The witness: a watch of its own on the Pods, straight to the API server, whose notes are held
//! against the promises at the end.
//!
//! What comes before what is read from resourceVersions, which count the writes of the whole cluster,
//! so that a watch that is late accuses nobody.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::TryStreamExt;
use kube::core::WatchEvent;
use scenarios::Env;
use scenarios::env::PODS;
use serde_json::Value;
use tokio::task::JoinHandle;

/// What one Pod was at one write.
#[derive(Clone, Debug, Default)]
pub(crate) struct Note {
    pub(crate) version: u64,
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) image: String,
    pub(crate) ready: bool,
    /// On its way out.
    pub(crate) going: bool,
    /// By the Eviction API.
    pub(crate) evicted: bool,
    pub(crate) gone: bool,
}

/// What is asked for from one write on.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) version: u64,
    /// How many Pods may be at the new image.
    pub(crate) target: usize,
    /// How many have to be healthy.
    pub(crate) healthy: usize,
    pub(crate) paused: bool,
}

/// One that watches until it is dropped.
pub(crate) struct Witness {
    notes: Arc<Mutex<Vec<Note>>>,
    task: JoinHandle<()>,
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Witness {
    /// Begins with the Pods of the namespace that bear the label `app`.
    pub(crate) fn of(env: &Env, app: &str) -> Self {
        let path = format!("{}?labelSelector=app={app}", env.path(PODS, ""));
        let notes: Arc<Mutex<Vec<Note>>> = Arc::default();
        let (env, pages) = (env.clone(), Arc::clone(&notes));
        let task = tokio::spawn(async move {
            let mut version = String::new();
            loop {
                // A break is expected, and misses nothing: the watch goes on from where it was. Only
                // a server that no longer knows that place makes a list needed.
                if version.is_empty() {
                    version = list(&env, &path, &pages).await.unwrap_or_default();
                } else if let Err(kube::Error::Api(status)) =
                    follow(&env, &path, &mut version, &pages).await
                    && status.code == 410
                {
                    version.clear();
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
        Self { notes, task }
    }

    /// What was noted until now.
    pub(crate) fn notes(&self) -> Vec<Note> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn list(env: &Env, path: &str, pages: &Mutex<Vec<Note>>) -> Option<String> {
    let list = env.send("GET", path, "application/json", &Value::Null).await.ok()?;
    let version = list["metadata"]["resourceVersion"].as_str()?.to_owned();
    let there: Vec<Note> =
        list["items"].as_array().into_iter().flatten().map(|pod| note(pod, false)).collect();
    let mut pages = pages.lock().unwrap_or_else(PoisonError::into_inner);
    let uids: BTreeSet<&str> = there.iter().map(|note| note.uid.as_str()).collect();
    let missed: BTreeMap<String, Note> = pages
        .iter()
        .filter(|note| !uids.contains(note.uid.as_str()))
        .map(|note| (note.uid.clone(), note.clone()))
        .collect();
    let at = version.parse().unwrap_or(0);
    let missed = missed.into_values().filter(|note| !note.gone);
    // How those went can't be said; nobody is accused without a witness.
    let unseen = |note| Note { version: at, gone: true, evicted: true, ..note };
    let missed: Vec<Note> = missed.map(unseen).collect();
    pages.extend(missed);
    pages.extend(there);
    Some(version)
}

async fn follow(
    env: &Env,
    path: &str,
    version: &mut String,
    pages: &Mutex<Vec<Note>>,
) -> kube::Result<()> {
    let uri = format!("{path}&watch=true&resourceVersion={version}");
    let request = http::Request::get(uri).body(Vec::new()).expect("a path");
    let events = env.client.request_events::<Value>(request).await?;
    let mut events = std::pin::pin!(events);
    while let Some(event) = events.try_next().await? {
        let (pod, gone) = match event {
            WatchEvent::Added(pod) | WatchEvent::Modified(pod) => (pod, false),
            WatchEvent::Deleted(pod) => (pod, true),
            WatchEvent::Bookmark(_) => continue,
            WatchEvent::Error(status) => return Err(kube::Error::Api(status)),
        };
        pod["metadata"]["resourceVersion"].as_str().unwrap_or_default().clone_into(version);
        pages.lock().unwrap_or_else(PoisonError::into_inner).push(note(&pod, gone));
    }
    Ok(())
}

/// The resourceVersion of an object, as a number.
pub(crate) fn version(object: &Value) -> u64 {
    let version = object["metadata"]["resourceVersion"].as_str();
    version.and_then(|version| version.parse().ok()).unwrap_or(0)
}

fn note(pod: &Value, gone: bool) -> Note {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let is = |kind: &str| {
        let conditions = pod["status"]["conditions"].as_array();
        conditions.into_iter().flatten().find(|c| c["type"] == kind && c["status"] == "True")
    };
    Note {
        version: version(pod),
        name: text(&pod["metadata"]["name"]),
        uid: text(&pod["metadata"]["uid"]),
        image: text(&pod["spec"]["containers"][0]["image"]),
        ready: is("Ready").is_some(),
        going: pod["metadata"]["deletionTimestamp"].is_string(),
        evicted: is("DisruptionTarget").is_some_and(|c| c["reason"] == "EvictionByEvictionAPI"),
        gone,
    }
}

/// Promises that the notes break, for one rollout from a ready set to `new`: each a sentence.
///
/// `evicts` says that every Pod goes by an eviction, and none by its StatefulSet's controller.
pub(crate) fn judge(notes: &[Note], asked: &[Asked], new: &str, evicts: bool) -> Vec<String> {
    let mut notes = notes.to_vec();
    notes.sort_by_key(|note| note.version);
    let mut there: BTreeMap<String, Note> = BTreeMap::new();
    let mut went: BTreeSet<String> = BTreeSet::new();
    let mut broken = Vec::new();
    for note in notes {
        let at = note.version;
        let before = healthy(&there);
        let left = note.going || note.gone;
        if note.gone {
            there.remove(&note.uid);
        } else {
            there.insert(note.uid.clone(), note.clone());
        }
        let Some(asked) = asked.iter().rfind(|asked| asked.version < at) else { continue };
        let Note { name, image, .. } = &note;
        let after = healthy(&there);
        if after < before && after < asked.healthy {
            broken.push(format!("budget: {at}: {after} healthy without {name}: {asked:?}"));
        }
        if left && went.insert(note.uid.clone()) {
            if image == new {
                broken.push(format!("needless: {at}: {name} was already at {image}"));
            }
            if evicts && !note.evicted {
                broken.push(format!("evictions: {at}: {name} went without one"));
            }
            if asked.paused {
                broken.push(format!("pause: {at}: {name} was disturbed"));
            }
            if went.len() > asked.target {
                broken.push(format!("target: {at}: {name} is one too many: {asked:?}"));
            }
        }
        let moved = there.values().filter(|pod| pod.image == new).count();
        if image == new && moved > asked.target {
            broken.push(format!("target: {at}: {moved} at {new}: {asked:?}"));
        }
    }
    broken
}

fn healthy(there: &BTreeMap<String, Note>) -> usize {
    there.values().filter(|pod| pod.ready && !pod.going).count()
}

/// What the judge says of two Pods of `v1`, one of which is to move, and of one more note.
#[cfg(test)]
fn check(asked: Asked, note: Note, claim: &str) {
    let pod = |n: u64| Note {
        version: n,
        name: format!("web-{n}"),
        uid: n.to_string(),
        image: "v1".to_owned(),
        ready: true,
        ..Note::default()
    };
    let notes = [pod(1), pod(2), note];
    let broken = judge(&notes, &[asked], "v2", true);
    let said = broken.iter().any(|words| words.starts_with(claim));
    assert!(if claim.is_empty() { broken.is_empty() } else { said }, "{claim}: {broken:?}");
}

#[test]
fn the_judge_sees_each_promise_that_is_broken() {
    let asked = || Asked { version: 5, target: 1, healthy: 1, paused: false };
    let going = || Note {
        version: 9,
        name: "web-2".to_owned(),
        uid: "2".to_owned(),
        image: "v1".to_owned(),
        ready: true,
        going: true,
        evicted: true,
        gone: false,
    };
    check(asked(), going(), "");
    check(Asked { healthy: 2, ..asked() }, going(), "budget");
    check(Asked { target: 0, ..asked() }, going(), "target");
    check(Asked { paused: true, ..asked() }, going(), "pause");
    check(asked(), Note { evicted: false, ..going() }, "evictions");
    check(asked(), Note { image: "v2".to_owned(), ..going() }, "needless");
    // What came before the pause was observed is none of it.
    check(Asked { paused: true, version: 10, ..asked() }, going(), "");
}
