//! From any format to a JSON value, noting each key that a map has already.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::json::{Map, Value, scalars};

/// What becomes of a map that is told twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Merge {
    /// Its fields are those of both.
    Both,
    /// The last one counts.
    Last,
}

/// A key that was there already.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) path: String,
    name: String,
    /// Its line, where the format tells it.
    pub(super) line: Option<u64>,
}

impl Seen {
    pub(super) fn complaint(&self) -> String {
        match self.line {
            Some(line) => format!("line {line}: key \"{}\" already set in map", self.name),
            None => super::duplicate(&self.path),
        }
    }
}

/// A key of a map, and its line if it knows that.
pub(super) trait Key: DeserializeOwned {
    fn split(self) -> (String, Option<u64>);
}

impl Key for String {
    fn split(self) -> (String, Option<u64>) {
        (self, None)
    }
}

impl Key for serde_saphyr::Spanned<String> {
    fn split(self) -> (String, Option<u64>) {
        let line = self.referenced.line();
        (self.value, Some(line))
    }
}

/// Reads one value.
#[derive(Debug)]
pub(super) struct Reader {
    merge: Merge,
    pub(super) twice: Vec<Seen>,
    /// The path of each key and whether it was there already, if that is asked for.
    pub(super) all: Option<Vec<(String, bool)>>,
}

impl Reader {
    pub(super) fn new(merge: Merge) -> Self {
        Self { merge, twice: Vec::new(), all: None }
    }

    pub(super) fn read<'de, K: Key, D: Deserializer<'de>>(
        &mut self,
        from: D,
    ) -> Result<Value, D::Error> {
        let reader = RefCell::new(self);
        Node::<K> { reader: &reader, path: Path::Root, key: std::marker::PhantomData }
            .deserialize(from)
    }
}

/// Where we are; on the stack, since it is written down only where something is wrong.
#[derive(Clone, Copy)]
enum Path<'a> {
    Root,
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(Path::Root, key) => f.write_str(key),
            Self::Key(above, key) => write!(f, "{above}.{key}"),
            Self::Index(above, index) => write!(f, "{above}[{index}]"),
        }
    }
}

struct Node<'a, 'r, K> {
    reader: &'a RefCell<&'r mut Reader>,
    path: Path<'a>,
    key: std::marker::PhantomData<K>,
}

impl<'a, 'r, K> Node<'a, 'r, K> {
    fn below<'b>(&'b self, path: Path<'b>) -> Node<'b, 'r, K> {
        Node { reader: self.reader, path, key: std::marker::PhantomData }
    }

    fn note(&self, name: &str, line: Option<u64>, again: bool) {
        let mut reader = self.reader.borrow_mut();
        if !again && reader.all.is_none() {
            return;
        }
        let path = Path::Key(&self.path, name).to_string();
        if let Some(all) = &mut reader.all {
            all.push((path.clone(), again));
        }
        if again {
            reader.twice.push(Seen { path, name: name.to_owned(), line });
        }
    }
}

impl<'de, K: Key> DeserializeSeed<'de> for Node<'_, '_, K> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de, K: Key> Visitor<'de> for Node<'_, '_, K> {
    type Value = Value;

    scalars!();

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        self.deserialize(from)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut out = Vec::new();
        while let Some(item) =
            from.next_element_seed(self.below(Path::Index(&self.path, out.len())))?
        {
            out.push(item);
        }
        Ok(out.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut out = Map::new();
        while let Some(key) = from.next_key::<K>()? {
            let (name, line) = key.split();
            self.note(&name, line, out.contains_key(&name));
            let value = from.next_value_seed(self.below(Path::Key(&self.path, &name)))?;
            let merge = self.reader.borrow().merge;
            match out.get_mut(&name) {
                Some(old) if merge == Merge::Both => both(old, value),
                _ => {
                    out.insert(name, value);
                }
            }
        }
        Ok(out.into())
    }
}

/// What a field of a struct is after it was told a second time.
fn both(old: &mut Value, new: Value) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, value) in new {
                match old.get_mut(&key) {
                    Some(known) => both(known, value),
                    None => {
                        old.insert(key, value);
                    }
                }
            }
        }
        (old, new) => *old = new,
    }
}
