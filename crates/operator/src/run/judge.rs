//! Plays the authorizer of a real API server, by the roles in manifests: what they don't allow is
//! answered with 403 and written down, and so is what they allow and nobody asked for.

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use http::{Method, StatusCode, header};
use serde_json::{Value, json};
use simcluster::behaviour::View;
use simcluster::object::{Collection, Key};
use simcluster::server::Server;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One verb on one resource that an account was given.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Grant {
    /// `None` is everywhere.
    namespace: Option<String>,
    group: String,
    resource: String,
    verb: String,
    /// `None` is every object.
    name: Option<String>,
}

/// What somebody asks for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Wish {
    /// Empty at the scope of the cluster.
    namespace: String,
    group: String,
    /// With its subresource, as in `pods/eviction`.
    resource: String,
    verb: String,
    /// Empty for a whole collection.
    name: String,
}

impl Grant {
    fn covers(&self, wish: &Wish) -> bool {
        self.namespace.as_ref().is_none_or(|namespace| *namespace == wish.namespace)
            && self.group == wish.group
            && self.resource == wish.resource
            && self.verb == wish.verb
            && self.name.as_ref().is_none_or(|name| *name == wish.name)
    }
}

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    used: BTreeSet<Grant>,
    /// What no grant covers.
    pub(super) refused: BTreeSet<String>,
}

/// The authorizer; clones share what it has seen.
#[derive(Clone)]
pub(super) struct Judge {
    server: Arc<Server>,
    grants: Arc<BTreeSet<Grant>>,
    seen: Arc<Mutex<Seen>>,
}

impl Judge {
    /// By what the manifests grant to their ServiceAccount.
    pub(super) fn by(manifests: &[Value], server: Arc<Server>) -> Self {
        Self { server, grants: Arc::new(granted(manifests)), seen: Arc::default() }
    }

    /// Without everything on one resource.
    pub(super) fn without(mut self, resource: &str) -> Self {
        let kept = self.grants.iter().filter(|grant| grant.resource != resource).cloned();
        self.grants = Arc::new(kept.collect());
        self
    }

    /// Puts itself before a router.
    pub(super) fn before(&self, router: Router) -> Router {
        router.layer(from_fn_with_state(self.clone(), judge))
    }

    pub(super) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was granted and never asked for.
    pub(super) fn unused(&self) -> Vec<String> {
        let seen = self.seen();
        let unused = self.grants.difference(&seen.used);
        // These are no requests: what blocks the deletion of its owner needs them, where the API server is
        // told to look (OwnerReferencesPermissionEnforcement).
        let unused = unused.filter(|grant| !grant.resource.ends_with("/finalizers"));
        unused.map(|grant| format!("{grant:?}")).collect()
    }

    fn allows(&self, wish: &Wish) -> bool {
        let mut seen = self.seen();
        let covering: Vec<&Grant> = self.grants.iter().filter(|one| one.covers(wish)).collect();
        if covering.is_empty() {
            seen.refused.insert(format!("{wish:?}"));
        }
        seen.used.extend(covering.iter().map(|one| (*one).clone()));
        !covering.is_empty()
    }

    fn exists(&self, wish: &Wish) -> bool {
        let collection =
            Collection { group: wish.group.clone().into(), plural: wish.resource.clone().into() };
        let key = Key::new(collection, &wish.namespace, &wish.name);
        self.server.view().get(&key).is_some()
    }
}

async fn judge(State(judge): State<Judge>, request: Request, next: Next) -> Response {
    let Some(wish) = Wish::of(&request) else {
        // What the role system:discovery gives to every authenticated account.
        return next.run(request).await;
    };
    let mut wishes = vec![wish.clone()];
    let kind = request.headers().get(header::CONTENT_TYPE);
    let applies = kind.is_some_and(|kind| kind == "application/apply-patch+yaml");
    // kube-apiserver 1.36, endpoints/handlers/patch.go: an apply that creates is asked about twice.
    if applies && !judge.exists(&wish) {
        wishes.push(Wish { verb: "create".to_owned(), ..wish });
    }
    let refused = wishes.iter().find(|wish| !judge.allows(wish));
    match refused {
        None => next.run(request).await,
        Some(wish) => forbidden(wish),
    }
}

