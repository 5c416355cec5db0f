//! Sets of fields, as `managedFields` keeps them (FieldsV1).

use std::collections::BTreeMap;

use crate::json::{Map, Value};

/// A set of paths, as a tree. Segments are written as in FieldsV1: `f:name`, `k:{"name":"a"}`,
/// `v:"text"`, `i:0`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// Whether the path that ends here belongs to the set.
    pub member: bool,
    /// What lies below.
    pub children: BTreeMap<String, FieldSet>,
}

impl FieldSet {
    /// A set of the path that ends here alone.
    pub fn leaf() -> Self {
        Self { member: true, children: BTreeMap::new() }
    }

    /// Reads FieldsV1.
    pub fn from_json(fields: &Value) -> Self {
        Self { member: false, children: read_children(fields) }
    }

    /// Writes FieldsV1.
    pub fn to_json(&self) -> Value {
        let children = self.children.iter().map(|(key, child)| {
            let mut value = child.to_json();
            if child.member
                && !child.children.is_empty()
                && let Value::Object(map) = &mut value
            {
                map.insert(".".to_owned(), Value::Object(Map::new()));
            }
            (key.clone(), value)
        });
        Value::Object(children.collect())
    }

    /// Whether it holds no path.
    pub fn is_empty(&self) -> bool {
        !self.member && self.children.values().all(FieldSet::is_empty)
    }

    /// The tree below a segment, made if it is missing.
    pub fn below(&mut self, segment: &str) -> &mut FieldSet {
        self.children.entry(segment.to_owned()).or_default()
    }

    /// Puts a tree below a segment, unless it is empty.
    pub fn graft(&mut self, segment: String, tree: FieldSet) {
        if !tree.is_empty() {
            self.children.insert(segment, tree);
        }
    }

    /// Paths in either.
    pub fn union(&self, other: &FieldSet) -> FieldSet {
        let mut out = self.clone();
        out.absorb(other);
        out
    }

    /// Takes in the paths of another set.
    pub fn absorb(&mut self, other: &FieldSet) {
        self.member |= other.member;
        for (key, child) in &other.children {
            match self.children.get_mut(key) {
                Some(mine) => mine.absorb(child),
                None => {
                    self.children.insert(key.clone(), child.clone());
                }
            }
        }
    }

    /// Paths of this set that are not in the other.
    pub fn difference(&self, other: &FieldSet) -> FieldSet {
        let mut out = FieldSet { member: self.member && !other.member, children: BTreeMap::new() };
        for (key, child) in &self.children {
            let rest = match other.children.get(key) {
                Some(theirs) => child.difference(theirs),
                None => child.clone(),
            };
            out.graft(key.clone(), rest);
        }
        out
    }

    /// Paths in both.
    pub fn intersection(&self, other: &FieldSet) -> FieldSet {
        let mut out = FieldSet { member: self.member && other.member, children: BTreeMap::new() };
        for (key, child) in &self.children {
            if let Some(theirs) = other.children.get(key) {
                out.graft(key.clone(), child.intersection(theirs));
            }
        }
        out
    }

    /// The paths, in order, as messages write them: `.spec.containers[name="a"].image`.
    pub fn paths(&self) -> Vec<String> {
        let mut out = Vec::new();
        self.collect("", &mut out);
        out
    }

    /// Members of a level come before what is below any of them.
    fn collect(&self, path: &str, out: &mut Vec<String>) {
        let below = |key: &str| format!("{path}{}", segment_text(key));
        let members = self.children.iter().filter(|(_, child)| child.member);
        out.extend(members.map(|(key, _)| below(key)));
        for (key, child) in &self.children {
            child.collect(&below(key), out);
        }
    }
}

fn read_children(fields: &Value) -> BTreeMap<String, FieldSet> {
    let Some(map) = fields.as_object() else { return BTreeMap::new() };
    map.iter()
        .filter(|(key, _)| *key != ".")
        .map(|(key, value)| {
            let children = read_children(value);
            let member = children.is_empty() || value.get(".").is_some();
            (key.to_string(), FieldSet { member, children })
        })
        .collect()
}

fn segment_text(segment: &str) -> String {
    let (kind, rest) = segment.split_once(':').unwrap_or(("f", segment));
    match kind {
        "k" => {
            let keys: Map = serde_json::from_str(rest).unwrap_or_default();
            let keys: Vec<String> =
                keys.iter().map(|(key, value)| format!("{key}={value}")).collect();
            format!("[{}]", keys.join(","))
        }
        "v" => format!("[={rest}]"),
        "i" => format!("[{rest}]"),
        _ => format!(".{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    #[test]
    fn what_is_read_is_written_again() {
        let fields = json!({"f:data": {".": {}, "f:a": {}}, "f:metadata": {"f:finalizers": {
            ".": {}, "v:\"example.com/hold\"": {}}}});
        assert_eq!(FieldSet::from_json(&fields).to_json(), fields);
    }

    #[test]
    fn a_path_is_written_as_in_a_conflict() {
        let fields = json!({"f:spec": {"f:ports": {
            "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}}}}});
        assert_eq!(
            FieldSet::from_json(&fields).paths(),
            [
                ".spec.ports[containerPort=80,protocol=\"TCP\"]",
                ".spec.ports[containerPort=80,protocol=\"TCP\"].name"
            ]
        );
    }

    #[test]
    fn taking_away_a_parent_keeps_its_children() {
        let all = FieldSet::from_json(&json!({"f:data": {".": {}, "f:a": {}}}));
        let parent = FieldSet::from_json(&json!({"f:data": {}}));
        assert_eq!(all.difference(&parent).to_json(), json!({"f:data": {"f:a": {}}}));
        assert_eq!(all.intersection(&parent).to_json(), json!({"f:data": {}}));
    }
}
