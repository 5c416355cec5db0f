//! The kinds that the server has of its own, one a line.

use super::{Kind, ScalePaths};

/// One built-in kind in a line.
pub(super) struct Row {
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
    /// The kind in full.
    pub(super) fn to_kind(&self) -> Kind {
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

/// All of them.
pub(super) const BUILT_IN: &[Row] = &[
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
