//! The kinds that the server serves: built in, or added by a CustomResourceDefinition.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::object::Collection;

/// The paths behind `/scale` of a kind, in the notation of a CRD (`.spec.replicas`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScalePaths {
    /// Where the wanted number of replicas is.
    pub spec_replicas: String,
    /// Where the counted number is.
    pub status_replicas: String,
    /// Where the selector is: a string, or (built-in kinds) a LabelSelector. Empty for none.
    pub selector: String,
}

/// What only a custom kind has.
#[derive(Clone, Debug)]
pub struct Custom {
    /// `openAPIV3Schema` of this version, `null` if the CRD has none.
    pub schema: Value,
    /// `additionalPrinterColumns` of this version.
    pub columns: Vec<Value>,
    /// The version that is stored; the others are served by relabelling, or by the webhook.
    pub storage_version: String,
    /// `spec.conversion.webhook` of the CRD, under the strategy `Webhook`.
    pub conversion: Option<Arc<Value>>,
    /// Name of the CRD.
    pub crd: String,
}

/// One kind in one version.
#[derive(Clone, Debug)]
pub struct Kind {
    /// API group, empty for core.
    pub group: String,
    /// Version.
    pub version: String,
    /// CamelCase kind.
    pub kind: String,
    /// Kind of lists, mostly `{kind}List`.
    pub list_kind: String,
    /// Plural resource name, as in a URL.
    pub plural: String,
    /// Singular name, as `kubectl` knows it.
    pub singular: String,
    /// For example `sts`.
    pub short_names: Vec<String>,
    /// For example `all`.
    pub categories: Vec<String>,
    /// Whether objects live in a namespace.
    pub namespaced: bool,
    /// Whether `/status` is served and split from the main resource.
    pub has_status: bool,
    /// `/scale`.
    pub scale: Option<ScalePaths>,
    /// Hash that discovery shows; opaque to clients.
    pub storage_hash: String,
    /// Set for custom kinds.
    pub custom: Option<Custom>,
}

impl Kind {
    /// The collection, which all versions share. Events of both groups are one.
    pub fn collection(&self) -> Collection {
        let group = if self.plural == "events" { String::new() } else { self.group.clone() };
        Collection { group: group.into(), plural: self.plural.clone().into() }
    }

    /// Whether objects are stored in this version; those of the others are converted.
    pub fn is_stored(&self) -> bool {
        match (&self.custom, self.group.as_str()) {
            (Some(custom), _) => custom.storage_version == self.version,
            (None, "events.k8s.io") => false,
            (None, "autoscaling") => self.version == "v2",
            (None, _) => true,
        }
    }

    /// `v1` or `apps/v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// `pods` or `statefulsets.apps`, as error messages name a resource.
    pub fn resource(&self) -> String {
        join(&self.plural, &self.group)
    }

    /// `Pod` or `StatefulSet.apps`, as error messages name a kind.
    pub fn qualified(&self) -> String {
        join(&self.kind, &self.group)
    }

    /// `details` of a `Status` about one object.
    pub fn details(&self, name: &str) -> Value {
        let mut out = json!({"kind": self.plural});
        if !name.is_empty() {
            out["name"] = json!(name);
        }
        if !self.group.is_empty() {
            out["group"] = json!(self.group);
        }
        out
    }

    /// Whether the kind has a `metadata.generation` that follows its spec.
    pub fn counts_generations(&self) -> bool {
        self.custom.is_some()
            || matches!(
                (self.group.as_str(), self.plural.as_str()),
                ("", "pods")
                    | ("apps", "statefulsets" | "deployments" | "daemonsets" | "replicasets")
                    | ("policy", "poddisruptionbudgets")
                    | ("apiextensions.k8s.io", "customresourcedefinitions")
                    | (
                        "admissionregistration.k8s.io",
                        "validatingwebhookconfigurations" | "mutatingwebhookconfigurations"
                    )
            )
    }

    /// The verbs that discovery lists for the main resource, in the server's order.
    pub fn verbs(&self) -> &'static [&'static str] {
        if self.custom.is_some() {
            return &[
                "delete",
                "deletecollection",
                "get",
                "list",
                "patch",
                "create",
                "update",
                "watch",
            ];
        }
        if self.group.is_empty() && self.plural == "namespaces" {
            return &["create", "delete", "get", "list", "patch", "update", "watch"];
        }
        &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
    }
}

fn join(name: &str, group: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{name}.{group}") }
}

/// All kinds, found by group, version and plural.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    kinds: BTreeMap<(String, String, String), Arc<Kind>>,
}

impl Registry {
    /// The built-in kinds.
    pub fn built_in() -> Self {
        let mut registry = Self::default();
        for row in BUILT_IN {
            registry.add(row.to_kind());
        }
        registry
    }

    /// Adds or replaces one kind.
    pub fn add(&mut self, kind: Kind) {
        let key = (kind.group.clone(), kind.version.clone(), kind.plural.clone());
        self.kinds.insert(key, Arc::new(kind));
    }

