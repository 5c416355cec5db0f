//! Maps that are shared.

use std::ops::Index;
use std::sync::{Arc, LazyLock};

use super::{Text, Value};

/// A map in the order of its keys, copied by counting. Who changes one that is shared changes a copy.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Map(Arc<Vec<(Text, Value)>>);

/// The empty map is one for all: `managedFields` are full of it.
impl Default for Map {
    fn default() -> Self {
        static EMPTY: LazyLock<Map> = LazyLock::new(|| Map(Arc::new(Vec::new())));
        EMPTY.clone()
    }
}

impl Map {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    fn place(&self, key: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known.as_str().cmp(key))
    }

    /// Whether both are one in memory.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The fields, where nobody else has them. Their keys stay what they are.
    pub(super) fn own(&mut self) -> Option<&mut Vec<(Text, Value)>> {
        Arc::get_mut(&mut self.0)
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there is such a field.
    pub fn contains_key(&self, key: &str) -> bool {
        self.place(key).is_ok()
    }

    /// A field.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.place(key).ok().map(|at| &self.0[at].1)
    }

    /// A field, to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        let at = self.place(key).ok()?;
        Some(&mut Arc::make_mut(&mut self.0)[at].1)
    }

    /// Puts a field in; what was in its place until now.
    pub fn insert(&mut self, key: impl Into<Text>, value: Value) -> Option<Value> {
        let key = key.into();
        let place = self.place(&key);
        let fields = Arc::make_mut(&mut self.0);
        match place {
            Ok(at) => Some(std::mem::replace(&mut fields[at].1, value)),
            Err(at) => {
                fields.insert(at, (key, value));
                None
            }
        }
    }

    /// Takes a field out.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.place(key).ok()?;
        Some(Arc::make_mut(&mut self.0).remove(at).1)
    }

    /// The place of a field, whether there is one or not.
    pub fn entry(&mut self, key: impl Into<Text>) -> Entry<'_> {
        Entry { key: key.into(), map: self }
    }

    /// Leaves the fields of which this is true.
    pub fn retain(&mut self, mut keep: impl FnMut(&Text, &mut Value) -> bool) {
        Arc::make_mut(&mut self.0).retain_mut(|(key, value)| keep(key, value));
    }

    /// The fields in order.
    pub fn iter(&self) -> <&Self as IntoIterator>::IntoIter {
        self.into_iter()
    }

    /// The fields in order, to change their values.
    pub fn iter_mut(&mut self) -> <&mut Self as IntoIterator>::IntoIter {
        self.into_iter()
    }

    /// The keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &Text> + ExactSizeIterator {
        self.0.iter().map(|(key, _)| key)
    }

    /// The values in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Value> + ExactSizeIterator {
        self.0.iter().map(|(_, value)| value)
    }

    /// The same, to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        Arc::make_mut(&mut self.0).iter_mut().map(|(_, value)| value)
    }

    /// From fields in any order; the last one of a key counts.
    fn of(mut fields: Vec<(Text, Value)>) -> Self {
        if fields.is_empty() {
            return Self::default();
        }
        if !fields.is_sorted_by(|(a, _), (b, _)| a < b) {
            fields.sort_by(|(a, _), (b, _)| a.cmp(b));
            fields.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                if same {
                    std::mem::swap(later, earlier);
                }
                same
            });
        }
        Self(Arc::new(fields))
    }
}

/// `null` where there is no such field.
impl Index<&str> for Map {
    type Output = Value;

    fn index(&self, key: &str) -> &Value {
        self.get(key).unwrap_or(&Value::Null)
    }
}

/// The place of a field in a map.
#[derive(Debug)]
pub struct Entry<'a> {
    map: &'a mut Map,
    key: Text,
}

impl<'a> Entry<'a> {
    /// What is there, or else this.
    pub fn or_insert(self, value: Value) -> &'a mut Value {
        self.or_insert_with(|| value)
    }

    /// What is there, or else what comes out of this.
    pub fn or_insert_with(self, value: impl FnOnce() -> Value) -> &'a mut Value {
        let place = self.map.place(&self.key);
        let fields = Arc::make_mut(&mut self.map.0);
        let at = place.unwrap_or_else(|at| {
            fields.insert(at, (self.key, value()));
            at
        });
        &mut fields[at].1
    }
}

impl<K: Into<Text>, V: Into<Value>> FromIterator<(K, V)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(fields: I) -> Self {
        Self::of(fields.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

impl<K: Into<Text>, V: Into<Value>> Extend<(K, V)> for Map {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, fields: I) {
        for (key, value) in fields {
            self.insert(key, value.into());
        }
    }
}

type Fields<'a> = std::slice::Iter<'a, (Text, Value)>;
type FieldsMut<'a> = std::slice::IterMut<'a, (Text, Value)>;

impl IntoIterator for Map {
    type Item = (Text, Value);
    type IntoIter = std::vec::IntoIter<(Text, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        Arc::unwrap_or_clone(self.0).into_iter()
    }
}

impl<'a> IntoIterator for &'a Map {
    type Item = (&'a Text, &'a Value);
    type IntoIter = std::iter::Map<Fields<'a>, fn(&'a (Text, Value)) -> (&'a Text, &'a Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(|(key, value)| (key, value))
    }
}

impl<'a> IntoIterator for &'a mut Map {
    type Item = (&'a Text, &'a mut Value);
    type IntoIter =
        std::iter::Map<FieldsMut<'a>, fn(&'a mut (Text, Value)) -> (&'a Text, &'a mut Value)>;

    fn into_iter(self) -> Self::IntoIter {
        Arc::make_mut(&mut self.0).iter_mut().map(|(key, value)| (&*key, value))
    }
}
