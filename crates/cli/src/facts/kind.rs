//! Kinds of workload as users name and read them. Which there are, and where they may be served, the operator's
//! own table says.

use api::batches::WorkloadRef;
use cluster::Kind;
use serde_json::Value;

/// As kubectl writes it before a name.
pub(crate) fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Deployment => "deployment",
        Kind::StatefulSet => "statefulset",
        Kind::DaemonSet => "daemonset",
        Kind::CloneSet => "cloneset",
        Kind::AdvancedStatefulSet => "statefulset.apps.kruise.io",
        Kind::AdvancedDaemonSet => "daemonset.apps.kruise.io",
    }
}

/// The kind that is meant, if it is one that is released.
pub(crate) fn of(reference: &WorkloadRef) -> Option<Kind> {
    Kind::of(reference.group(), &reference.kind)
}

/// As kubectl writes the kind that is named, of whatever kind it is.
pub(crate) fn named(reference: &WorkloadRef) -> String {
    of(reference).map_or_else(|| reference.kind.to_ascii_lowercase(), |kind| word(kind).to_owned())
}

/// `deployment/web`: an argument that means the workload that is named.
pub(crate) fn argument(reference: &WorkloadRef) -> String {
    format!("{}/{}", named(reference), reference.name)
}

/// The kind of the other group that has the same name in manifests.
pub(crate) fn namesake(kind: Kind) -> Option<Kind> {
    Kind::ALL.into_iter().find(|other| *other != kind && other.name() == kind.name())
}

/// Whether it has a Pod on each Node, and no number of replicas.
pub(crate) fn is_on_nodes(kind: Kind) -> bool {
    matches!(kind, Kind::DaemonSet | Kind::AdvancedDaemonSet)
}

/// Path of an object that was read, in the version that it was read in.
pub(crate) fn path_of(kind: Kind, object: &Value) -> String {
    let source = &kind.facts().source;
    let version = object["apiVersion"].as_str().unwrap_or_default();
    let read = source.served.iter().find(|served| served.trim_start_matches("/apis/") == version);
    let served = read.or(source.served.first()).copied().unwrap_or_default();
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
    format!("{}/{}", source.collection(served, Some(text("namespace"))), text("name"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_of_a_workload_is_an_argument_that_means_it() {
        fn check(api_version: &str, kind: &str, expect: &str) {
            let reference = WorkloadRef {
                api_version: api_version.to_owned(),
                kind: kind.to_owned(),
                name: "web".to_owned(),
            };
            let shown = argument(&reference);
            assert_eq!(shown, expect);
            let named = crate::name::object(&shown).map(|named| named.to_string());
            assert_eq!(named.ok(), of(&reference).map(|_| shown));
        }
        check("apps/v1", "StatefulSet", "statefulset/web");
        check("apps.kruise.io/v1beta1", "StatefulSet", "statefulset.apps.kruise.io/web");
        check("apps.kruise.io/v1alpha1", "DaemonSet", "daemonset.apps.kruise.io/web");
        check("apps.kruise.io/v1alpha1", "CloneSet", "cloneset/web");
        check("example.com/v1", "Boat", "boat/web");
    }
}
