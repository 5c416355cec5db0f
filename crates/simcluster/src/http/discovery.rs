//! Discovery, old and aggregated.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::json::{Value, json};
use crate::kind::{Kind, Registry};

/// Groups in the order in which the real server lists them: clients ask no order, people do.
pub(super) fn groups(registry: &Registry) -> Vec<(String, Vec<String>)> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for kind in registry.iter().filter(|kind| !kind.group.is_empty()) {
        let versions = out.entry(kind.group.clone()).or_default();
        if !versions.contains(&kind.version) {
            versions.push(kind.version.clone());
        }
    }
    for group in ["authentication.k8s.io", "authorization.k8s.io"] {
        out.insert(group.to_owned(), vec!["v1".to_owned()]);
    }
    for versions in out.values_mut() {
        versions.sort_by_key(|version| std::cmp::Reverse(priority(version)));
    }
    out.into_iter().collect()
}

/// v2 before v1 before v1beta2 before v1alpha1, as the server prefers versions.
fn priority(version: &str) -> (u8, u32, u32) {
    let rest = version.strip_prefix('v').unwrap_or_default();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let tail = &rest[digits.len()..];
    let major = digits.parse().unwrap_or(0);
    let number = |tail: &str| tail.parse().unwrap_or(0);
    if tail.is_empty() {
        (3, major, 0)
    } else if let Some(tail) = tail.strip_prefix("beta") {
        (2, major, number(tail))
    } else if let Some(tail) = tail.strip_prefix("alpha") {
        (1, major, number(tail))
    } else {
        (0, 0, 0)
    }
}

fn group_json(group: &str, versions: &[String]) -> Value {
    let entry = |version: &String| json!({"groupVersion": format!("{group}/{version}"), "version": version});
    json!({
        "name": group,
        "versions": versions.iter().map(entry).collect::<Vec<_>>(),
        "preferredVersion": versions.first().map(entry),
    })
}

/// `/api`.
pub fn versions(address: &str) -> Value {
    json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    })
}

