//! The publisher of the cluster's certificate: each namespace has it in the ConfigMap
//! `kube-root-ca.crt`.

use jiff::Timestamp;

use super::namespace::is_active;
use super::{Behaviour, Change, Step, View, Write};
use crate::json::{Value, json};
use crate::object::{Collection, Key, NAMESPACES};

const CONFIG_MAPS: Collection = Collection::known("", "configmaps");
const NAME: &str = "kube-root-ca.crt";
const DESCRIPTION: &str = "kubernetes.io/description";
const DESCRIBED: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/// A certificate whose key nobody has: there are no Pods that could ask the server anything.
const CERTIFICATE: &str = include_str!("ca.crt");

/// Makes the ConfigMap of a namespace, makes it again when it is deleted, and puts it right.
#[derive(Debug, Default)]
pub struct Publisher;

impl Behaviour for Publisher {
    fn name(&self) -> &'static str {
        "root-ca-cert-publisher"
    }

    fn concerns(&self, _: &dyn View, change: &Change) -> Vec<Key> {
        let key = &change.key;
        if key.collection == NAMESPACES && change.after.is_some() {
            return vec![key.clone()];
        }
        if key.collection == CONFIG_MAPS && key.name == NAME {
            return vec![Key::new(NAMESPACES, "", &key.namespace)];
        }
        Vec::new()
    }

    fn step(&self, view: &dyn View, key: &Key, _: Timestamp, _: &mut fastrand::Rng) -> Step {
        if !view.get(key).is_some_and(|namespace| is_active(namespace)) {
            return Step::default();
        }
        let at = Key::new(CONFIG_MAPS, &key.name, NAME);
        let data = json!({"ca.crt": CERTIFICATE});
        let write = match view.get(&at) {
            None => Write::Create {
                collection: CONFIG_MAPS,
                object: json!({
                    "metadata": {
                        "name": NAME, "namespace": key.name,
                        "annotations": {DESCRIPTION: DESCRIBED},
                    },
                    "data": data,
                }),
            },
            Some(found) => {
                let said = found["metadata"]["annotations"][DESCRIPTION].as_str();
                if found["data"] == data && said.is_some_and(|said| !said.is_empty()) {
                    return Step::default();
                }
                let mut object = Value::clone(found);
                object["data"] = data;
                object["metadata"]["annotations"][DESCRIPTION] = DESCRIBED.into();
                Write::Update { key: at, subresource: None, object }
            }
        };
        Step { writes: vec![write], wake: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn the_certificate_is_published_and_put_right() {
        let mut store = Store::new(10);
        let namespace = json!({"metadata": {"name": "ns"}, "status": {"phase": "Active"}});
        let key = Key::of(NAMESPACES, &namespace);
        store.put(key.clone(), namespace);
        let look = |store: &Store| {
            let now = "2026-01-01T00:00:00Z".parse().expect("a constant");
            Publisher.step(store, &key, now, &mut fastrand::Rng::with_seed(0)).writes
        };
        let [Write::Create { object, .. }] = &look(&store)[..] else { panic!("none is made") };
        let mut map = object.clone();
        store.put(Key::of(CONFIG_MAPS, &map), map.clone());
        assert!(look(&store).is_empty(), "as it should be");
        map["data"] = json!({"ca.crt": "mine"});
        store.put(Key::of(CONFIG_MAPS, &map), map);
        let [Write::Update { object, .. }] = &look(&store)[..] else { panic!("it is left alone") };
        assert_eq!(object["data"]["ca.crt"], CERTIFICATE);
    }
}
