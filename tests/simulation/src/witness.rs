//! The witness: sits between an operator and the cluster, writes down every request, and holds each
//! write against the promises by what the store says before and after it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use cluster::Clock;
use jiff::{SignedDuration, Timestamp};
use simcluster::server::Server;

/// How long after a Pod was lost for another reason a cache may not have shown it.
const UNSEEN: SignedDuration = SignedDuration::from_secs(60);

/// Looks at a write after it was done, and says which promises it broke.
pub type Verdict = Box<dyn FnOnce(&Witness) -> Vec<String> + Send>;

/// Looks at a request, by method and path, before it is done; `None` where it breaks no promise.
pub type Judge = fn(&Witness, &str, &str) -> Option<Verdict>;

/// What one witness has seen; clones share it.
#[derive(Clone)]
pub struct Witness {
    /// The cluster.
    pub server: Arc<Server>,
    clock: Clock,
    seen: Arc<Mutex<Seen>>,
    /// Holds writes against the promises, which costs two pictures of all Pods each.
    judge: Option<Judge>,
}

/// What was seen.
#[derive(Debug, Default)]
pub struct Seen {
    /// Every request in order: time, method, path, status.
    pub log: Vec<String>,
    /// How many of each kind.
    pub kinds: BTreeMap<String, u64>,
    /// Promises that were broken.
    pub broken: Vec<String>,
    /// Evictions that were accepted, by UID.
    pub evicted: BTreeMap<String, u32>,
    /// When a Pod was last lost for a reason that is not ours.
    chaos: Option<Timestamp>,
}

impl Witness {
    /// A witness of what is done to `server`; without a judge it only counts.
    pub fn new(server: Arc<Server>, clock: Clock, judge: Option<Judge>) -> Self {
        Self { server, clock, seen: Arc::default(), judge }
    }

    /// Puts the witness before a router.
    pub fn before(&self, router: Router) -> Router {
        router.layer(from_fn_with_state(self.clone(), watch))
    }

    /// Notes that a Pod was lost for a reason that is not ours.
    pub fn chaos(&self) {
        self.seen().chaos = Some(self.clock.now());
    }

    /// What has been seen.
    pub fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing was lost for a reason that is not ours, a minute long.
    pub fn calm(&self) -> bool {
        let now = self.clock.now();
        self.seen().chaos.is_none_or(|at| now.duration_since(at) > UNSEEN)
    }
}

async fn watch(State(witness): State<Witness>, request: Request, next: Next) -> Response {
    let method = request.method().as_str().to_owned();
    let uri = request.uri().clone();
    let path = uri.path().to_owned();
    let verdict = witness.judge.and_then(|judge| judge(&witness, &method, &path));
    let response = next.run(request).await;
    let status = response.status().as_u16();
    let verdict = verdict.filter(|_| response.status().is_success());
    let broken = verdict.map(|verdict| verdict(&witness)).unwrap_or_default();
    let now = witness.clock.now();
    let mut seen = witness.seen();
    seen.log.push(format!("{now} {method} {uri} {status}"));
    seen.broken.extend(broken.into_iter().map(|words| format!("{now} {words}")));
    *seen.kinds.entry(kind(&method, &path, uri.query().unwrap_or_default())).or_default() += 1;
    response
}

/// What a request is, for counting: verb and resource.
fn kind(method: &str, path: &str, query: &str) -> String {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let after_namespace = parts.iter().position(|part| *part == "namespaces").map(|at| at + 2);
    let resource = match after_namespace {
        Some(at) => parts.get(at..).unwrap_or_default(),
        None => parts.get(parts.len().saturating_sub(1)..).unwrap_or_default(),
    };
    let (name, sub) = match resource {
        [name, _, sub, ..] => (*name, format!("/{sub}")),
        [name, ..] => (*name, String::new()),
        [] => ("?", String::new()),
    };
    let verb = match method {
        "GET" if query.contains("watch=") => "watch",
        "GET" if resource.len() < 2 => "list",
        "GET" => "get",
        "POST" => "create",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" => "delete",
        other => other,
    };
    format!("{verb} {name}{sub}")
}