/// `/apis`.
pub fn group_list(registry: &Registry) -> Value {
    let groups: Vec<Value> =
        groups(registry).iter().map(|(group, versions)| group_json(group, versions)).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/{group}`.
pub fn group(registry: &Registry, wanted: &str) -> Option<Value> {
    let (group, versions) = groups(registry).into_iter().find(|(group, _)| group == wanted)?;
    let mut out = group_json(&group, &versions);
    out["kind"] = json!("APIGroup");
    out["apiVersion"] = json!("v1");
    Some(out)
}

struct Sub {
    name: &'static str,
    group: &'static str,
    version: &'static str,
    kind: String,
    verbs: &'static [&'static str],
}

const RW: &[&str] = &["get", "patch", "update"];
const CREATE: &[&str] = &["create"];
const STREAM: &[&str] = &["create", "get"];
const PROXY: &[&str] = &["create", "delete", "get", "patch", "update"];

/// Group and plural of a kind, name of its subresource, kind of that (its own when empty) and its
/// group (the place's when empty), verbs.
type Special =
    (&'static str, &'static str, &'static str, &'static str, &'static str, &'static [&'static str]);

/// Subresources of built-in kinds that no rule splits off.
#[rustfmt::skip]
const SPECIAL: &[Special] = &[
    ("", "namespaces", "finalize", "", "", &["update"]),
    ("", "nodes", "proxy", "NodeProxyOptions", "", PROXY),
    ("", "pods", "attach", "PodAttachOptions", "", STREAM),
    ("", "pods", "binding", "Binding", "", CREATE),
    ("", "pods", "ephemeralcontainers", "", "", RW),
    ("", "pods", "eviction", "Eviction", "policy", CREATE),
    ("", "pods", "exec", "PodExecOptions", "", STREAM),
    ("", "pods", "log", "", "", &["get"]),
    ("", "pods", "portforward", "PodPortForwardOptions", "", STREAM),
    ("", "pods", "proxy", "PodProxyOptions", "", PROXY),
    ("", "pods", "resize", "", "", RW),
    ("", "serviceaccounts", "token", "TokenRequest", "authentication.k8s.io", CREATE),
    ("", "services", "proxy", "ServiceProxyOptions", "", PROXY),
    ("certificates.k8s.io", "certificatesigningrequests", "approval", "", "", RW),
];

fn subresources(kind: &Kind) -> Vec<Sub> {
    let own = |name, verbs| Sub { name, group: "", version: "", kind: kind.kind.clone(), verbs };
    let special = SPECIAL.iter().filter(|row| {
        kind.custom.is_none() && row.0 == kind.group.as_str() && row.1 == kind.plural.as_str()
    });
    let mut out: Vec<Sub> = special
        .map(|&(_, _, name, of, group, verbs)| Sub {
            name,
            group,
            version: if group.is_empty() { "" } else { "v1" },
            kind: if of.is_empty() { kind.kind.clone() } else { of.to_owned() },
            verbs,
        })
        .collect();
    let scale = || Sub {
        name: "scale",
        group: "autoscaling",
        version: "v1",
        kind: "Scale".to_owned(),
        verbs: RW,
    };
    // The built-in kinds are listed by name, custom ones in the order of their CRD's fields.
    if kind.custom.is_none() && kind.scale.is_some() {
        out.push(scale());
    }
    if kind.has_status {
        out.push(own("status", RW));
    }
    if kind.custom.is_some() && kind.scale.is_some() {
        out.push(scale());
    }
    out
}

fn main_resource(kind: &Kind) -> Value {
    let mut out = json!({
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": kind.verbs(),
        "storageVersionHash": kind.storage_hash,
    });
    if !kind.short_names.is_empty() {
        out["shortNames"] = json!(kind.short_names);
    }
    if !kind.categories.is_empty() {
        out["categories"] = json!(kind.categories);
    }
    out
}

/// `/api/v1` or `/apis/{group}/{version}`.
pub fn resources(registry: &Registry, group: &str, version: &str) -> Option<Value> {
    let mut resources: Vec<Value> = fleeting(group, version).map(Fleeting::resource).collect();
    for kind in kinds(registry, group, version) {
        resources.push(main_resource(kind));
        for sub in subresources(kind) {
            let mut entry = json!({
                "name": format!("{}/{}", kind.plural, sub.name),
                "singularName": "",
                "namespaced": kind.namespaced,
                "kind": sub.kind,
                "verbs": sub.verbs,
            });
            if !sub.group.is_empty() {
                entry["group"] = json!(sub.group);
                entry["version"] = json!(sub.version);
            }
            resources.push(entry);
        }
    }
    if resources.is_empty() {
        return None;
    }
    let name = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let mut out = json!({"kind": "APIResourceList", "groupVersion": name, "resources": resources});
    if !group.is_empty() {
        out["apiVersion"] = json!("v1");
    }
    Some(out)
}

/// A resource of which nothing is kept: what is posted is answered and forgotten, or done to another
/// object, and what is read was never written.
pub struct Fleeting {
    /// API group, empty for core; the version is v1.
    pub group: &'static str,
    /// CamelCase kind.
    pub kind: &'static str,
    /// As in a URL.
    pub plural: &'static str,
    short: &'static [&'static str],
    namespaced: bool,
    verbs: &'static [&'static str],
}

const fn review(group: &'static str, kind: &'static str, plural: &'static str) -> Fleeting {
    Fleeting { group, kind, plural, short: &[], namespaced: false, verbs: CREATE }
}

impl Fleeting {
    const fn namespaced(mut self) -> Self {
        self.namespaced = true;
        self
    }

    /// As a kind, of which there are no objects.
    pub fn to_kind(&self) -> Kind {
        Kind {
            group: self.group.to_owned(),
            version: "v1".to_owned(),
            kind: self.kind.to_owned(),
            list_kind: String::new(),
            plural: self.plural.to_owned(),
            singular: self.kind.to_lowercase(),
            short_names: Vec::new(),
            categories: Vec::new(),
            namespaced: self.namespaced,
            has_status: true,
            scale: None,
            storage_hash: String::new(),
            custom: None,
        }
    }

    fn resource(&self) -> Value {
        let mut out = json!({
            "name": self.plural,
            "singularName": self.kind.to_lowercase(),
            "namespaced": self.namespaced,
            "kind": self.kind,
            "verbs": self.verbs,
        });
        if !self.short.is_empty() {
            out["shortNames"] = json!(self.short);
        }
        out
    }

    fn aggregated(&self) -> Value {
        let mut out = json!({
            "resource": self.plural,
            "responseKind": {"group": "", "version": "", "kind": self.kind},
            "scope": if self.namespaced { "Namespaced" } else { "Cluster" },
            "singularResource": self.kind.to_lowercase(),
            "verbs": self.verbs,
        });
        if !self.short.is_empty() {
            out["shortNames"] = json!(self.short);
        }
        out
    }
}

/// All of them.
pub const FLEETING: &[Fleeting] = &[
    review("", "Binding", "bindings").namespaced(),
    Fleeting {
        group: "",
        kind: "ComponentStatus",
        plural: "componentstatuses",
        short: &["cs"],
        namespaced: false,
        verbs: &["get", "list"],
    },
    review("authentication.k8s.io", "SelfSubjectReview", "selfsubjectreviews"),
    review("authentication.k8s.io", "TokenReview", "tokenreviews"),
    review("authorization.k8s.io", "LocalSubjectAccessReview", "localsubjectaccessreviews")
        .namespaced(),
    review("authorization.k8s.io", "SelfSubjectAccessReview", "selfsubjectaccessreviews"),
    review("authorization.k8s.io", "SelfSubjectRulesReview", "selfsubjectrulesreviews"),
    review("authorization.k8s.io", "SubjectAccessReview", "subjectaccessreviews"),
];

fn fleeting<'a>(group: &'a str, version: &'a str) -> impl Iterator<Item = &'static Fleeting> {
    FLEETING.iter().filter(move |one| one.group == group && version == "v1")
}

fn kinds<'a>(
    registry: &'a Registry,
    group: &'a str,
    version: &'a str,
) -> impl Iterator<Item = &'a Arc<Kind>> {
    registry.iter().filter(move |kind| kind.group == group && kind.version == version)
}

/// `/api` (core) or `/apis` (all others) in the aggregated form.
pub fn aggregated(registry: &Registry, core: bool) -> Value {
    let listed = if core { vec![(String::new(), vec!["v1".to_owned()])] } else { groups(registry) };
    let items: Vec<Value> = listed
        .iter()
        .map(|(group, versions)| {
            let versions: Vec<Value> = versions
                .iter()
                .map(|version| {
                    let mut resources: Vec<Value> =
                        fleeting(group, version).map(Fleeting::aggregated).collect();
                    resources
                        .extend(kinds(registry, group, version).map(|kind| aggregated_kind(kind)));
                    json!({"version": version, "resources": resources, "freshness": "Current"})
                })
                .collect();
            let metadata = if group.is_empty() { json!({}) } else { json!({"name": group}) };
            json!({"metadata": metadata, "versions": versions})
        })
        .collect();
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    })
}

fn aggregated_kind(kind: &Kind) -> Value {
    // A custom kind says its group; a built-in one leaves it to the context.
    let response = |group: &str, version: &str, name: &str| json!({"group": group, "version": version, "kind": name});
    let own = |name: &str| {
        if kind.custom.is_some() {
            response(&kind.group, &kind.version, name)
        } else {
            response("", "", name)
        }
    };
    let mut out = json!({
        "resource": kind.plural,
        "responseKind": own(&kind.kind),
        "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": kind.singular,
        "verbs": kind.verbs(),
    });
    if !kind.short_names.is_empty() {
        out["shortNames"] = json!(kind.short_names);
    }
    if !kind.categories.is_empty() {
        out["categories"] = json!(kind.categories);
    }
    let subs: Vec<Value> = subresources(kind)
        .into_iter()
        .map(|sub| {
            let response = if sub.group.is_empty() {
                own(&sub.kind)
            } else {
                response(sub.group, sub.version, &sub.kind)
            };
            json!({"subresource": sub.name, "responseKind": response, "verbs": sub.verbs})
        })
        .collect();
    if !subs.is_empty() {
        out["subresources"] = json!(subs);
    }
    out
}