fn forbidden(wish: &Wish) -> Response {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden",
        "code": 403, "message": format!("forbidden: {wish:?}"),
    });
    let mut response = Body::from(status.to_string()).into_response();
    *response.status_mut() = StatusCode::FORBIDDEN;
    response
}

impl Wish {
    /// `None` for what is no resource: `/version`, discovery.
    fn of(request: &Request) -> Option<Self> {
        let parts: Vec<&str> = request.uri().path().trim_matches('/').split('/').collect();
        let (group, rest) = match parts.as_slice() {
            ["api", _version, rest @ ..] => ("", rest),
            ["apis", group, _version, rest @ ..] => (*group, rest),
            _ => return None,
        };
        let (namespace, rest) = match rest {
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (*namespace, rest),
            rest => ("", rest),
        };
        let (resource, name) = match rest {
            [] => return None,
            [resource] => ((*resource).to_owned(), ""),
            [resource, name] => ((*resource).to_owned(), *name),
            [resource, name, sub @ ..] => (format!("{resource}/{}", sub.join("/")), *name),
        };
        let query = request.uri().query().unwrap_or_default();
        let watches = query.split('&').any(|pair| matches!(pair, "watch=true" | "watch=1"));
        let verb = match (request.method(), name) {
            (&Method::GET, _) if watches => "watch",
            (&Method::GET, "") => "list",
            (&Method::GET, _) => "get",
            (&Method::POST, _) => "create",
            (&Method::PUT, _) => "update",
            (&Method::PATCH, _) => "patch",
            (&Method::DELETE, "") => "deletecollection",
            (&Method::DELETE, _) => "delete",
            (other, _) => other.as_str(),
        };
        // A list or a watch of one name is one of that object, to RBAC as well.
        let selected = query.split('&').find_map(|pair| {
            let selector = pair.strip_prefix("fieldSelector=")?;
            selector.strip_prefix("metadata.name%3D").or(selector.strip_prefix("metadata.name="))
        });
        let name = selected.filter(|_| name.is_empty()).unwrap_or(name);
        let [namespace, group, verb, name] = [namespace, group, verb, name].map(str::to_owned);
        Some(Self { namespace, group, resource, verb, name })
    }
}

/// Everything that bindings give to the one ServiceAccount of these manifests.
fn granted(manifests: &[Value]) -> BTreeSet<Grant> {
    let of = |kind: &'static str| manifests.iter().filter(move |one| one["kind"] == kind);
    let account = &of("ServiceAccount").next().expect("an account")["metadata"];
    let mut grants = BTreeSet::new();
    for binding in of("ClusterRoleBinding").chain(of("RoleBinding")) {
        let subjects = binding["subjects"].as_array().into_iter().flatten();
        let mut ours = subjects.filter(|one| {
            one["kind"] == "ServiceAccount"
                && one["name"] == account["name"]
                && one["namespace"] == account["namespace"]
        });
        assert!(ours.next().is_some(), "bound to somebody else: {binding}");
        let refers = &binding["roleRef"];
        let namespace = binding["metadata"]["namespace"].as_str();
        let role = manifests.iter().find(|one| {
            one["kind"] == refers["kind"]
                && one["metadata"]["name"] == refers["name"]
                && one["metadata"]["namespace"].as_str() == namespace
        });
        let role = role.unwrap_or_else(|| panic!("no such role: {refers}"));
        for rule in words(role, "rules") {
            let names: Vec<Option<&Value>> = match &rule["resourceNames"] {
                Value::Array(names) => names.iter().map(Some).collect(),
                _ => vec![None],
            };
            for group in words(rule, "apiGroups") {
                for resource in words(rule, "resources") {
                    for verb in words(rule, "verbs") {
                        for name in &names {
                            grants.insert(Grant {
                                namespace: namespace.map(str::to_owned),
                                group: text(group),
                                resource: text(resource),
                                verb: text(verb),
                                name: name.map(text),
                            });
                        }
                    }
                }
            }
        }
    }
    grants
}

fn words<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value[field].as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
