//! Single values: what Go calls them, and those that have a form of their own.

use std::sync::OnceLock;

use regex::Regex;

use super::{DecodeError, INT_OR_STRING};
use crate::json::Value;
use crate::types::{Ty, at, quantity};

pub(super) fn kind_of(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(number) if number.as_i64().is_some_and(|n| i32::try_from(n).is_ok()) => {
            "number".to_owned()
        }
        Value::Number(number) => format!("number {number}"),
        Value::String(_) => "string".to_owned(),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
    }
}

pub(super) fn go_name(ty: &Ty) -> String {
    match ty {
        Ty::String => "string".to_owned(),
        Ty::Int32 => "int32".to_owned(),
        Ty::Int64 => "int64".to_owned(),
        Ty::Bool => "bool".to_owned(),
        Ty::Float64 => "float64".to_owned(),
        Ty::Bytes => "[]uint8".to_owned(),
        Ty::IntOrString => INT_OR_STRING.to_owned(),
        Ty::Quantity => "resource.Quantity".to_owned(),
        Ty::Time => "v1.Time".to_owned(),
        Ty::MicroTime => "v1.MicroTime".to_owned(),
        Ty::Raw => "runtime.RawExtension".to_owned(),
        Ty::Struct(index) => format!("v1.{}", at(*index).short_name()),
        Ty::List(item) => format!("[]{}", go_name(item)),
        Ty::Map(value) => format!("map[string]{}", go_name(value)),
    }
}

pub(super) fn read_bytes(text: &str) -> Result<(), DecodeError> {
    match corrupt(text.as_bytes()) {
        None => Ok(()),
        Some(at) => Err(DecodeError(format!("illegal base64 data at input byte {at}"))),
    }
}

/// Where Go finds that a text is no base64. Ends of lines count for nothing but their place.
fn corrupt(text: &[u8]) -> Option<usize> {
    let mut bytes = text.iter().copied().enumerate().filter(|(_, byte)| !b"\r\n".contains(byte));
    let mut held = 0;
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => held = (held + 1) % 4,
            b'=' if held >= 2 => {
                if held == 2 {
                    match bytes.next() {
                        Some((_, b'=')) => {}
                        Some((next, _)) => return Some(next - 1),
                        None => return Some(text.len()),
                    }
                }
                return bytes.next().map(|(at, _)| at);
            }
            _ => return Some(at),
        }
    }
    (held > 0).then(|| text.len() - held)
}

pub(super) fn read_time(value: &Value, layout: &str) -> Result<(), DecodeError> {
    let Some(text) = value.as_str() else {
        let what = kind_of(value);
        return Err(DecodeError(format!(
            "json: cannot unmarshal {what} into Go value of type string"
        )));
    };
    if text.parse::<jiff::Timestamp>().is_ok() {
        // A MicroTime has six digits after the point, no fewer and no more.
        let zone = text.find(['Z', '+']).or_else(|| text.rfind('-')).unwrap_or(text.len());
        let fraction = text[..zone].split_once('.').map_or(0, |(_, digits)| digits.len());
        if layout.contains(".000000") && fraction != 6 {
            let rest = &text[text.find('.').unwrap_or(zone)..];
            return Err(DecodeError(format!(
                "parsing time \"{text}\" as \"{layout}\": cannot parse \"{rest}\" as \".000000\""
            )));
        }
        return Ok(());
    }
    Err(DecodeError(format!(
        "parsing time \"{text}\" as \"{layout}\": cannot parse \"{text}\" as \"2006\""
    )))
}

pub(super) fn read_quantity(value: &mut Value) -> Result<(), DecodeError> {
    static FORM: OnceLock<Regex> = OnceLock::new();
    let form = FORM.get_or_init(|| {
        Regex::new(r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$")
            .expect("the pattern is constant")
    });
    if value.is_number() {
        *value = value.to_string().into();
    }
    match value.as_str() {
        Some(text) if form.is_match(text) => {
            if let Some(stored) = quantity::canonical(text).filter(|stored| stored != text) {
                *value = stored.into();
            }
            Ok(())
        }
        _ => Err(DecodeError(
            "quantities must match the regular expression \
             '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
                .to_owned(),
        )),
    }
}
