//! Protobuf bodies as JSON, of every built-in kind.
//!
//! Go's typed clients send protobuf unless they are told otherwise, and a stock `kubectl` cannot be told.
//! Field numbers are those of the published types (`table.txt`). Unknown fields are skipped; a custom
//! kind has no protobuf, here as on a real server. Answers are JSON.

use crate::json::{Map, Value, json};

mod table;
mod wire;

use base64::Engine as _;
use table::{Field, Ty, table};
use wire::{Wire, fields};

/// The media type.
pub const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// What comes before the envelope.
const MAGIC: &[u8] = b"k8s\0";

/// A body as JSON; or why not, in the words of the server.
pub fn decode(body: &[u8]) -> Result<Value, &'static str> {
    let Some(body) = body.strip_prefix(MAGIC) else {
        return Err("provided data does not appear to be a protobuf message, expected prefix \
                    [107 56 115 0]");
    };
    object(body).ok_or("unexpected EOF")
}

/// The object in an envelope; `None` when it is of no kind that has protobuf, or cut off.
fn object(body: &[u8]) -> Option<Value> {
    let envelope = fields(body)?;
    let bytes = |number| envelope.iter().find(|(n, _)| *n == number).and_then(|(_, w)| w.bytes());
    let says = fields(bytes(1)?)?;
    let text = |number| -> Option<String> {
        let (_, wire) = says.iter().find(|(n, _)| *n == number)?;
        String::from_utf8(wire.bytes()?.to_vec()).ok()
    };
    let (api_version, kind) = (text(1)?, text(2)?);
    // These are in every group and version: clients say the one that they are for.
    let group = if kind == "DeleteOptions" { "v1" } else { &api_version };
    let at = table().kind(group, &kind)?;
    let mut object = message(bytes(2)?, at)?;
    object["apiVersion"] = json!(api_version);
    object["kind"] = json!(kind);
    Some(object)
}

fn message(bytes: &[u8], at: usize) -> Option<Value> {
    let known = table().message(at);
    let mut out = Map::new();
    for (number, wire) in fields(bytes)? {
        let Some(field) = known.fields.get(&number) else { continue };
        if field.inline {
            let Value::Object(inner) = one(field, &wire)? else { continue };
            out.extend(inner);
            continue;
        }
        let slot = out.entry(field.name.clone()).or_insert(Value::Null);
        put(slot, field, &wire)?;
    }
    out.retain(|_, value| !value.is_null());
    if known.is_list {
        return Some(out.remove("items").unwrap_or_else(|| json!([])));
    }
    if known.is_pick {
        let truth = out.remove("allows").unwrap_or(Value::Bool(false));
        return Some(out.into_iter().next().map_or(truth, |(_, value)| value));
    }
    Some(Value::Object(out))
}

fn put(slot: &mut Value, field: &Field, wire: &Wire<'_>) -> Option<()> {
    match (field.list, field.map) {
        (true, _) => {
            let value = one(field, wire)?;
            match slot.as_array_mut() {
                Some(items) => items.push(value),
                None => *slot = json!([value]),
            }
        }
        (_, true) => {
            let entry = fields(wire.bytes()?)?;
            let part = |number| entry.iter().find(|(n, _)| *n == number).map(|(_, wire)| wire);
            let key = part(1).and_then(text).unwrap_or_default();
            let empty = Wire::Bytes(&[]);
            slot[key] = one(field, part(2).unwrap_or(&empty))?;
        }
        _ => {
            let value = one(field, wire)?;
            let zero = value == json!("") || value == json!(0) || value == json!(false);
            // What holds more than one value says by being there that it is meant.
            let meant = field.kept || matches!(field.ty, Ty::Message(_) | Ty::Raw);
            if meant || !zero {
                *slot = value;
            }
        }
    }
    Some(())
}

fn text(wire: &Wire<'_>) -> Option<String> {
    String::from_utf8(wire.bytes()?.to_vec()).ok()
}

/// A moment, which may be none.
fn time(wire: &Wire<'_>) -> Option<Option<jiff::Timestamp>> {
    let inner = fields(wire.bytes()?)?;
    let number = |of| {
        let found = inner.iter().find(|(number, _)| *number == of);
        found.and_then(|(_, wire)| wire.signed())
    };
    let Some(seconds) = number(1) else { return Some(None) };
    let nanoseconds = i32::try_from(number(2).unwrap_or(0)).ok()?;
    jiff::Timestamp::new(seconds, nanoseconds).ok().map(Some)
}

/// One value of a field's type.
fn one(field: &Field, wire: &Wire<'_>) -> Option<Value> {
    Some(match field.ty {
        Ty::Text => json!(text(wire)?),
        Ty::Number => json!(wire.signed()?),
        Ty::Truth => json!(wire.signed()? != 0),
        Ty::Double => json!(f64::from_le_bytes(wire.bytes()?.try_into().ok()?)),
        Ty::Bytes => json!(base64::engine::general_purpose::STANDARD.encode(wire.bytes()?)),
        Ty::Raw => {
            let inner = fields(wire.bytes()?)?;
            let raw = inner.iter().find(|(number, _)| *number == 1);
            raw.and_then(|(_, wire)| serde_json::from_slice(wire.bytes()?).ok())
                .unwrap_or(Value::Null)
        }
        Ty::Quantity => {
            let inner = fields(wire.bytes()?)?;
            json!(inner.iter().find(|(number, _)| *number == 1).and_then(|(_, it)| text(it))?)
        }
        Ty::Time => match time(wire)? {
            Some(time) => json!(format!("{time:.0}")),
            None => Value::Null,
        },
        Ty::MicroTime => match time(wire)? {
            Some(time) => json!(format!("{time:.6}")),
            None => Value::Null,
        },
        Ty::IntOrString => {
            let inner = fields(wire.bytes()?)?;
            let part = |of| inner.iter().find(|(number, _)| *number == of).map(|(_, wire)| wire);
            match part(1).and_then(Wire::signed) {
                Some(1) => json!(part(3).and_then(text).unwrap_or_default()),
                _ => json!(part(2).and_then(Wire::signed).unwrap_or(0)),
            }
        }
        Ty::Message(at) => message(wire.bytes()?, at)?,
    })
}

#[cfg(test)]
mod tests;
