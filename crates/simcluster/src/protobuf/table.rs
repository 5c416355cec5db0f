//! The table of messages, read once.

use std::collections::BTreeMap;
use std::sync::OnceLock;

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    Text,
    Number,
    Truth,
    Double,
    /// Base64 in JSON.
    Bytes,
    /// Any JSON.
    Raw,
    Quantity,
    /// Seconds and nanoseconds.
    Time,
    /// The same, to the microsecond.
    MicroTime,
    IntOrString,
    /// Another message, by its place in the table.
    Message(usize),
}

#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) ty: Ty,
    pub(super) list: bool,
    pub(super) map: bool,
    pub(super) inline: bool,
    /// A pointer: there even when it holds nothing but zero.
    pub(super) kept: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Message {
    pub(super) fields: BTreeMap<u64, Field>,
    /// A list that the wire needs a message around.
    pub(super) is_list: bool,
    /// One of several in JSON, with nothing around it.
    pub(super) is_pick: bool,
}

#[derive(Debug)]
pub(super) struct Table {
    messages: Vec<Message>,
    /// `apiVersion kind` → message.
    kinds: BTreeMap<String, usize>,
}

impl Table {
    pub(super) fn kind(&self, api_version: &str, kind: &str) -> Option<usize> {
        self.kinds.get(&format!("{api_version} {kind}")).copied()
    }

    pub(super) fn message(&self, at: usize) -> &Message {
        &self.messages[at]
    }
}

pub(super) fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| parse(include_str!("table.txt")))
}

fn parse(text: &'static str) -> Table {
    let lines = || text.lines().filter(|line| !line.starts_with('#'));
    let first = |line: &'static str| line.split_whitespace().next().unwrap_or_default();
    let heading = |line: &&str| !line.starts_with([' ', '=']);
    let places: BTreeMap<&str, usize> =
        lines().filter(heading).enumerate().map(|(at, line)| (first(line), at)).collect();
    let place = |name: &str| *places.get(name).expect("the table names only messages it has");
    let (mut messages, mut kinds): (Vec<Message>, _) = (Vec::new(), BTreeMap::new());
    for line in lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (line.as_bytes().first(), words.as_slice()) {
            (Some(b'='), [_, api_version, kind, message]) => {
                kinds.insert(format!("{api_version} {kind}"), place(message));
            }
            (Some(b' '), [number, name, ty, rest @ ..]) => {
                let (list, map) = (ty.starts_with("[]"), ty.starts_with("{}"));
                let ty = match ty.trim_start_matches("[]").trim_start_matches("{}") {
                    "text" => Ty::Text,
                    "number" => Ty::Number,
                    "truth" => Ty::Truth,
                    "double" => Ty::Double,
                    "bytes" => Ty::Bytes,
                    "raw" => Ty::Raw,
                    "quantity" => Ty::Quantity,
                    "time" => Ty::Time,
                    "microtime" => Ty::MicroTime,
                    "intstr" => Ty::IntOrString,
                    message => Ty::Message(place(message)),
                };
                let field = Field {
                    name: (*name).to_owned(),
                    ty,
                    list,
                    map,
                    inline: rest.contains(&"inline"),
                    kept: rest.contains(&"kept"),
                };
                let number = number.parse().expect("a field has a number");
                messages
                    .last_mut()
                    .expect("a field follows its message")
                    .fields
                    .insert(number, field);
            }
            (_, [_, how @ ..]) => messages.push(Message {
                is_list: how.contains(&"list"),
                is_pick: how.contains(&"pick"),
                ..Message::default()
            }),
            (_, []) => {}
        }
    }
    Table { messages, kinds }
}
