//! Where a scenario runs: a namespace of its own on some cluster, seen through the Kubernetes API.

use std::future::Future;
use std::time::Duration;

use kube::Client;
use serde_json::{Value, json};
use tokio::time::Instant;

/// How a scenario failed: a sentence, with what was seen.
#[derive(Debug)]
pub enum Failure {
    /// What was claimed is not so. It stands, however busy the machine was.
    Broken(String),
    /// Nothing was seen that may not be, but what was waited for did not come in time, or the server
    /// could not be asked. On a machine that others use as well it may come at a second try.
    Late(String),
}

impl Failure {
    /// The sentence.
    pub fn words(&self) -> &str {
        match self {
            Self::Broken(words) | Self::Late(words) => words,
        }
    }
}

/// What a scenario ends with.
pub type Outcome = Result<(), Failure>;

/// A namespace on a cluster.
#[derive(Clone)]
pub struct Env {
    /// A client that may do all that a scenario does as a user.
    pub client: Client,
    /// The scenario's own namespace.
    pub namespace: String,
    /// Between two looks.
    pub look: Duration,
    /// By how much limits are stretched: 1 in virtual time, more where the machine is shared.
    pub patience: u32,
}

/// A request that the server refused.
#[derive(Debug)]
pub struct Refused {
    /// HTTP status; 0 if there was no answer.
    pub code: u16,
    /// The server's words.
    pub message: String,
}

impl Refused {
    /// Whether the server had no time, and said nothing of what it was asked.
    fn is_overload(&self) -> bool {
        let unavailable = matches!(self.code, 0 | 503 | 504);
        let out_of_time = ["context deadline exceeded", "request timed out", "too many requests"];
        unavailable
            || (matches!(self.code, 429 | 500)
                && out_of_time.iter().any(|words| self.message.to_lowercase().contains(words)))
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        let words = format!("refused with {}: {}", refused.code, refused.message);
        if refused.is_overload() { Self::Late(words) } else { Self::Broken(words) }
    }
}

/// How long something may take, counted in looks at it: while the machine is so busy that a look
/// takes longer than it should, the clock goes slower, down to a third.
#[derive(Debug)]
pub struct Patience {
    limit: Duration,
    left: Duration,
    look: Duration,
    end: Instant,
    last: Instant,
}

impl Patience {
    /// Rests until the next look; `words` say what did not come, when there is none any more.
    pub async fn rest(&mut self, words: impl FnOnce() -> String) -> Outcome {
        let now = Instant::now();
        let passed = now - self.last;
        self.last = now;
        // Twice, for what a look takes on a quiet machine.
        self.left = self.left.saturating_sub(passed.min(2 * self.look));
        if self.left.is_zero() || now >= self.end {
            return Err(Failure::Late(format!("not within {:?}: {}", self.limit, words())));
        }
        tokio::time::sleep(self.look).await;
        Ok(())
    }
}

/// A kind that scenarios work with: the path up to the namespace, and the plural.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind(pub &'static str, pub &'static str);

/// How often something is asked that may be asked again.
const TRIES: u32 = 4;
/// The media type of a server-side apply.
const APPLY: &str = "application/apply-patch+yaml";

/// `StatefulsetRollout`s.
pub const ROLLOUTS: Kind = Kind("/apis/bedrock.operator.slack.com/v1", "statefulsetrollouts");
/// StatefulSets.
pub const SETS: Kind = Kind("/apis/apps/v1", "statefulsets");
/// Deployments.
pub const DEPLOYMENTS: Kind = Kind("/apis/apps/v1", "deployments");
/// DaemonSets.
pub const DAEMONSETS: Kind = Kind("/apis/apps/v1", "daemonsets");
/// Kruise's CloneSets.
pub const CLONESETS: Kind = Kind("/apis/apps.kruise.io/v1alpha1", "clonesets");
/// Kruise's StatefulSets.
pub const ADVANCED_SETS: Kind = Kind("/apis/apps.kruise.io/v1beta1", "statefulsets");
/// Kruise's DaemonSets.
pub const ADVANCED_DAEMONSETS: Kind = Kind("/apis/apps.kruise.io/v1alpha1", "daemonsets");
/// `Rollout`s.
pub const RELEASED: Kind = Kind("/apis/rollouts.kruise.io/v1beta1", "rollouts");
/// `BatchRelease`s.
pub const RELEASES: Kind = Kind("/apis/rollouts.kruise.io/v1beta1", "batchreleases");
/// Pods.
pub const PODS: Kind = Kind("/api/v1", "pods");
/// PodDisruptionBudgets.
pub const BUDGETS: Kind = Kind("/apis/policy/v1", "poddisruptionbudgets");
/// Events of the group events.k8s.io.
pub const EVENTS: Kind = Kind("/apis/events.k8s.io/v1", "events");

