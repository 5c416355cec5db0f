//! Which kinds there are, and where on the server they are.

use std::sync::Arc;

use simcluster::json::Value;
use simcluster::kind::{Kind, Registry};
use simcluster::object::Collection;
use simcluster::server::definitions;

/// The kinds that a driver can look at: built in, and those of CustomResourceDefinitions in the
/// version that is stored, which is what the steps are written for.
#[derive(Clone, Debug)]
pub struct Kinds(Registry);

impl Kinds {
    /// The built-in kinds, and those of these definitions.
    pub fn with(definitions: &[Value]) -> Self {
        let mut registry = Registry::built_in();
        for kind in definitions.iter().flat_map(definitions::kinds) {
            registry.add(kind);
        }
        Self(registry)
    }

    /// The kind of a collection.
    ///
    /// # Panics
    /// Nobody has said that there is one: a mistake of whoever wrote the test.
    pub fn of(&self, collection: &Collection) -> Arc<Kind> {
        let kind = self.0.of_collection(collection);
        kind.unwrap_or_else(|| panic!("no definition of {collection:?}")).clone()
    }
}

/// The path of a collection, in one namespace or (empty) in all or in none.
pub fn path(kind: &Kind, namespace: &str) -> String {
    let root = if kind.group.is_empty() { "/api" } else { "/apis" };
    let version = kind.api_version();
    if namespace.is_empty() {
        format!("{root}/{version}/{}", kind.plural)
    } else {
        format!("{root}/{version}/namespaces/{namespace}/{}", kind.plural)
    }
}

/// Says in an object what it is: lists leave it out, and a custom resource isn't taken without.
pub fn name_kind(kind: &Kind, object: &mut Value) {
    object["apiVersion"] = kind.api_version().into();
    object["kind"] = kind.kind.clone().into();
}

/// A resourceVersion as a number, which servers since 1.35 promise it to be; 0 for none.
pub fn revision(object: &Value) -> u64 {
    simcluster::object::resource_version(object).parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use simcluster::json::json;
    use simcluster::object::{NODES, PODS, STATEFULSETS};

    use super::*;

    fn check(collection: &Collection, namespace: &str, expect: &str) {
        let thing = json!({
            "metadata": {"name": "things.example.com"},
            "spec": {
                "group": "example.com", "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": [
                    {"name": "v1alpha1", "served": true, "storage": true},
                    {"name": "v1beta1", "served": true, "storage": false},
                ],
            },
        });
        assert_eq!(path(&Kinds::with(&[thing]).of(collection), namespace), expect);
    }

    #[test]
    fn a_collection_is_where_the_server_has_it_in_the_version_that_is_stored() {
        check(&PODS, "ns", "/api/v1/namespaces/ns/pods");
        check(&NODES, "", "/api/v1/nodes");
        check(&STATEFULSETS, "", "/apis/apps/v1/statefulsets");
        let things = Collection::known("example.com", "things");
        check(&things, "ns", "/apis/example.com/v1alpha1/namespaces/ns/things");
    }
}
