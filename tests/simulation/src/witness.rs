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

use crate::facts::{Facts, NAME, is_ready};

/// How long after a Pod was lost for another reason a cache may not have shown it.
const UNSEEN: SignedDuration = SignedDuration::from_secs(60);

/// What one witness has seen; clones share it.
#[derive(Clone)]
pub struct Witness {
    server: Arc<Server>,
    clock: Clock,
    seen: Arc<Mutex<Seen>>,
    /// Whether writes are held against the promises, which costs two pictures of all Pods each.
    judges: bool,
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
    /// A witness of what is done to `server`.
    pub fn new(server: Arc<Server>, clock: Clock) -> Self {
        Self { server, clock, seen: Arc::default(), judges: true }
    }

    /// A witness that only counts.
    pub fn counting(server: Arc<Server>, clock: Clock) -> Self {
        Self { judges: false, ..Self::new(server, clock) }
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

    fn calm(&self) -> bool {
        let now = self.clock.now();
        self.seen().chaos.is_none_or(|at| now.duration_since(at) > UNSEEN)
    }

    fn judge(&self, deed: &Deed, before: &Facts, after: &Facts) -> Vec<String> {
        let mut broken = Vec::new();
        match deed {
            Deed::Evict(name) => {
                let victim = before.pod(name);
                let standing =
                    victim.is_some_and(|pod| pod["metadata"]["deletionTimestamp"].is_null());
                if !standing {
                    return broken;
                }
                let uid = victim.map(|pod| pod["metadata"]["uid"].to_string()).unwrap_or_default();
                *self.seen().evicted.entry(uid).or_default() += 1;
                if victim.is_some_and(is_ready) {
                    broken.extend(self.budget(name, after));
                }
                broken.extend(self.asked_for(name, before, after));
            }
            Deed::WriteSet => {
                let opened = after.open() > before.open();
                let room = before
                    .desired_healthy()
                    .map(|desired| before.healthy().saturating_sub(desired));
                if opened && room.is_some_and(|room| after.open() > room) {
                    broken.push(format!(
                        "budget: {} ready Pods opened with room for {room:?}",
                        after.open()
                    ));
                }
                if after.moved() > before.moved() && after.set["metadata"]["generation"] != 1 {
                    // Scaling is applied in a pause too, and new Pods come as they come.
                    let of = |facts: &Facts, field: &str| facts.set["spec"][field].clone();
                    let same =
                        ["template", "replicas"].iter().all(|f| of(before, f) == of(after, f));
                    if same {
                        broken.extend(self.asked_for("a partition", before, after));
                    }
                }
            }
            Deed::WriteStatus => broken.extend(self.truth(before, after)),
        }
        broken
    }

    fn budget(&self, name: &str, after: &Facts) -> Option<String> {
        let desired = after.desired_healthy()?;
        let healthy = after.healthy();
        (healthy < desired)
            .then(|| format!("budget: {healthy} healthy after evicting {name}, {desired} wanted"))
    }

    /// The target and the pause.
    fn asked_for(&self, what: &str, before: &Facts, after: &Facts) -> Vec<String> {
        let mut broken = Vec::new();
        if !before.is_observed() {
            return broken;
        }
        if before.rollout["spec"]["pauseRequested"] == true {
            let set = |facts: &Facts| {
                let spec = &facts.set["spec"];
                let (moved, all) = (facts.moved(), facts.pods.len());
                format!("{} of {} {moved}/{all}", spec["updateStrategy"], spec["replicas"])
            };
            broken.push(format!(
                "pause: {what} was disturbed in a pause: {} to {}",
                set(before),
                set(after)
            ));
        }
        let (moved, target) = (after.moved(), after.target());
        if self.calm() && moved > target && moved > before.moved() {
            broken.push(format!("target: {moved} Pods moved, {target} asked for, by {what}"));
        }
        broken
    }

    fn truth(&self, before: &Facts, after: &Facts) -> Option<String> {
        let turned = after.phase() == "RolloutDone" && before.phase() != "RolloutDone";
        if !turned || !after.is_observed() || !self.calm() {
            return None;
        }
        let (good, target) = (after.good(), after.target());
        (good < target).then(|| format!("truth: RolloutDone with {good} good Pods of {target}"))
    }
}

enum Deed {
    Evict(String),
    WriteSet,
    WriteStatus,
}

impl Deed {
    fn of(method: &str, path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        match (method, parts.as_slice()) {
            ("POST", [.., "pods", name, "eviction"]) | ("DELETE", [.., "pods", name]) => {
                Some(Self::Evict((*name).to_owned()))
            }
            ("PATCH", [.., "statefulsets", NAME]) => Some(Self::WriteSet),
            ("PUT" | "PATCH", [.., "statefulsetrollouts", NAME, "status"]) => {
                Some(Self::WriteStatus)
            }
            _ => None,
        }
    }
}

async fn watch(State(witness): State<Witness>, request: Request, next: Next) -> Response {
    let method = request.method().as_str().to_owned();
    let uri = request.uri().clone();
    let path = uri.path().to_owned();
    let deed = Deed::of(&method, &path).filter(|_| witness.judges);
    let before = deed.as_ref().map(|_| Facts::read(&witness.server));
    let response = next.run(request).await;
    let status = response.status().as_u16();
    let broken = match (&deed, &before) {
        (Some(deed), Some(before)) if response.status().is_success() => {
            witness.judge(deed, before, &Facts::read(&witness.server))
        }
        _ => Vec::new(),
    };
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