    /// Takes out all versions that a CRD brought.
    pub fn remove_crd(&mut self, crd: &str) {
        self.kinds.retain(|_, kind| kind.custom.as_ref().is_none_or(|custom| custom.crd != crd));
    }

    /// The kind behind a URL.
    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Kind>> {
        self.kinds.get(&(group.to_owned(), version.to_owned(), plural.to_owned()))
    }

    /// A collection's kind in the version that is stored.
    pub fn of_collection(&self, collection: &Collection) -> Option<&Arc<Kind>> {
        let mut versions = self
            .kinds
            .values()
            .filter(|kind| kind.plural == collection.plural && kind.group == collection.group);
        let first = versions.next()?;
        let stored = |kind: &&Arc<Kind>| kind.is_stored();
        if stored(&first) { Some(first) } else { versions.find(stored).or(Some(first)) }
    }

    /// A kind by what an object says of itself.
    pub fn by_kind(&self, api_version: &str, kind: &str) -> Option<&Arc<Kind>> {
        self.kinds.values().find(|known| known.kind == kind && known.api_version() == api_version)
    }

    /// All kinds, ordered by group, version and plural.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Kind>> {
        self.kinds.values()
    }

    /// Whether anything is served under this group and version.
    pub fn serves(&self, group: &str, version: &str) -> bool {
        self.kinds.keys().any(|(g, v, _)| g == group && v == version)
    }
}

/// One built-in kind in a line.
struct Row {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plural: &'static str,
    short: &'static [&'static str],
    all: bool,
    namespaced: bool,
    status: bool,
    scale: bool,
    hash: &'static str,
}

impl Row {
    fn to_kind(&self) -> Kind {
        let categories = match (self.all, self.group) {
            (true, _) => vec!["all".to_owned()],
            (
                _,
                "apiextensions.k8s.io" | "admissionregistration.k8s.io" | "apiregistration.k8s.io",
            ) => {
                vec!["api-extensions".to_owned()]
            }
            _ => Vec::new(),
        };
        Kind {
            group: self.group.to_owned(),
            version: self.version.to_owned(),
            kind: self.kind.to_owned(),
            list_kind: format!("{}List", self.kind),
            plural: self.plural.to_owned(),
            singular: self.kind.to_lowercase(),
            short_names: self.short.iter().map(|&short| short.to_owned()).collect(),
            categories,
            namespaced: self.namespaced,
            has_status: self.status,
            scale: self.scale.then(|| ScalePaths {
                spec_replicas: ".spec.replicas".to_owned(),
                status_replicas: ".status.replicas".to_owned(),
                selector: ".spec.selector".to_owned(),
            }),
            storage_hash: self.hash.to_owned(),
            custom: None,
        }
    }
}

const fn row(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plural: &'static str,
    short: &'static [&'static str],
    hash: &'static str,
) -> Row {
    Row {
        group,
        version,
        kind,
        plural,
        short,
        all: false,
        namespaced: true,
        status: false,
        scale: false,
        hash,
    }
}

/// Served in two versions; stored is the second.
const fn autoscaler(version: &'static str) -> Row {
    let hash = "qwQve8ut294=";
    row(
        "autoscaling",
        version,
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        &["hpa"],
        hash,
    )
}

impl Row {
    const fn all(mut self) -> Self {
        self.all = true;
        self
    }
    const fn cluster(mut self) -> Self {
        self.namespaced = false;
        self
    }
    const fn status(mut self) -> Self {
        self.status = true;
        self
    }
    const fn scale(mut self) -> Self {
        self.scale = true;
        self
    }
}

