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
        "Sqi0GUgDaX0=",
    )
    .cluster(),
    row(
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
        &[],
        "B0wHjQmsGNk=",
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
    row("", "v1", "Endpoints", "endpoints", &["ep"], "fWeeMqaN/OA="),
    row("", "v1", "LimitRange", "limitranges", &["limits"], "EBKMFVe6cwo="),
    row("", "v1", "PersistentVolume", "persistentvolumes", &["pv"], "HN/zwEC+JgM=")
        .cluster()
        .status(),
    row("", "v1", "PodTemplate", "podtemplates", &[], "LIXB2x4IFpk="),
    row("", "v1", "ReplicationController", "replicationcontrollers", &["rc"], "Jond2If31h0=")
        .all()
        .status()
        .scale(),
    row("", "v1", "ResourceQuota", "resourcequotas", &["quota"], "8uhSgffRX6w=").status(),
    row("apiregistration.k8s.io", "v1", "APIService", "apiservices", &[], "InPBPD7+PqM=")
        .cluster()
        .status(),
    autoscaler("v1").all().status(),
    autoscaler("v2").all().status(),
    row("batch", "v1", "CronJob", "cronjobs", &["cj"], "sd5LIXh4Fjs=").all().status(),
    row("batch", "v1", "Job", "jobs", &[], "mudhfqk/qZY=").all().status(),
    row(
        "certificates.k8s.io",
        "v1",
        "CertificateSigningRequest",
        "certificatesigningrequests",
        &["csr"],
        "95fRKMXA+00=",
    )
    .cluster()
    .status(),
    row("networking.k8s.io", "v1", "IngressClass", "ingressclasses", &[], "l/iqIbDgFyQ=").cluster(),
    row("networking.k8s.io", "v1", "Ingress", "ingresses", &["ing"], "39NQlfNR+bo=").status(),
    row("networking.k8s.io", "v1", "IPAddress", "ipaddresses", &["ip"], "3f/plJFChNE=").cluster(),
    row("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", &["netpol"], "YpfwF18m1G8="),
    row("networking.k8s.io", "v1", "ServiceCIDR", "servicecidrs", &[], "gNLvruQhW2g=")
        .cluster()
        .status(),
    row("storage.k8s.io", "v1", "CSIDriver", "csidrivers", &[], "hL6j/rwBV5w=").cluster(),
    row("storage.k8s.io", "v1", "CSINode", "csinodes", &[], "Pe62DkZtjuo=").cluster(),
    row("storage.k8s.io", "v1", "CSIStorageCapacity", "csistoragecapacities", &[], "xeVl+2Ly1kE="),
    row("storage.k8s.io", "v1", "StorageClass", "storageclasses", &["sc"], "K+m6uJwbjGY=")
        .cluster(),
    row("storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", &[], "tJx/ezt6UDU=")
        .cluster()
        .status(),
    row(
        "storage.k8s.io",
        "v1",
        "VolumeAttributesClass",
        "volumeattributesclasses",
        &["vac"],
        "tIjydgKBC5w=",
    )
    .cluster(),
    row(
        "admissionregistration.k8s.io",
        "v1",
        "MutatingAdmissionPolicy",
        "mutatingadmissionpolicies",
        &[],
        "LYmCf+UMVdg=",
    )
    .cluster(),
    row(
        "admissionregistration.k8s.io",
        "v1",
        "MutatingAdmissionPolicyBinding",
        "mutatingadmissionpolicybindings",
        &[],
        "90V5FRZZ3Zg=",
    )
    .cluster(),
    row(
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingAdmissionPolicy",
        "validatingadmissionpolicies",
        &[],
        "6OxvlMmQ6is=",
    )
    .cluster()
    .status(),
    row(
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingAdmissionPolicyBinding",
        "validatingadmissionpolicybindings",
        &[],
        "v9715VZqakg=",
    )
    .cluster(),
    row("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", &["pc"], "1QwjyaZjj3Y=")
        .cluster(),
    row("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", &[], "WQTu1GL3T2Q=").cluster(),
    row("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", &[], "qgS0xkrxYAI="),
    row("resource.k8s.io", "v1", "DeviceClass", "deviceclasses", &[], "Yk2PTc1Ybxk=").cluster(),
    row("resource.k8s.io", "v1", "ResourceClaim", "resourceclaims", &[], "wgAZaHcZxUg=").status(),
    row(
        "resource.k8s.io",
        "v1",
        "ResourceClaimTemplate",
        "resourceclaimtemplates",
        &[],
        "TuzjC49aUfM=",
    ),
    row("resource.k8s.io", "v1", "ResourceSlice", "resourceslices", &[], "KsC072WgaEY=").cluster(),
    row("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema", "flowschemas", &[], "GJVAJZSZBIw=")
        .cluster()
        .status(),
    row(
        "flowcontrol.apiserver.k8s.io",
        "v1",
        "PriorityLevelConfiguration",
        "prioritylevelconfigurations",
        &[],
        "Kir5PVfvNeI=",
    )
    .cluster()
    .status(),
];
