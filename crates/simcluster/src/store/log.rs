//! One change as it stands in the log, with the event that watches send of it.

use std::sync::OnceLock;

use bytes::{BufMut, Bytes, BytesMut};

use crate::behaviour::Change;
use crate::json::Value;
use crate::object::Object;

/// One entry of the log.
#[derive(Debug)]
pub struct Logged {
    /// The resourceVersion that the change got.
    pub revision: u64,
    /// What changed.
    pub change: Change,
    /// What an event shows: the new content, or the last content under the version of its removal.
    pub shown: Object,
    event: OnceLock<Bytes>,
}

impl Logged {
    pub(super) fn new(revision: u64, change: Change, shown: Object) -> Self {
        Self { revision, change, shown, event: OnceLock::new() }
    }

    /// The type of the event for a watch that saw the object before and sees it now, if it was and
    /// is there.
    pub fn type_(&self) -> &'static str {
        match (&self.change.before, &self.change.after) {
            (None, _) => "ADDED",
            (Some(_), Some(_)) => "MODIFIED",
            (Some(_), None) => "DELETED",
        }
    }

    /// The event of [`Self::type_`] as a line, encoded at most once however many watches send it.
    pub fn event(&self) -> Bytes {
        self.event.get_or_init(|| line(self.type_(), &encode(&self.shown))).clone()
    }

    /// `shown` as JSON: a part of the event.
    pub fn encoded(&self) -> Bytes {
        let event = self.event();
        event.slice(OPEN.len() + self.type_().len() + OBJECT.len()..event.len() - CLOSE.len())
    }
}

const OPEN: &[u8] = b"{\"type\":\"";
const OBJECT: &[u8] = b"\",\"object\":";
const CLOSE: &[u8] = b"}\n";

/// A watch's line about an object in JSON.
pub(crate) fn line(type_: &str, object: &[u8]) -> Bytes {
    let length = OPEN.len() + type_.len() + OBJECT.len() + object.len() + CLOSE.len();
    let mut event = BytesMut::with_capacity(length);
    for part in [OPEN, type_.as_bytes(), OBJECT, object, CLOSE] {
        event.put_slice(part);
    }
    event.freeze()
}

/// An object as JSON.
pub(crate) fn encode(object: &Value) -> Vec<u8> {
    serde_json::to_vec(object).expect("a Value always encodes")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::json::json;
    use crate::object::{Key, PODS};

    #[test]
    fn what_an_event_shows_is_a_part_of_it() {
        let object: Object = Arc::new(json!({"kind": "Pod"}));
        let (before, after) = (None, Some(object.clone()));
        let change = Change { key: Key::new(PODS, "ns", "p"), before, after };
        let logged = Logged::new(1, change, object);
        assert_eq!(logged.event(), "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\"}}\n");
        assert_eq!(logged.encoded(), "{\"kind\":\"Pod\"}");
    }
}