const BUILT_IN: &[Row] = &[
    row("", "v1", "ConfigMap", "configmaps", &["cm"], "qFsyl6wFWjQ="),
    row("", "v1", "Event", "events", &["ev"], "r2yiGXH7wu8="),
    row("", "v1", "Namespace", "namespaces", &["ns"], "Q3oi5N2YM8M=").cluster().status(),
    row("", "v1", "Node", "nodes", &["no"], "XwShjMxG9Fs=").cluster().status(),
    row("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", &["pvc"], "QWTyNDq0dC4=")
        .status(),
    row("", "v1", "Pod", "pods", &["po"], "xPOwRZ+Yhw8=").all().status(),
    row("", "v1", "Secret", "secrets", &[], "S6u1pOWzb84="),
    row("", "v1", "Service", "services", &["svc"], "0/CO1lhkEBI=").all().status(),
    row("", "v1", "ServiceAccount", "serviceaccounts", &["sa"], "pbx9ZvyFpBE="),
    row(
        "admissionregistration.k8s.io",
        "v1",
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
        &[],
        "Jea+Sdhd1Ro=",
    )
    .cluster(),
    row(
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
        &[],
        "wm9DmMFLGvM=",
    )
    .cluster(),
    row(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        &["crd", "crds"],
        "jfWCUB31mvA=",
    )
    .cluster()
    .status(),
    row("apps", "v1", "ControllerRevision", "controllerrevisions", &[], "85nkx63pcBU="),
    row("apps", "v1", "DaemonSet", "daemonsets", &["ds"], "dd7pWHUlMKQ=").all().status(),
    row("apps", "v1", "Deployment", "deployments", &["deploy"], "8aSe+NMegvE=")
        .all()
        .status()
        .scale(),
    row("apps", "v1", "ReplicaSet", "replicasets", &["rs"], "P1RzHs8/mWQ=").all().status().scale(),
    row("apps", "v1", "StatefulSet", "statefulsets", &["sts"], "H+vl74LkKdo=")
        .all()
        .status()
        .scale(),
    row("coordination.k8s.io", "v1", "Lease", "leases", &[], "gqkMMb/YqFM="),
    row("events.k8s.io", "v1", "Event", "events", &["ev"], "r2yiGXH7wu8="),
    row("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", &["pdb"], "EVWiDmWqyJw=")
        .status(),
    row("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", &[], "bYE5ZWDrJ44=")
        .cluster(),
    row(
        "rbac.authorization.k8s.io",
        "v1",
        "ClusterRoleBinding",
        "clusterrolebindings",
        &[],
        "48tpQ8gZHFc=",
    )
    .cluster(),
    row("rbac.authorization.k8s.io", "v1", "Role", "roles", &[], "7FuwZcIIItM="),
    row("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", &[], "eGsCzGH6b1g="),
    // Kept and handed out, with nothing behind them: no defaults, no validation, no controller.
    row("", "v1", "Endpoints", "endpoints", &["ep"], ""),
    row("", "v1", "LimitRange", "limitranges", &["limits"], ""),
    row("", "v1", "PersistentVolume", "persistentvolumes", &["pv"], "").cluster().status(),
    row("", "v1", "PodTemplate", "podtemplates", &[], ""),
    row("", "v1", "ReplicationController", "replicationcontrollers", &["rc"], "")
        .all()
        .status()
        .scale(),
    row("", "v1", "ResourceQuota", "resourcequotas", &["quota"], "").status(),
    row("apiregistration.k8s.io", "v1", "APIService", "apiservices", &[], "").cluster().status(),
    autoscaler("v1").all().status(),
    autoscaler("v2").all().status(),
    row("batch", "v1", "CronJob", "cronjobs", &["cj"], "").all().status(),
    row("batch", "v1", "Job", "jobs", &[], "").all().status(),
    row(
        "certificates.k8s.io",
        "v1",
        "CertificateSigningRequest",
        "certificatesigningrequests",
        &["csr"],
        "",
    )
    .cluster()
    .status(),
    row("networking.k8s.io", "v1", "IngressClass", "ingressclasses", &[], "").cluster(),
    row("networking.k8s.io", "v1", "Ingress", "ingresses", &["ing"], "").status(),
    row("networking.k8s.io", "v1", "IPAddress", "ipaddresses", &["ip"], "").cluster(),
    row("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", &["netpol"], ""),
    row("networking.k8s.io", "v1", "ServiceCIDR", "servicecidrs", &[], "").cluster().status(),
    row("storage.k8s.io", "v1", "CSIDriver", "csidrivers", &[], "").cluster(),
    row("storage.k8s.io", "v1", "CSINode", "csinodes", &[], "").cluster(),
    row("storage.k8s.io", "v1", "CSIStorageCapacity", "csistoragecapacities", &[], ""),
    row("storage.k8s.io", "v1", "StorageClass", "storageclasses", &["sc"], "").cluster(),
    row("storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", &[], "")
        .cluster()
        .status(),
    row("storage.k8s.io", "v1", "VolumeAttributesClass", "volumeattributesclasses", &["vac"], "")
        .cluster(),
    row(
        "admissionregistration.k8s.io",
        "v1",
        "MutatingAdmissionPolicy",
        "mutatingadmissionpolicies",
        &[],
        "",
    )
    .cluster(),
    row(
        "admissionregistration.k8s.io",
        "v1",
        "MutatingAdmissionPolicyBinding",
        "mutatingadmissionpolicybindings",
        &[],
        "",
    )
    .cluster(),
    row(
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingAdmissionPolicy",
        "validatingadmissionpolicies",
        &[],
        "",
    )
    .cluster()
    .status(),
    row(
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingAdmissionPolicyBinding",
        "validatingadmissionpolicybindings",
        &[],
        "",
    )
    .cluster(),
    row("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", &["pc"], "").cluster(),
    row("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", &[], "").cluster(),
    row("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", &[], ""),
    row("resource.k8s.io", "v1", "DeviceClass", "deviceclasses", &[], "").cluster(),
    row("resource.k8s.io", "v1", "ResourceClaim", "resourceclaims", &[], "").status(),
    row("resource.k8s.io", "v1", "ResourceClaimTemplate", "resourceclaimtemplates", &[], ""),
    row("resource.k8s.io", "v1", "ResourceSlice", "resourceslices", &[], "").cluster(),
    row("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema", "flowschemas", &[], "")
        .cluster()
        .status(),
    row(
        "flowcontrol.apiserver.k8s.io",
        "v1",
        "PriorityLevelConfiguration",
        "prioritylevelconfigurations",
        &[],
        "",
    )
    .cluster()
    .status(),
];
