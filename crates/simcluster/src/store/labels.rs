//! Which Pods carry a label, so that a selector need not look at all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::json::Value;

/// Labels whose value no two Pods of a namespace share: nothing is selected by them.
const ALONE: &[&str] = &["statefulset.kubernetes.io/pod-name"];

type Names = BTreeSet<Arc<str>>;

/// Namespace → label → value → names.
#[derive(Debug, Default)]
pub(super) struct Labels(BTreeMap<String, BTreeMap<String, BTreeMap<String, Names>>>);

impl Labels {
    /// Takes in what an object's labels were and are; `null` for one that was not or is not there.
    pub(super) fn learn(&mut self, namespace: &str, name: &str, before: &Value, after: &Value) {
        if before == after {
            return;
        }
        for (label, value) in pairs(before) {
            self.forget(namespace, name, label, value);
        }
        let mut shared: Option<Arc<str>> = None;
        for (label, value) in pairs(after) {
            let name = shared.get_or_insert_with(|| name.into()).clone();
            let labels = self.0.entry(namespace.to_owned()).or_default();
            let values = labels.entry(label.to_owned()).or_default();
            values.entry(value.to_owned()).or_default().insert(name);
        }
    }

    fn forget(&mut self, namespace: &str, name: &str, label: &str, value: &str) {
        let Some(labels) = self.0.get_mut(namespace) else { return };
        let Some(values) = labels.get_mut(label) else { return };
        if let Some(names) = values.get_mut(value) {
            names.remove(name);
            if names.is_empty() {
                values.remove(value);
            }
        }
        if values.is_empty() {
            labels.remove(label);
        }
        if labels.is_empty() {
            self.0.remove(namespace);
        }
    }

    /// Whether all that carry this label are known.
    pub(super) fn knows(label: &str) -> bool {
        !ALONE.contains(&label)
    }

    /// The namespaces in order, and in each the names, in order, of those that carry a label.
    pub(super) fn carrying<'a>(
        &'a self,
        namespace: Option<&str>,
        (label, value): (&str, &str),
    ) -> impl Iterator<Item = (&'a str, &'a Names)> + use<'a> {
        use std::ops::Bound::{Included, Unbounded};
        let (label, value) = (label.to_owned(), value.to_owned());
        let range = match namespace {
            Some(one) => (Included(one), Included(one)),
            None => (Unbounded, Unbounded),
        };
        self.0.range::<str, _>(range).filter_map(move |(namespace, labels)| {
            Some((namespace.as_str(), labels.get(&label)?.get(&value)?))
        })
    }
}

fn pairs(labels: &Value) -> impl Iterator<Item = (&str, &str)> {
    let all = labels.as_object().into_iter().flatten();
    all.filter(|(label, _)| Labels::knows(label))
        .filter_map(|(label, value)| Some((label.as_str(), value.as_str()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    fn names(labels: &Labels, namespace: Option<&str>, label: (&str, &str)) -> Vec<String> {
        let found = labels.carrying(namespace, label);
        found.flat_map(|(ns, names)| names.iter().map(move |name| format!("{ns}/{name}"))).collect()
    }

    #[test]
    fn a_label_is_found_where_it_is_and_no_longer_where_it_was() {
        let mut labels = Labels::default();
        let (web, db) = (json!({"app": "web"}), json!({"app": "db"}));
        labels.learn("b", "1", &Value::Null, &web);
        labels.learn("a", "2", &Value::Null, &web);
        labels.learn("a", "1", &Value::Null, &web);
        assert_eq!(names(&labels, None, ("app", "web")), ["a/1", "a/2", "b/1"]);
        assert_eq!(names(&labels, Some("b"), ("app", "web")), ["b/1"]);
        labels.learn("a", "1", &web, &db);
        assert_eq!(names(&labels, Some("a"), ("app", "web")), ["a/2"]);
        labels.learn("a", "1", &db, &Value::Null);
        labels.learn("a", "2", &web, &Value::Null);
        labels.learn("b", "1", &web, &Value::Null);
        assert!(labels.0.is_empty(), "{labels:?}");
    }
}
