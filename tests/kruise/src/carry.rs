//! What a step wants, as requests; and what has to be seen before the next look at the same key.

use std::time::Duration;

use jiff::Timestamp;
use kube::Client;
use simcluster::behaviour::{Refusal, Verb, View, Write};
use simcluster::json::{Value, json};
use simcluster::object::{self, Collection, Key};
use simcluster::server::events::{self, Said};
use tokio::time::timeout;

use crate::picture::{Owed, Picture};
use crate::resource::{Kinds, name_kind, path, revision};

const EVENTS: Collection = Collection::known("", "events");
/// After so long nobody waits for an answer any more: what was sent may have been heard, or not.
const ANSWER: Duration = Duration::from_secs(30);

/// A write, ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    verb: Verb,
    /// What is written; of an Event, what it is about.
    target: Key,
    subresource: Option<&'static str>,
    path: String,
    body: Value,
    /// Of what is deleted.
    uid: String,
}

/// How the writes of one look ended.
#[derive(Debug, Default)]
pub struct Carried {
    /// The first that was refused.
    pub refused: Option<Refusal>,
    /// What has to be seen now.
    pub owed: Vec<Owed>,
    /// Of which collections nobody knows what they hold: an answer was lost.
    pub unknown: Vec<Collection>,
}

/// Whose requests they are.
#[derive(Clone)]
pub struct Hand {
    /// A client that may do what the component does.
    pub client: Client,
    /// The component, as `managedFields` name it.
    pub actor: &'static str,
}

/// The request of a write, made while the picture is the one that the step saw.
pub fn request(kinds: &Kinds, picture: &Picture, write: Write, now: Timestamp) -> Sent {
    let (verb, target) = write.target();
    let known = picture.get(&target);
    let mut uid = String::new();
    let kind = kinds.of(&target.collection);
    let own = |sub: Option<&str>| {
        let path = format!("{}/{}", path(&kind, &target.namespace), target.name);
        sub.map_or(path.clone(), |sub| format!("{path}/{sub}"))
    };
    let mut subresource = None;
    let (path, body) = match write {
        Write::Create { mut object, .. } => {
            name_kind(&kind, &mut object);
            (path(&kind, &target.namespace), object)
        }
        Write::Update { subresource: sub, mut object, .. } => {
            name_kind(&kind, &mut object);
            subresource = sub;
            (own(sub), object)
        }
        Write::Delete { uid: only, grace_period_seconds, .. } => {
            let mut options = deletion(only.as_deref());
            if let Some(seconds) = grace_period_seconds {
                options["gracePeriodSeconds"] = seconds.into();
            }
            uid = only.or_else(|| known.map(|one| object::uid(one).to_owned())).unwrap_or_default();
            (own(None), options)
        }
        Write::DeleteForeground { uid: only, .. } => {
            let mut options = deletion(only.as_deref());
            options["propagationPolicy"] = "Foreground".into();
            uid = only.or_else(|| known.map(|one| object::uid(one).to_owned())).unwrap_or_default();
            (own(None), options)
        }
        Write::Event { type_, reason, message, component, .. } => {
            let said = Said { type_, reason, message: &message, component };
            let mut event = said.event(&target, &kind, known, now);
            let kind = kinds.of(&EVENTS);
            name_kind(&kind, &mut event);
            (self::path(&kind, object::namespace(&event)), event)
        }
    };
    Sent { verb, target, subresource, path, body, uid }
}

fn deletion(uid: Option<&str>) -> Value {
    let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
    if let Some(uid) = uid {
        options["preconditions"] = json!({"uid": uid});
    }
    options
}

/// Sends the writes of one look at `key`, in order.
pub async fn carry_out(hand: &Hand, key: &Key, writes: Vec<Sent>) -> Carried {
    let mut carried = Carried::default();
    for sent in writes {
        if sent.verb == Verb::Event {
            if carried.refused.is_none() {
                hand.tell(&sent).await;
            }
            continue;
        }
        // What is refused ends the step, but not what it knows: controllers note a status all the same.
        let status = sent.subresource == Some("status") && sent.target == *key;
        if carried.refused.is_some() && !status {
            continue;
        }
        let refused = hand.write(sent, &mut carried).await;
        carried.refused = carried.refused.take().or(refused);
    }
    carried
}

impl Hand {
    /// Sends one write, and says why it was refused if it was.
    async fn write(&self, sent: Sent, carried: &mut Carried) -> Option<Refusal> {
        let Sent { verb, target, uid, .. } = &sent;
        let method = match verb {
            Verb::Create => "POST",
            Verb::Update => "PUT",
            Verb::Delete | Verb::Event => "DELETE",
        };
        let going = || Owed::Going(target.clone(), uid.clone());
        let message = match self.send(method, &sent.path, &sent.body).await {
            Answer::Taken(_) if *verb == Verb::Delete => {
                carried.owed.push(going());
                return None;
            }
            Answer::Taken(object) => {
                let at = revision(&object);
                carried.owed.push(Owed::Reached(target.collection.clone(), at));
                return None;
            }
            // What is gone already need not be deleted: the rest of the step goes on.
            Answer::Refused { code: 404, .. } if *verb == Verb::Delete => {
                carried.owed.push(going());
                return None;
            }
            Answer::Refused { message, .. } => message,
            Answer::Lost(message) => {
                carried.unknown.push(target.collection.clone());
                message
            }
        };
        Some(Refusal { verb: *verb, key: sent.target, message })
    }

    /// Tells an Event, once more if it was told before. It is told to nobody if that fails.
    pub async fn tell(&self, sent: &Sent) {
        let told = self.send("POST", &sent.path, &sent.body).await;
        if !matches!(told, Answer::Refused { code: 409, .. }) {
            return;
        }
        let path = format!("{}/{}", sent.path, object::name(&sent.body));
        if let Answer::Taken(old) = self.send("GET", &path, &Value::Null).await {
            let at = sent.body["lastTimestamp"].as_str().and_then(|at| at.parse().ok());
            let again = events::again(&old, at.unwrap_or_default());
            self.send("PUT", &path, &again).await;
        }
    }

    async fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = http::Request::builder()
            .method(method)
            .uri(format!("{path}?fieldManager={}", self.actor))
            .header(http::header::CONTENT_TYPE, "application/json")
            .body(bytes)
            .expect("a path of our own");
        match timeout(ANSWER, self.client.request::<Value>(request)).await {
            Ok(Ok(value)) => Answer::Taken(value),
            Ok(Err(kube::Error::Api(status))) if status.code < 500 => {
                Answer::Refused { code: status.code, message: status.message }
            }
            Ok(Err(error)) => Answer::Lost(error.to_string()),
            Err(_) => Answer::Lost(format!("no answer within {ANSWER:?}")),
        }
    }
}

enum Answer {
    /// The server's own object, or a Status.
    Taken(Value),
    /// Nothing has changed.
    Refused { code: u16, message: String },
    /// Nobody knows.
    Lost(String),
}
