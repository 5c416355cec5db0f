//! The few protobuf bodies that `kubectl create …` sends, as JSON.
//!
//! A stock `kubectl` posts what its typed client makes in protobuf and cannot be told not to. Field
//! numbers are those of the published `generated.proto` files. Unknown fields are skipped; kinds
//! without a table here are refused with 415.

use base64::Engine as _;
use serde_json::{Map, Value, json};

/// The media type.
pub(crate) const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// What comes before the envelope.
const MAGIC: &[u8] = b"k8s\0";

#[derive(Clone, Copy)]
enum Ty {
    Text,
    Number,
    Truth,
    Texts,
    /// Text → text.
    Map,
    /// Text → bytes, base64 in JSON.
    ByteMap,
    /// Seconds and nanoseconds.
    Time,
    IntOrString,
    One(&'static [Field]),
    Many(&'static [Field]),
}

type Field = (u64, &'static str, Ty);

const META: &[Field] = &[
    (1, "name", Ty::Text),
    (2, "generateName", Ty::Text),
    (3, "namespace", Ty::Text),
    (5, "uid", Ty::Text),
    (6, "resourceVersion", Ty::Text),
    (8, "creationTimestamp", Ty::Time),
    (11, "labels", Ty::Map),
    (12, "annotations", Ty::Map),
    (14, "finalizers", Ty::Texts),
];

const SELECTOR: &[Field] = &[
    (1, "matchLabels", Ty::Map),
    (
        2,
        "matchExpressions",
        Ty::Many(&[(1, "key", Ty::Text), (2, "operator", Ty::Text), (3, "values", Ty::Texts)]),
    ),
];

const ATTRIBUTES: &[Field] = &[
    (1, "namespace", Ty::Text),
    (2, "verb", Ty::Text),
    (3, "group", Ty::Text),
    (4, "version", Ty::Text),
    (5, "resource", Ty::Text),
    (6, "subresource", Ty::Text),
    (7, "name", Ty::Text),
];

/// The kinds that are understood.
const KINDS: &[(&str, &str, &[Field])] = &[
    ("authentication.k8s.io/v1", "SelfSubjectReview", &[(1, "metadata", Ty::One(META))]),
    ("v1", "Namespace", &[(1, "metadata", Ty::One(META))]),
    ("v1", "ServiceAccount", &[(1, "metadata", Ty::One(META))]),
    (
        "v1",
        "ConfigMap",
        &[
            (1, "metadata", Ty::One(META)),
            (2, "data", Ty::Map),
            (3, "binaryData", Ty::ByteMap),
            (4, "immutable", Ty::Truth),
        ],
    ),
    (
        "v1",
        "Secret",
        &[
            (1, "metadata", Ty::One(META)),
            (2, "data", Ty::ByteMap),
            (3, "type", Ty::Text),
            (4, "stringData", Ty::Map),
            (5, "immutable", Ty::Truth),
        ],
    ),
    (
        "authorization.k8s.io/v1",
        "SelfSubjectRulesReview",
        &[(1, "metadata", Ty::One(META)), (2, "spec", Ty::One(&[(1, "namespace", Ty::Text)]))],
    ),
    (
        "policy/v1",
        "PodDisruptionBudget",
        &[
            (1, "metadata", Ty::One(META)),
            (
                2,
                "spec",
                Ty::One(&[
                    (1, "minAvailable", Ty::IntOrString),
                    (2, "selector", Ty::One(SELECTOR)),
                    (3, "maxUnavailable", Ty::IntOrString),
                    (4, "unhealthyPodEvictionPolicy", Ty::Text),
                ]),
            ),
        ],
    ),
    (
        "authorization.k8s.io/v1",
        "SelfSubjectAccessReview",
        &[
            (1, "metadata", Ty::One(META)),
            (2, "spec", Ty::One(&[(1, "resourceAttributes", Ty::One(ATTRIBUTES))])),
        ],
    ),
];

/// A body as JSON; `None` when it is none of the kinds that are understood.
pub(crate) fn decode(body: &[u8]) -> Option<Value> {
    let envelope = fields(body.strip_prefix(MAGIC)?)?;
    let bytes = |number| envelope.iter().find(|(n, _)| *n == number).and_then(|(_, w)| w.bytes());
    let type_meta = message(bytes(1)?, &[(1, "apiVersion", Ty::Text), (2, "kind", Ty::Text)])?;
    let text = |field: &str| type_meta[field].as_str().unwrap_or_default();
    let (_, _, table) = KINDS
        .iter()
        .find(|(version, kind, _)| *version == text("apiVersion") && *kind == text("kind"))?;
    let mut object = message(bytes(2)?, table)?;
    object["apiVersion"] = type_meta["apiVersion"].clone();
    object["kind"] = type_meta["kind"].clone();
    Some(object)
}

enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Wire<'a> {
    fn bytes(&self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Number(_) => None,
        }
    }

    fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Bytes(_) => None,
        }
    }
}