impl Env {
    /// A limit in seconds, stretched by the patience of this environment.
    pub fn limit(&self, seconds: u64) -> Duration {
        Duration::from_secs(seconds) * self.patience
    }

    /// What waits for that long at most.
    pub fn patience(&self, limit: Duration) -> Patience {
        let last = Instant::now();
        Patience { limit, left: limit, look: self.look, end: last + 3 * limit, last }
    }

    /// The path of a kind in the scenario's namespace; of its collection when `name` is empty.
    pub fn path(&self, kind: Kind, name: &str) -> String {
        let base = format!("{}/namespaces/{}/{}", kind.0, self.namespace, kind.1);
        if name.is_empty() { base } else { format!("{base}/{name}") }
    }

    /// One request; `content` is the media type of `body`.
    ///
    /// What only reads is sent again when the server could not be asked, or had no time; so is an
    /// apply, which says the same when it is said twice. Any other write is not: it may have been
    /// heard, and whether twice is as good as once is not known here.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        content: &str,
        body: &Value,
    ) -> Result<Value, Refused> {
        let again = method == "GET" || content == APPLY;
        let mut tries = if again { TRIES } else { 1 };
        loop {
            let answer = self.send_once(method, path, content, body).await;
            tries -= 1;
            match answer {
                Err(refused) if tries > 0 && refused.is_overload() => {
                    tokio::time::sleep(4 * self.look).await;
                }
                answer => return answer,
            }
        }
    }

    async fn send_once(
        &self,
        method: &str,
        path: &str,
        content: &str,
        body: &Value,
    ) -> Result<Value, Refused> {
        let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header(http::header::CONTENT_TYPE, content)
            .body(bytes)
            .map_err(|error| Refused { code: 400, message: error.to_string() })?;
        match self.client.request::<Value>(request).await {
            Ok(value) if value["kind"] == "Status" && value["status"] == "Failure" => {
                let code = value["code"].as_u64().and_then(|code| u16::try_from(code).ok());
                let message = value["message"].as_str().unwrap_or_default().to_owned();
                Err(Refused { code: code.unwrap_or(500), message })
            }
            Ok(value) => Ok(value),
            Err(kube::Error::Api(status)) => {
                Err(Refused { code: status.code, message: status.message.clone() })
            }
            Err(error @ (kube::Error::Service(_) | kube::Error::HyperError(_))) => {
                Err(Refused { code: 0, message: error.to_string() })
            }
            // There was an answer, but it is none of Kubernetes'.
            Err(error) => Err(Refused { code: 502, message: error.to_string() }),
        }
    }

    /// POST.
    pub async fn create(&self, kind: Kind, object: &Value) -> Result<Value, Refused> {
        self.send("POST", &self.path(kind, ""), "application/json", object).await
    }

    /// GET.
    pub async fn get(&self, kind: Kind, name: &str) -> Result<Value, Refused> {
        self.send("GET", &self.path(kind, name), "application/json", &Value::Null).await
    }

    /// GET of a list, by label selector; all when it is empty.
    pub async fn list(&self, kind: Kind, selector: &str) -> Result<Vec<Value>, Refused> {
        let path = format!("{}?labelSelector={selector}", self.path(kind, ""));
        let list = self.send("GET", &path, "application/json", &Value::Null).await?;
        Ok(list["items"].as_array().cloned().unwrap_or_default())
    }

    /// Whether an Event of this reason tells of an object of this kind.
    pub async fn is_told(&self, kind: &str, reason: &str) -> Result<bool, Refused> {
        let events = self.list(EVENTS, "").await?;
        let of_it = |event: &&Value| event["regarding"]["kind"] == kind;
        Ok(events.iter().filter(of_it).any(|event| event["reason"] == reason))
    }

    /// A merge patch.
    pub async fn patch(&self, kind: Kind, name: &str, patch: &Value) -> Result<Value, Refused> {
        let content = "application/merge-patch+json";
        self.send("PATCH", &self.path(kind, name), content, patch).await
    }

    /// Server-side apply, as `kubectl apply --server-side --force-conflicts` sends it.
    pub async fn apply(&self, kind: Kind, object: &Value) -> Result<Value, Refused> {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let path = format!("{}?fieldManager=scenario&force=true", self.path(kind, name));
        self.send("PATCH", &path, APPLY, object).await
    }

    /// A change of a subresource (`scale`, `status`, ..) with a patch of the given media type.
    pub async fn patch_sub(
        &self,
        kind: Kind,
        name: &str,
        sub: &str,
        content: &str,
        patch: &Value,
    ) -> Result<Value, Refused> {
        let path = format!("{}/{sub}", self.path(kind, name));
        self.send("PATCH", &path, content, patch).await
    }

    /// POST to a subresource, such as `eviction`.
    pub async fn create_sub(
        &self,
        kind: Kind,
        name: &str,
        sub: &str,
        object: &Value,
    ) -> Result<Value, Refused> {
        let path = format!("{}/{sub}", self.path(kind, name));
        self.send("POST", &path, "application/json", object).await
    }

    /// DELETE.
    pub async fn delete(&self, kind: Kind, name: &str) -> Result<Value, Refused> {
        self.send("DELETE", &self.path(kind, name), "application/json", &json!({})).await
    }

    /// Waits until `what` holds of the object, and returns it.
    pub async fn until(
        &self,
        kind: Kind,
        name: &str,
        limit: Duration,
        claim: &str,
        what: impl Fn(&Value) -> bool,
    ) -> Result<Value, Failure> {
        let mut patience = self.patience(limit);
        loop {
            let object = self.get(kind, name).await;
            if let Ok(object) = &object
                && what(object)
            {
                return Ok(object.clone());
            }
            let seen = || {
                let seen = match &object {
                    Ok(object) => serde_json::to_string_pretty(&object["status"]),
                    Err(refused) => Ok(format!("{refused:?}")),
                };
                format!("{claim}; {name}: {}", seen.unwrap_or_default())
            };
            patience.rest(seen).await?;
        }
    }

    /// Makes sure that `what` holds at every look for that long.
    pub async fn stays<F, W>(&self, span: Duration, claim: &str, what: F) -> Outcome
    where
        F: Fn() -> W,
        W: Future<Output = Result<bool, Failure>>,
    {
        let end = Instant::now() + span;
        while Instant::now() < end {
            ensure(what().await?, || format!("no longer: {claim}"))?;
            tokio::time::sleep(self.look).await;
        }
        Ok(())
    }
}

/// Fails with a sentence unless `holds`.
pub fn ensure(holds: bool, claim: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { Err(Failure::Broken(claim())) }
}

/// Fails unless what was seen is what was wanted.
#[expect(clippy::needless_pass_by_value, reason = "its callers read better")]
pub fn same<S, W>(claim: &str, seen: S, wanted: W) -> Outcome
where
    S: PartialEq<W> + std::fmt::Debug,
    W: std::fmt::Debug,
{
    ensure(seen == wanted, || format!("{claim}: {wanted:?} is right, {seen:?} was seen"))
}

/// Fails unless `text` says each of `words`.
pub fn says(claim: &str, text: &str, words: &[&str]) -> Outcome {
    let missing: Vec<&str> = words.iter().copied().filter(|word| !text.contains(word)).collect();
    ensure(missing.is_empty(), || format!("{claim}: {missing:?} is not said in {text:?}"))
}
