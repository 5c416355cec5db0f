//! The volume controller: binds each claim to a volume of its own.

use jiff::Timestamp;

use super::{Behaviour, Change, Step, View, Write};
use crate::json::Value;
use crate::object::{self, CLAIMS, Key};

/// Binds claims. The volumes themselves are not served.
#[derive(Debug, Default)]
pub struct Claims;

impl Behaviour for Claims {
    fn name(&self) -> &'static str {
        "persistentvolume-binder"
    }

    fn concerns(&self, _: &dyn View, change: &Change) -> Vec<Key> {
        let unbound =
            change.after.as_ref().is_some_and(|claim| claim["status"]["phase"] != "Bound");
        if change.key.collection == CLAIMS && unbound {
            return vec![change.key.clone()];
        }
        Vec::new()
    }

    fn step(&self, view: &dyn View, key: &Key, _: Timestamp, _: &mut fastrand::Rng) -> Step {
        let Some(claim) = view.get(key) else { return Step::default() };
        if claim["status"]["phase"] == "Bound" || object::is_terminating(claim) {
            return Step::default();
        }
        let mut named = Value::clone(claim);
        named["spec"]["volumeName"] = format!("pvc-{}", object::uid(claim)).into();
        let mut bound = named.clone();
        // The first write has moved the resourceVersion on.
        bound["metadata"].as_object_mut().expect("metadata is a map").remove("resourceVersion");
        bound["status"]["phase"] = "Bound".into();
        bound["status"]["accessModes"] = claim["spec"]["accessModes"].clone();
        bound["status"]["capacity"] = claim["spec"]["resources"]["requests"].clone();
        let update = |subresource, object| Write::Update { key: key.clone(), subresource, object };
        Step { writes: vec![update(None, named), update(Some("status"), bound)], wake: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;
    use crate::store::Store;

    #[test]
    fn a_claim_is_bound_with_what_it_asked_for() {
        let mut store = Store::new(10);
        let claim = json!({
            "metadata": {"name": "data-web-0", "namespace": "ns", "uid": "u"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        });
        let key = Key::of(CLAIMS, &claim);
        store.put(key.clone(), claim);
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let step = Claims.step(&store, &key, now, &mut fastrand::Rng::with_seed(0));
        let Write::Update { object, .. } = &step.writes[1] else { panic!("{step:?}") };
        assert_eq!(object["spec"]["volumeName"], "pvc-u");
        assert_eq!(object["status"]["capacity"]["storage"], "1Gi");
        store.put(key.clone(), object.clone());
        assert!(Claims.step(&store, &key, now, &mut fastrand::Rng::with_seed(0)).writes.is_empty());
    }
}
