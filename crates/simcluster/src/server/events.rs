//! core/v1 Events that components write, counted up when they repeat.

use jiff::Timestamp;

use super::{Inner, meta};
use crate::error::ApiError;
use crate::json::{Value, json};
use crate::kind::Kind;
use crate::object::{self, Collection, Key, Object};
use crate::server::options::WriteOptions;
use crate::server::part::Part;

pub(super) const EVENTS: Collection = Collection::known("", "events");

/// What is said about an object.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    /// `Normal` or `Warning`.
    pub type_: &'a str,
    /// CamelCase reason.
    pub reason: &'a str,
    /// A sentence.
    pub message: &'a str,
    /// Who says it.
    pub component: &'a str,
}

/// An Event on its way: a new one, or one that is said again.
pub(super) struct Saying {
    /// Where it is stored.
    pub(super) key: Key,
    /// Whether it has been said before.
    pub(super) again: bool,
    /// The whole Event.
    pub(super) event: Value,
}

impl Inner {
    /// Records an Event, past the webhooks.
    pub fn say(&mut self, about: &Key, said: &Said<'_>, now: Timestamp) -> Result<(), ApiError> {
        let kind = self.kind_of(&EVENTS)?;
        let options = WriteOptions::of(said.component);
        let Saying { key, again, event } = self.saying(about, said, now)?;
        if again {
            return self.update(&kind, &key, Part::Main, event, &options, now).map(|_| ());
        }
        self.create(&kind, &key.namespace, event, &options, now).map(|_| ())
    }

    /// The Event to be written. The same words about the same object raise `count` instead.
    pub(super) fn saying(
        &self,
        about: &Key,
        said: &Said<'_>,
        now: Timestamp,
    ) -> Result<Saying, ApiError> {
        let target = self.store.find(&about.collection, &about.namespace, &about.name);
        let event = said.event(about, &*self.kind_of(&about.collection)?, target, now);
        let key = Key::of(EVENTS, &event);
        Ok(match self.store.find(&EVENTS, &key.namespace, &key.name) {
            Some(old) => Saying { event: again(old, now), key, again: true },
            None => Saying { key, again: false, event },
        })
    }
}

impl Said<'_> {
    /// The Event that says it for the first time. The client's recorder names an Event by what it is
    /// about and a number; a hash of what it says gives a name under which a repeat is found at once.
    pub fn event(
        &self,
        about: &Key,
        kind: &Kind,
        target: Option<&Object>,
        now: Timestamp,
    ) -> Value {
        let namespace = if about.namespace.is_empty() { "default" } else { &about.namespace };
        let uid = target.map(|target| object::uid(target)).unwrap_or_default();
        let name = format!("{}.{:016x}", about.name, digest(uid, self));
        let mut involved = json!({
            "kind": kind.kind,
            "name": about.name,
            "apiVersion": kind.api_version(),
        });
        if !about.namespace.is_empty() {
            involved["namespace"] = json!(about.namespace);
        }
        if let Some(target) = target {
            involved["uid"] = json!(uid);
            involved["resourceVersion"] = json!(object::resource_version(target));
        }
        json!({
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": involved,
            "reason": self.reason,
            "message": self.message,
            "type": self.type_,
            "source": {"component": self.component},
            "reportingComponent": self.component,
            "reportingInstance": "",
            "eventTime": null,
            "firstTimestamp": meta::stamp(now),
            "lastTimestamp": meta::stamp(now),
            "count": 1,
        })
    }
}

/// An Event that is said once more.
pub fn again(old: &Value, now: Timestamp) -> Value {
    let mut again = old.clone();
    again["count"] = json!(old["count"].as_i64().unwrap_or(1) + 1);
    again["lastTimestamp"] = json!(meta::stamp(now));
    again
}

/// FNV-1a of what makes two Events the same.
fn digest(uid: &str, said: &Said<'_>) -> u64 {
    let parts = [uid, said.type_, said.reason, said.message, said.component];
    parts
        .iter()
        .flat_map(|part| part.bytes().chain([0]))
        .fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}