/// The fields of a message in order; `None` when it is malformed.
fn fields(mut rest: &[u8]) -> Option<Vec<(u64, Wire<'_>)>> {
    let mut out = Vec::new();
    while !rest.is_empty() {
        let tag = varint(&mut rest)?;
        let wire = match tag & 7 {
            0 => Wire::Number(varint(&mut rest)?),
            1 => Wire::Bytes(take(&mut rest, 8)?),
            2 => {
                let length = usize::try_from(varint(&mut rest)?).ok()?;
                Wire::Bytes(take(&mut rest, length)?)
            }
            5 => Wire::Bytes(take(&mut rest, 4)?),
            _ => return None,
        };
        out.push((tag >> 3, wire));
    }
    Some(out)
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut out = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, left) = rest.split_first()?;
        *rest = left;
        out |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(out);
        }
    }
    None
}

fn message(bytes: &[u8], table: &[Field]) -> Option<Value> {
    let mut out = Map::new();
    for (number, wire) in fields(bytes)? {
        let Some((_, name, ty)) = table.iter().find(|(known, _, _)| *known == number) else {
            continue;
        };
        let slot = out.entry((*name).to_owned()).or_insert(Value::Null);
        put(slot, *ty, &wire)?;
    }
    out.retain(|_, value| !value.is_null() && value.as_str() != Some(""));
    Some(Value::Object(out))
}

fn put(slot: &mut Value, ty: Ty, wire: &Wire<'_>) -> Option<()> {
    let text = |wire: &Wire<'_>| String::from_utf8(wire.bytes()?.to_vec()).ok();
    match ty {
        Ty::Text => *slot = json!(text(wire)?),
        Ty::Number => *slot = json!(i64::from_ne_bytes(wire.number()?.to_ne_bytes())),
        Ty::Truth => *slot = json!(wire.number()? != 0),
        Ty::Texts => push(slot, json!(text(wire)?)),
        Ty::One(table) => *slot = message(wire.bytes()?, table)?,
        Ty::Many(table) => push(slot, message(wire.bytes()?, table)?),
        Ty::Map | Ty::ByteMap => {
            let entry = fields(wire.bytes()?)?;
            let part = |number| entry.iter().find(|(n, _)| *n == number).map(|(_, wire)| wire);
            let key = part(1).and_then(text).unwrap_or_default();
            let value = match (ty, part(2)) {
                (Ty::Map, value) => value.and_then(text).unwrap_or_default(),
                (_, value) => base64::engine::general_purpose::STANDARD
                    .encode(value.and_then(Wire::bytes).unwrap_or_default()),
            };
            slot[key] = json!(value);
        }
        Ty::Time => {
            let time = message(wire.bytes()?, &[(1, "seconds", Ty::Number)])?;
            if let Some(seconds) = time["seconds"].as_i64() {
                *slot = json!(jiff::Timestamp::from_second(seconds).ok()?.to_string());
            }
        }
        Ty::IntOrString => {
            let parts = [(1, "type", Ty::Number), (2, "int", Ty::Number), (3, "text", Ty::Text)];
            let parsed = message(wire.bytes()?, &parts)?;
            *slot = match parsed["type"].as_i64() {
                Some(1) => json!(parsed["text"].as_str().unwrap_or_default()),
                _ => json!(parsed["int"].as_i64().unwrap_or(0)),
            };
        }
    }
    Some(())
}

fn push(slot: &mut Value, value: Value) {
    match slot.as_array_mut() {
        Some(items) => items.push(value),
        None => *slot = json!([value]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let length = u8::try_from(bytes.len()).expect("short");
        [&[number << 3 | 2, length], bytes].concat()
    }

    fn body(version: &str, kind: &str, object: &[u8]) -> Vec<u8> {
        let type_meta = [field(1, version.as_bytes()), field(2, kind.as_bytes())].concat();
        [MAGIC.to_vec(), field(1, &type_meta), field(2, object)].concat()
    }

    #[test]
    fn a_config_map_is_read_with_its_data() {
        let data = [field(1, b"a"), field(2, b"b")].concat();
        let object = [field(1, &field(1, b"cm")), field(2, &data)].concat();
        let expected = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "cm"},
            "data": {"a": "b"},
        });
        assert_eq!(decode(&body("v1", "ConfigMap", &object)), Some(expected));
    }

    #[test]
    fn what_is_cut_off_or_unknown_is_not_guessed() {
        let whole = body("v1", "Namespace", &field(1, &field(1, b"a")));
        assert!(decode(&whole).is_some());
        assert_eq!(decode(&whole[..whole.len() - 1]), None);
        assert_eq!(decode(&body("apps/v1", "Deployment", b"")), None);
    }
}
