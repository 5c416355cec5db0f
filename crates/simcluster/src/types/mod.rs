//! The fields of the built-in kinds: what may be written where, and how lists and maps merge.

use std::collections::BTreeMap;
use std::sync::OnceLock;

mod decode;
mod quantity;
mod shape;

pub use decode::{DecodeError, INT_OR_STRING, decode};
pub use quantity::Quantity;
pub use shape::{ListKind, Shape};

/// What a field holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    /// Text.
    String,
    /// 32-bit integer.
    Int32,
    /// 64-bit integer.
    Int64,
    /// Boolean.
    Bool,
    /// Floating point.
    Float64,
    /// Integer or text such as `30%`.
    IntOrString,
    /// `100m`, `1Gi`, or a number.
    Quantity,
    /// RFC 3339, whole seconds.
    Time,
    /// RFC 3339 with microseconds.
    MicroTime,
    /// Base64.
    Bytes,
    /// Anything, owned and replaced as a whole.
    Raw,
    /// A type of this table, by its place in it.
    Struct(usize),
    /// A list.
    List(Box<Ty>),
    /// A map with text keys.
    Map(Box<Ty>),
}

/// One field of a type.
#[derive(Clone, Debug)]
pub struct Field {
    /// What it holds.
    pub ty: Ty,
    /// Strategic merge key; `*` for scalars merged by value; `None` where a patch replaces.
    pub patch: Option<String>,
    /// How server-side apply sees a list.
    pub list: ListKind<'static>,
    /// A map that one manager owns as a whole.
    pub atomic: bool,
    /// A struct held by value: present in every object of the server.
    pub by_value: bool,
    /// Must be given.
    pub required: bool,
    /// How many fields Go's struct declares before it, of those that the table has.
    pub place: usize,
}

/// One struct of the API.
#[derive(Clone, Debug)]
pub struct Type {
    /// Its name, with a group in front where two groups use the same (`core.Event`).
    pub name: String,
    /// One manager owns it as a whole.
    pub atomic: bool,
    /// By JSON name.
    pub fields: BTreeMap<String, Field>,
}

impl Type {
    /// The name without the group that tells it from a namesake.
    pub fn short_name(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }

    /// What a field is sorted by where they come as Go's struct declares them: what says of which kind
    /// an object is comes before all others.
    pub fn place(&self, field: &str) -> (bool, usize) {
        match (self.fields.get(field), field) {
            (Some(field), _) => (true, field.place),
            (None, "kind") => (false, 0),
            (None, _) => (false, 1),
        }
    }

    /// Whether an object of this type carries `apiVersion` and `kind`.
    pub fn says_its_kind(&self) -> bool {
        self.fields.contains_key("metadata") && self.name != "PodTemplateSpec"
            || matches!(self.name.as_str(), "DeleteOptions")
    }
}

#[derive(Debug)]
struct Table {
    types: Vec<Type>,
    by_name: BTreeMap<String, usize>,
}

static TABLE: OnceLock<Table> = OnceLock::new();

fn table() -> &'static Table {
    TABLE.get_or_init(|| parse(include_str!("table.txt")))
}

/// A type by its place in the table.
pub fn at(index: usize) -> &'static Type {
    &table().types[index]
}

/// All types, ordered by name.
pub fn all() -> &'static [Type] {
    &table().types
}

/// The type of a built-in kind, by what objects call it.
pub fn of_kind(group: &str, version: &str, kind: &str) -> Option<&'static Type> {
    let name = match (group, kind) {
        ("events.k8s.io", "Event") => "events.Event",
        ("", "Event") => "core.Event",
        ("resource.k8s.io", "ResourceClaim") => "resource.ResourceClaim",
        ("autoscaling", "HorizontalPodAutoscaler") if version == "v1" => {
            "autoscaling-v1.HorizontalPodAutoscaler"
        }
        _ => kind,
    };
    by_name(name)
}

/// A type by its name in the table.
pub fn by_name(name: &str) -> Option<&'static Type> {
    table().by_name.get(name).map(|&index| at(index))
}

fn parse(text: &'static str) -> Table {
    let lines = || text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let by_name: BTreeMap<String, usize> = lines()
        .filter(|line| !line.starts_with(' '))
        .enumerate()
        .map(|(index, line)| (line.split(' ').next().unwrap_or(line).to_owned(), index))
        .collect();
    let mut types: Vec<Type> = Vec::new();
    for line in lines() {
        let mut words = line.split_whitespace();
        let name = words.next().expect("a line has a first word").to_owned();
        if line.starts_with(' ') {
            let ty = parse_ty(words.next().expect("a field has a type"), &by_name);
            let fields = &mut types.last_mut().expect("a field follows its type").fields;
            fields.insert(name, Field { place: fields.len(), ..parse_field(ty, words) });
        } else {
            let atomic = words.next() == Some("atomic");
            types.push(Type { name, atomic, fields: BTreeMap::new() });
        }
    }
    Table { types, by_name }
}

fn parse_field(ty: Ty, words: impl Iterator<Item = &'static str>) -> Field {
    let mut field = Field {
        ty,
        patch: None,
        list: ListKind::Atomic,
        atomic: false,
        by_value: false,
        required: false,
        place: 0,
    };
    for word in words {
        match word.split_once('=') {
            Some(("patch", key)) => field.patch = Some(key.to_owned()),
            Some(("keys", "*")) => field.list = ListKind::Set,
            Some(("keys", keys)) => field.list = ListKind::Keys(keys.split(',').collect()),
            _ => match word {
                "atomic" => field.atomic = true,
                "value" => field.by_value = true,
                "required" => field.required = true,
                other => unreachable!("unknown word {other} in the table of types"),
            },
        }
    }
    field
}

fn parse_ty(text: &str, by_name: &BTreeMap<String, usize>) -> Ty {
    if let Some(item) = text.strip_prefix("[]") {
        return Ty::List(Box::new(parse_ty(item, by_name)));
    }
    if let Some(value) = text.strip_prefix("{}") {
        return Ty::Map(Box::new(parse_ty(value, by_name)));
    }
    match text {
        "string" => Ty::String,
        "int32" => Ty::Int32,
        "int64" => Ty::Int64,
        "bool" => Ty::Bool,
        "float64" => Ty::Float64,
        "intstr" => Ty::IntOrString,
        "quantity" => Ty::Quantity,
        "time" => Ty::Time,
        "microtime" => Ty::MicroTime,
        "bytes" => Ty::Bytes,
        "raw" => Ty::Raw,
        name => Ty::Struct(*by_name.get(name).expect("the table names only types that it has")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_knows_how_containers_and_their_ports_merge() {
        let pod = by_name("PodSpec").expect("PodSpec");
        let containers = &pod.fields["containers"];
        assert_eq!(containers.patch.as_deref(), Some("name"));
        let ports = &by_name("Container").expect("Container").fields["ports"];
        assert_eq!(ports.patch.as_deref(), Some("containerPort"));
        assert_eq!(ports.list, ListKind::Keys(vec!["containerPort", "protocol"]));
    }

    #[test]
    fn the_two_kinds_of_event_are_two_types() {
        assert!(of_kind("", "v1", "Event").expect("core").fields.contains_key("involvedObject"));
        assert!(
            of_kind("events.k8s.io", "v1", "Event").expect("events").fields.contains_key("note")
        );
    }
}
