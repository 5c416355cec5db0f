//! Events: what `kubectl describe` shows of an object's life.
//!
//! RBAC: `create` and `patch` on `events` of `events.k8s.io`.
//!
//! Written by us and not by kube's recorder, which reads the wall clock and keeps the note of the
//! first of a series. Best effort: an event that cannot be written is logged and forgotten.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use engine::world::Uid;
use http::Method;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tracing::debug;

use crate::act::Hands;
use crate::error::Error;
use crate::key::Key;
use crate::lease::stamp;
use crate::subject::{Subject, Workload};
use crate::wire::{self, Ask, Content};

/// How long a thing said again counts as the same series (as in Kubernetes' own recorders).
const SERIES: SignedDuration = SignedDuration::from_mins(6);
/// The API server takes this many bytes of a note.
const NOTE: usize = 1024;
/// An event may take this long.
const TIME_OUT: Duration = Duration::from_secs(5);

/// Something to tell about an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Told {
    /// Whether it asks for somebody's attention.
    pub warning: bool,
    /// CamelCase, at most 128 bytes: why it is told.
    pub reason: String,
    /// CamelCase, at most 128 bytes: what was done or tried.
    pub action: String,
    /// A sentence. What is beyond 1,024 bytes is cut.
    pub note: String,
}

/// What an event is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    api_version: &'static str,
    kind: &'static str,
    key: Key,
}

impl From<&Subject> for About {
    fn from(subject: &Subject) -> Self {
        let (api_version, kind) = (subject.front.api_version(), subject.front.kind());
        Self { api_version, kind, key: subject.key.clone() }
    }
}

impl From<&Workload> for About {
    fn from(workload: &Workload) -> Self {
        let (api_version, kind) = ("apps/v1", workload.kind.name());
        Self { api_version, kind, key: workload.key.clone() }
    }
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.key)
    }
}

/// Tells about objects, and remembers what it told a short while ago.
pub struct Events {
    hands: Hands,
    /// The Pod that runs this process.
    instance: String,
    series: Mutex<BTreeMap<(String, Told), Series>>,
}

#[derive(Clone, Debug)]
struct Series {
    name: String,
    count: u32,
    last: Timestamp,
}

impl Events {
    /// `instance` names this process, at most 128 bytes.
    pub fn new(hands: Hands, instance: impl Into<String>) -> Self {
        Self { hands, instance: instance.into(), series: Mutex::default() }
    }

    /// Tells once; never fails and never takes longer than five seconds.
    pub async fn tell(&self, about: impl Into<About>, uid: &Uid, told: &Told) {
        let about = about.into();
        match tokio::time::timeout(TIME_OUT, self.write(&about, uid, told)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => debug!(%about, %error, "cannot write an event"),
            Err(_) => debug!(%about, reason = told.reason, "an event takes too long"),
        }
    }

    async fn write(&self, about: &About, uid: &Uid, told: &Told) -> Result<(), Error> {
        let now = self.hands.clock.now();
        let id = (uid.0.clone(), told.clone());
        let again = self.next_of_series(&id, now);
        if let Some(series) = &again {
            match self.count(about, series).await {
                // It has expired in the cluster: begin anew.
                Err(error) if error.is_gone() => {}
                other => return other,
            }
        }
        let series = Series { name: event_name(&about.key.name, &id, now), count: 1, last: now };
        self.create(about, uid, told, &series).await?;
        self.remember(id, series, now);
        Ok(())
    }

    /// The series that this belongs to, counted up, if it was told a short while ago.
    fn next_of_series(&self, id: &(String, Told), now: Timestamp) -> Option<Series> {
        let mut all = self.series.lock().unwrap_or_else(PoisonError::into_inner);
        let series = all.get_mut(id).filter(|series| now.duration_since(series.last) < SERIES)?;
        series.count += 1;
        series.last = now;
        Some(series.clone())
    }

    fn remember(&self, id: (String, Told), series: Series, now: Timestamp) {
        let mut all = self.series.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, series| now.duration_since(series.last) < SERIES);
        all.insert(id, series);
    }

    async fn create(
        &self,
        about: &About,
        uid: &Uid,
        told: &Told,
        series: &Series,
    ) -> Result<(), Error> {
        let body = json!({
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": { "name": series.name, "namespace": about.key.namespace },
            "eventTime": stamp(series.last),
            "type": if told.warning { "Warning" } else { "Normal" },
            "reason": told.reason,
            "action": told.action,
            "note": cut(&told.note),
            "reportingController": "sluice.dev/operator",
            "reportingInstance": self.instance,
            "regarding": {
                "apiVersion": about.api_version,
                "kind": about.kind,
                "namespace": about.key.namespace,
                "name": about.key.name,
                "uid": uid.0,
            },
        });
        self.request("create", Method::POST, Content::Json, about, None, &body).await
    }

    async fn count(&self, about: &About, series: &Series) -> Result<(), Error> {
        let body = json!({
            "series": { "count": series.count, "lastObservedTime": stamp(series.last) },
        });
        let name = Some(series.name.as_str());
        self.request("patch", Method::PATCH, Content::MergePatch, about, name, &body).await
    }

    async fn request(
        &self,
        verb: &'static str,
        method: Method,
        content: Content,
        about: &About,
        name: Option<&str>,
        body: &Value,
    ) -> Result<(), Error> {
        let events = format!("/apis/events.k8s.io/v1/namespaces/{}/events", about.key.namespace);
        let path = name.map_or_else(|| events.clone(), |name| format!("{events}/{name}"));
        let object = format!("event about {about}");
        let ask = Ask { verb, object: &object, method, path, content, body: Some(body) };
        wire::ask(&self.hands.client, &ask).await.map(drop)
    }
}

/// The same for the same thing told at the same time, so that a repeated request makes no second
/// event, and a run replays.
fn event_name(rollout: &str, (uid, told): &(String, Told), now: Timestamp) -> String {
    let hash = api::canonical::fingerprint(&json!([
        uid,
        told.reason,
        told.action,
        told.note,
        now.as_microsecond(),
    ]));
    // A name has at most 253 characters.
    let head: String = rollout.chars().take(236).collect();
    format!("{head}.{hash}")
}

fn cut(note: &str) -> &str {
    let mut end = note.len().min(NOTE);
    while !note.is_char_boundary(end) {
        end -= 1;
    }
    &note[..end]
}
