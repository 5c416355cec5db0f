//! An object that a message quotes: `Invalid value: "{…}"`.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Deserializer, Value};

/// A quoted text that begins as an object does.
static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#""\{(?:[^"\\]|\\.)*\}""#).expect("a constant"));
const MANAGERS: &str = "\"managedFields\":";
/// What two runs don't share of a text, as [`crate::normal`] takes it out of fields.
static REPLACED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>"),
        (r#"("resourceVersion":")\d+"#, "$1<version>"),
    ]
    .map(|(pattern, with)| (Regex::new(pattern).expect("a constant"), with))
    .into()
});

/// The message with a form of each object in it. The order of its fields counts, but for what is said of
/// managers: that goes through `normal` as it does elsewhere.
pub(crate) fn form(message: &str, normal: impl Fn(&mut Value)) -> String {
    QUOTED
        .replace_all(message, |found: &Captures<'_>| {
            match serde_json::from_str::<String>(&found[0]) {
                Ok(text) => Value::from(object(&text, &normal)).to_string(),
                Err(_) => found[0].to_owned(),
            }
        })
        .into_owned()
}

fn object(text: &str, normal: impl Fn(&mut Value)) -> String {
    let mut out = text.to_owned();
    if let Some((before, after)) = text.split_once(MANAGERS) {
        let mut values = Deserializer::from_str(after).into_iter::<Value>();
        if let Some(Ok(mut managers)) = values.next() {
            normal(&mut managers);
            out = format!("{before}{MANAGERS}{managers}{}", &after[values.byte_offset()..]);
        }
    }
    REPLACED.iter().fold(out, |out, (pattern, with)| pattern.replace_all(&out, *with).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_runs_do_not_share_is_out_of_it_and_its_order_is_kept() {
        let message = |time: &str, version: u8| {
            let object = format!(
                r#"{{"name":"a","at":"{time}","resourceVersion":"{version}","managedFields":[{version}],"b":1}}"#
            );
            format!("x: Invalid value: {}: no", Value::from(object))
        };
        let read = |text: &str| form(text, |managers| *managers = Value::Null);
        let one = read(&message("2026-01-01T00:00:00Z", 1));
        assert_eq!(one, read(&message("2026-02-02T00:00:00.123456Z", 2)));
        assert!(one.contains(r#"\"managedFields\":null,\"b\":1"#), "{one}");
        let other = one
            .replace(r#"\"name\":\"a\",\"at\":\"<time>\""#, r#"\"at\":\"<time>\",\"name\":\"a\""#);
        assert_ne!(read(&other), one);
    }
}
