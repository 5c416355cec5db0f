//! What there may be in a namespace, in the order in which it is emptied.

use std::sync::OnceLock;

use crate::behaviour::View;
use crate::json::Value;
use crate::kind::Registry;
use crate::object::{BUDGETS, CLAIMS, CONTROLLER_REVISIONS, CRDS, Collection, PODS, STATEFULSETS};

/// The collections in namespaces that are emptied first, in this order.
const FIRST: &[Collection] = &[
    STATEFULSETS,
    Collection::known("apps", "deployments"),
    Collection::known("apps", "daemonsets"),
    Collection::known("apps", "replicasets"),
    CONTROLLER_REVISIONS,
    PODS,
    BUDGETS,
    CLAIMS,
    Collection::known("", "services"),
    Collection::known("", "configmaps"),
    Collection::known("", "secrets"),
    Collection::known("", "serviceaccounts"),
    Collection::known("coordination.k8s.io", "leases"),
    Collection::known("", "events"),
];

/// Every collection that can hold objects of a namespace, custom ones first.
pub(super) fn collections(view: &dyn View) -> Vec<Collection> {
    let custom = view.list(&CRDS, None).filter(|crd| crd["spec"]["scope"] == "Namespaced");
    let custom = custom.map(|crd| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Collection {
            group: text(&crd["spec"]["group"]).into(),
            plural: text(&crd["spec"]["names"]["plural"]).into(),
        }
    });
    custom.chain(built_in().iter().cloned()).collect()
}

/// Those of the built-in kinds.
fn built_in() -> &'static [Collection] {
    static ALL: OnceLock<Vec<Collection>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = FIRST.to_vec();
        for kind in Registry::built_in().iter().filter(|kind| kind.namespaced) {
            if !all.contains(&kind.collection()) {
                all.push(kind.collection());
            }
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn a_namespace_is_emptied_of_every_kind() {
        let all = collections(&Store::new(1));
        let missing: Vec<_> = Registry::built_in()
            .iter()
            .filter(|kind| kind.namespaced && !all.contains(&kind.collection()))
            .map(|kind| kind.resource())
            .collect();
        assert_eq!(missing, [""; 0]);
        assert!(all.contains(&Collection::known("autoscaling", "horizontalpodautoscalers")));
    }
}
