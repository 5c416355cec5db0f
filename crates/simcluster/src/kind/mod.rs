//! The kinds that the server serves: built in, or added by a CustomResourceDefinition.

mod built_in;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::built_in::BUILT_IN;
use crate::json::{Value, json};
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
    /// What a subresource takes in place of the objects that it belongs to. Nothing is served of it.
    pub fn behind(group: &str, version: &str, kind: &str) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            list_kind: format!("{kind}List"),
            plural: format!("{}s", kind.to_lowercase()),
            singular: kind.to_lowercase(),
            short_names: Vec::new(),
            categories: Vec::new(),
            namespaced: true,
            has_status: false,
            scale: None,
            storage_hash: String::new(),
            custom: None,
        }
    }

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
                    | ("", "replicationcontrollers" | "podtemplates")
                    | ("batch", "jobs" | "cronjobs")
                    | ("networking.k8s.io", "ingresses" | "ingressclasses" | "networkpolicies")
                    | ("scheduling.k8s.io", "priorityclasses")
                    | ("discovery.k8s.io", "endpointslices")
                    | ("resource.k8s.io", "deviceclasses")
                    | ("apiextensions.k8s.io", "customresourcedefinitions")
                    | (
                        "admissionregistration.k8s.io",
                        "validatingwebhookconfigurations"
                            | "mutatingwebhookconfigurations"
                            | "validatingadmissionpolicies"
                            | "validatingadmissionpolicybindings"
                            | "mutatingadmissionpolicies"
                            | "mutatingadmissionpolicybindings"
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

    /// Whether a group is one of the server's own, which no definition brought.
    pub fn is_own(&self, group: &str) -> bool {
        self.kinds.values().any(|kind| kind.group == group && kind.custom.is_none())
            || matches!(group, "authentication.k8s.io" | "authorization.k8s.io")
    }
}
