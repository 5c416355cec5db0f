//! `metadata.managedFields`: who set what, read and written in the server's order.

use jiff::Timestamp;

use super::set::FieldSet;
use crate::json::{Map, Value, json};

/// Who writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writer<'a> {
    /// `fieldManager`, or what [`super::manager_name`] makes of the User-Agent.
    pub manager: &'a str,
    /// `apiVersion` that the object was written in.
    pub api_version: &'a str,
    /// `status`, `scale`, … when written through one.
    pub subresource: Option<&'a str>,
    /// When.
    pub now: Timestamp,
}

/// The fields of an entry, read only when somebody has to look into them: most writes concern a
/// part of the object that most owners have nothing in.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fields {
    /// As they were.
    Kept(Value),
    /// Read.
    Read(FieldSet),
}

impl Fields {
    /// The set, to look at and to change.
    pub(super) fn set(&mut self) -> &mut FieldSet {
        if let Fields::Kept(fields) = self {
            *self = Fields::Read(FieldSet::from_json(fields));
        }
        match self {
            Fields::Read(set) => set,
            Fields::Kept(_) => unreachable!("just read"),
        }
    }

    /// Whether a set can have anything in common with these fields.
    pub(super) fn may_meet(&self, other: &FieldSet) -> bool {
        other.children.keys().any(|key| match self {
            Fields::Kept(fields) => fields.get(key).is_some(),
            Fields::Read(set) => set.children.contains_key(key),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Fields::Kept(fields) => fields.as_object().is_none_or(Map::is_empty),
            Fields::Read(set) => set.is_empty(),
        }
    }

    fn into_json(self) -> Value {
        match self {
            Fields::Kept(fields) => fields,
            Fields::Read(set) => set.to_json(),
        }
    }
}

/// One entry of `managedFields`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    /// Manager.
    pub(super) manager: String,
    /// `Apply` rather than `Update`.
    pub(super) applies: bool,
    /// Version that the fields are named in.
    pub(super) api_version: String,
    /// Subresource, empty for none.
    pub(super) subresource: String,
    /// When it last took fields, RFC 3339.
    pub(super) time: Option<String>,
    /// The fields.
    pub(super) fields: Fields,
}

impl Entry {
    /// An entry without fields for a writer.
    pub(super) fn new(writer: &Writer<'_>, applies: bool) -> Self {
        Self {
            manager: writer.manager.to_owned(),
            applies,
            api_version: writer.api_version.to_owned(),
            subresource: writer.subresource.unwrap_or_default().to_owned(),
            time: Some(stamp(writer.now)),
            fields: Fields::Read(FieldSet::default()),
        }
    }

    /// Whether two entries are of one manager. Those who apply keep their entry in another version.
    pub(super) fn same_manager(&self, other: &Entry) -> bool {
        self.manager == other.manager
            && self.applies == other.applies
            && self.subresource == other.subresource
            && (self.applies || self.api_version == other.api_version)
    }

    /// How a conflict names the manager.
    pub(super) fn title(&self) -> String {
        let mut out = json!(self.manager).to_string();
        if !self.subresource.is_empty() {
            out = format!("{out} with subresource {}", json!(self.subresource));
        }
        if !self.applies {
            out = format!("{out} using {}", self.api_version);
        }
        out
    }

    /// The text that the real server knows and sorts managers by: the entry as JSON without its
    /// fields and time, so that a subresource goes before none.
    pub(super) fn identifier(&self) -> String {
        let mut out = vec![("manager", self.manager.as_str())];
        out.push(("operation", if self.applies { "Apply" } else { "Update" }));
        if !self.applies {
            out.push(("apiVersion", &self.api_version));
        }
        if !self.subresource.is_empty() {
            out.push(("subresource", &self.subresource));
        }
        let fields: Vec<_> =
            out.iter().map(|(key, value)| format!("\"{key}\":{}", json!(value))).collect();
        format!("{{{}}}", fields.join(","))
    }

    fn from_json(mut entry: Value) -> Self {
        let fields = entry.get_mut("fieldsV1").map(Value::take).unwrap_or_default();
        let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
        Self {
            manager: text("manager"),
            applies: entry["operation"] == "Apply",
            api_version: text("apiVersion"),
            subresource: text("subresource"),
            time: entry["time"].as_str().map(str::to_owned),
            fields: Fields::Kept(fields),
        }
    }

    fn into_json(self) -> Value {
        let mut out = json!({
            "manager": self.manager,
            "operation": if self.applies { "Apply" } else { "Update" },
            "apiVersion": self.api_version,
            "fieldsType": "FieldsV1",
            "fieldsV1": self.fields.into_json(),
        });
        if let Some(time) = &self.time {
            out["time"] = json!(time);
        }
        if !self.subresource.is_empty() {
            out["subresource"] = json!(self.subresource);
        }
        out
    }
}

/// Whether a client may hand this in as an entry; one that he may not makes all of them count for nothing.
pub(super) fn is_one(entry: &Value) -> bool {
    fn is_set(fields: &Value) -> bool {
        fields.as_object().is_some_and(|map| {
            map.iter().all(|(key, below)| {
                key == "."
                    || (key.get(1..2) == Some(":")
                        && key.starts_with(['f', 'k', 'v', 'i'])
                        && is_set(below))
            })
        })
    }
    matches!(entry["operation"].as_str(), Some("Apply" | "Update"))
        && entry["fieldsType"] == "FieldsV1"
        && is_set(&entry["fieldsV1"])
}

/// A time as metadata writes it: whole seconds.
pub fn stamp(now: Timestamp) -> String {
    let whole = Timestamp::from_second(now.as_second()).expect("a timestamp's own second is one");
    whole.to_string()
}

/// The entries of an object.
pub(super) fn read(object: &Value) -> Vec<Entry> {
    let entries = object["metadata"]["managedFields"].as_array();
    single(entries.into_iter().flatten().cloned())
}

/// Of two entries of one manager, which a scale that changes nothing leaves, the later counts.
fn single(entries: impl Iterator<Item = Value>) -> Vec<Entry> {
    let mut out: Vec<Entry> = Vec::new();
    for entry in entries.map(Entry::from_json) {
        out.retain(|known| !known.same_manager(&entry));
        out.push(entry);
    }
    out
}

/// The same, out of an object that is about to get new ones.
pub(super) fn take(object: &mut Value) -> Vec<Entry> {
    let entries = object.pointer_mut("/metadata/managedFields").map(Value::take);
    match entries {
        Some(Value::Array(entries)) => single(entries.into_iter()),
        _ => Vec::new(),
    }
}

/// Writes the entries in the server's order, without the empty ones.
pub(super) fn write(object: &mut Value, mut entries: Vec<Entry>) {
    entries.retain(|entry| !entry.fields.is_empty());
    entries.sort_by(|a, b| {
        let key = |entry: &Entry| {
            (
                !entry.applies,
                entry.time.clone(),
                entry.manager.clone(),
                entry.api_version.clone(),
                entry.subresource.clone(),
            )
        };
        key(a).cmp(&key(b))
    });
    let Some(metadata) = object["metadata"].as_object_mut() else { return };
    if entries.is_empty() {
        metadata.remove("managedFields");
    } else {
        let entries = entries.into_iter().map(Entry::into_json).collect();
        metadata.insert("managedFields".to_owned(), Value::Array(entries));
    }
}
