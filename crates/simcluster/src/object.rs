//! Objects as JSON, the keys they are stored under, and the few fields that everything reads.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use crate::json::Value;

/// A stored object: shared between the store, the watch log and every reader, never copied.
pub type Object = Arc<Value>;

/// The collection that an object lives in, whichever version it is read through.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Collection {
    /// API group, empty for the core group.
    pub group: Cow<'static, str>,
    /// Plural resource name, as in a URL.
    pub plural: Cow<'static, str>,
}

impl Ord for Collection {
    /// By group and plural. Most comparisons are of one constant with itself, under keys of the
    /// same collection: those need no look at the letters.
    fn cmp(&self, other: &Self) -> Ordering {
        let by = |a: &str, b: &str| if std::ptr::eq(a, b) { Ordering::Equal } else { a.cmp(b) };
        by(&self.group, &other.group).then_with(|| by(&self.plural, &other.plural))
    }
}

impl PartialOrd for Collection {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Collection {
    /// A collection whose names are known at compile time.
    pub const fn known(group: &'static str, plural: &'static str) -> Self {
        Self { group: Cow::Borrowed(group), plural: Cow::Borrowed(plural) }
    }
}

/// Pods.
pub const PODS: Collection = Collection::known("", "pods");
/// Nodes.
pub const NODES: Collection = Collection::known("", "nodes");
/// Namespaces.
pub const NAMESPACES: Collection = Collection::known("", "namespaces");
/// StatefulSets.
pub const STATEFULSETS: Collection = Collection::known("apps", "statefulsets");
/// Deployments.
pub const DEPLOYMENTS: Collection = Collection::known("apps", "deployments");
/// ReplicaSets.
pub const REPLICASETS: Collection = Collection::known("apps", "replicasets");
/// DaemonSets.
pub const DAEMONSETS: Collection = Collection::known("apps", "daemonsets");
/// ControllerRevisions.
pub const CONTROLLER_REVISIONS: Collection = Collection::known("apps", "controllerrevisions");
/// PodDisruptionBudgets.
pub const BUDGETS: Collection = Collection::known("policy", "poddisruptionbudgets");
/// PersistentVolumeClaims.
pub const CLAIMS: Collection = Collection::known("", "persistentvolumeclaims");
/// CustomResourceDefinitions.
pub const CRDS: Collection = Collection::known("apiextensions.k8s.io", "customresourcedefinitions");

/// Where one object is stored. The order (collection, namespace, name) is the order of lists.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The collection.
    pub collection: Collection,
    /// Empty for cluster-scoped kinds.
    pub namespace: String,
    /// Object name.
    pub name: String,
}

impl Key {
    /// The key of `name` in `namespace` (empty for cluster-scoped kinds).
    pub fn new(collection: Collection, namespace: &str, name: &str) -> Self {
        Self { collection, namespace: namespace.to_owned(), name: name.to_owned() }
    }

    /// The key of a stored object of `collection`.
    pub fn of(collection: Collection, object: &Value) -> Self {
        Self::new(collection, namespace(object), name(object))
    }
}

fn meta<'a>(object: &'a Value, field: &str) -> &'a str {
    object["metadata"][field].as_str().unwrap_or_default()
}

/// `metadata.name`, empty when absent.
pub fn name(object: &Value) -> &str {
    meta(object, "name")
}

/// `metadata.namespace`, empty when absent.
pub fn namespace(object: &Value) -> &str {
    meta(object, "namespace")
}

/// `metadata.uid`, empty when absent.
pub fn uid(object: &Value) -> &str {
    meta(object, "uid")
}

/// `metadata.resourceVersion`, empty when absent.
pub fn resource_version(object: &Value) -> &str {
    meta(object, "resourceVersion")
}

/// `metadata.generation`, 0 when absent.
pub fn generation(object: &Value) -> i64 {
    object["metadata"]["generation"].as_i64().unwrap_or_default()
}

/// Whether `metadata.deletionTimestamp` is set.
pub fn is_terminating(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

/// `metadata.labels`, `null` when absent.
pub fn labels(object: &Value) -> &Value {
    &object["metadata"]["labels"]
}

/// One label's value.
pub fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object["metadata"]["labels"].get(key)?.as_str()
}

/// One annotation's value.
pub fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object["metadata"]["annotations"].get(key)?.as_str()
}

/// The owner reference with `controller: true`, if any.
pub fn controller(object: &Value) -> Option<&Value> {
    object["metadata"]["ownerReferences"]
        .as_array()?
        .iter()
        .find(|owner| owner["controller"].as_bool() == Some(true))
}
