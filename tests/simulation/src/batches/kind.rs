//! The kinds of workload that are released, as a simulation makes and reads them.

use std::fmt;

use simcluster::behaviour::kruise::{ADVANCED_DAEMONSETS, ADVANCED_STATEFULSETS, CLONESETS};
use simcluster::json::{Value, json};
use simcluster::object::{Collection, DAEMONSETS, DEPLOYMENTS, STATEFULSETS};

use super::facts::size;

/// One kind.
#[derive(Debug)]
pub struct Kind {
    /// What it is called where kinds are told apart.
    pub name: &'static str,
    /// `kind` of its manifests.
    pub manifest: &'static str,
    /// `apiVersion` of its manifests.
    pub api_version: &'static str,
    /// Where it is stored.
    pub collection: Collection,
    /// What says how many of its Pods may run the template.
    pub held: Held,
    /// Whether it has a Pod on each Node, and no number of replicas.
    pub nodes: bool,
    /// Whether its Pods have ordinals.
    pub ordinals: bool,
}

/// What says how many Pods may run the template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// The sizes of ReplicaSets.
    Sizes,
    /// A partition, or whoever evicts under `OnDelete`; who is lost below the partition comes back as it was.
    Partition,
    /// The same, but who is lost comes back at the template.
    Living,
    /// Whoever evicts under `OnDelete`.
    OnDelete,
}

/// Those that Kubernetes has.
pub static NATIVE: [Kind; 3] = [
    Kind {
        name: "Deployment",
        manifest: "Deployment",
        api_version: "apps/v1",
        collection: DEPLOYMENTS,
        held: Held::Sizes,
        nodes: false,
        ordinals: false,
    },
    Kind {
        name: "StatefulSet",
        manifest: "StatefulSet",
        api_version: "apps/v1",
        collection: STATEFULSETS,
        held: Held::Partition,
        nodes: false,
        ordinals: true,
    },
    Kind {
        name: "DaemonSet",
        manifest: "DaemonSet",
        api_version: "apps/v1",
        collection: DAEMONSETS,
        held: Held::OnDelete,
        nodes: true,
        ordinals: false,
    },
];

/// Those that Kruise has.
pub static KRUISE: [Kind; 3] = [
    Kind {
        name: "CloneSet",
        manifest: "CloneSet",
        api_version: "apps.kruise.io/v1alpha1",
        collection: CLONESETS,
        held: Held::Partition,
        nodes: false,
        ordinals: false,
    },
    Kind {
        name: "AdvancedStatefulSet",
        manifest: "StatefulSet",
        api_version: "apps.kruise.io/v1beta1",
        collection: ADVANCED_STATEFULSETS,
        held: Held::Partition,
        nodes: false,
        ordinals: true,
    },
    Kind {
        name: "AdvancedDaemonSet",
        manifest: "DaemonSet",
        api_version: "apps.kruise.io/v1alpha1",
        collection: ADVANCED_DAEMONSETS,
        held: Held::Living,
        nodes: true,
        ordinals: false,
    },
];

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Kind {
    /// All of them.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        NATIVE.iter().chain(&KRUISE)
    }

    /// The one of this name, whatever its letters' case.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().find(|kind| kind.name.eq_ignore_ascii_case(name))
    }

    /// Whether it is one of Kruise's.
    pub fn is_kruise(&self) -> bool {
        self.collection.group == "apps.kruise.io"
    }

    /// Where its objects are in the API.
    pub fn path(&self) -> String {
        format!("/apis/{}/namespaces/default/{}", self.api_version, self.collection.plural)
    }

    /// The field of its spec that says how its Pods are replaced.
    pub fn strategy(&self) -> &'static str {
        if self.held == Held::Sizes { "strategy" } else { "updateStrategy" }
    }

    /// Whether its own controller replaces what is opened, several at a time and asking no budget.
    pub fn replaces(&self) -> bool {
        self.is_kruise()
    }

    /// The partition that stands, in Pods that are held; none where there is none.
    pub fn partition(&self, workload: &Value, replicas: u32) -> Option<u32> {
        if !matches!(self.held, Held::Partition | Held::Living) {
            return None;
        }
        let strategy = &workload["spec"]["updateStrategy"];
        if strategy["type"] == "OnDelete" {
            return None;
        }
        let partition = match self.name {
            "CloneSet" => &strategy["partition"],
            _ => &strategy["rollingUpdate"]["partition"],
        };
        let part = partition.as_str().is_some_and(|text| text != "100%");
        let partition = size(partition);
        Some(match self.held {
            Held::Living => partition.of_rounded_down(replicas),
            // Less than all of several leave one to be updated.
            _ if part && replicas > 1 => partition.of(replicas).min(replicas - 1),
            _ => partition.of(replicas),
        })
    }

    /// Whether the partition counts ordinals from the lowest up.
    pub fn is_ordered(&self, workload: &Value) -> bool {
        let rolling = &workload["spec"]["updateStrategy"]["rollingUpdate"];
        self.ordinals && rolling["unorderedUpdate"].is_null()
    }

    /// What such a workload has beside what all have.
    pub(super) fn own(&self, replicas: u32, management: &str) -> Value {
        let mut own = json!({});
        if !self.nodes {
            own["replicas"] = json!(replicas);
        }
        if self.ordinals {
            own["serviceName"] = json!("web");
            own["podManagementPolicy"] = json!(management);
        }
        own
    }
}
