//! Lists that are shared.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::Value;

/// A list: as a `Vec`, and copied by counting. Who changes one that is shared changes a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct List(Arc<Vec<Value>>);

impl List {
    /// Whether both are one in memory.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The items, where nobody else has them.
    pub(super) fn own(&mut self) -> Option<&mut Vec<Value>> {
        Arc::get_mut(&mut self.0)
    }
}

impl Deref for List {
    type Target = Vec<Value>;

    fn deref(&self) -> &Vec<Value> {
        &self.0
    }
}

impl DerefMut for List {
    fn deref_mut(&mut self) -> &mut Vec<Value> {
        Arc::make_mut(&mut self.0)
    }
}

impl From<Vec<Value>> for List {
    fn from(items: Vec<Value>) -> Self {
        Self(Arc::new(items))
    }
}

impl FromIterator<Value> for List {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Self::from(Vec::from_iter(items))
    }
}

impl From<List> for Vec<Value> {
    fn from(list: List) -> Self {
        Arc::unwrap_or_clone(list.0)
    }
}

impl IntoIterator for List {
    type Item = Value;
    type IntoIter = std::vec::IntoIter<Value>;

    fn into_iter(self) -> Self::IntoIter {
        Arc::unwrap_or_clone(self.0).into_iter()
    }
}

impl<'a> IntoIterator for &'a List {
    type Item = &'a Value;
    type IntoIter = std::slice::Iter<'a, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a mut List {
    type Item = &'a mut Value;
    type IntoIter = std::slice::IterMut<'a, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}
