//! Where a scenario runs: a namespace of its own on some cluster, seen through the Kubernetes API.

use std::future::Future;
use std::time::Duration;

use kube::Client;
use serde_json::{Value, json};
use tokio::time::Instant;

/// How a scenario failed: a sentence, with what was seen.
#[derive(Debug)]
pub struct Failure(pub String);

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
    /// HTTP status.
    pub code: u16,
    /// The server's words.
    pub message: String,
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        Self(format!("refused with {}: {}", refused.code, refused.message))
    }
}

/// A kind that scenarios work with: the path up to the namespace, and the plural.
#[derive(Clone, Copy, Debug)]
pub struct Kind(pub &'static str, pub &'static str);

/// `StatefulsetRollout`s.
pub const ROLLOUTS: Kind = Kind("/apis/bedrock.operator.slack.com/v1", "statefulsetrollouts");
/// StatefulSets.
pub const SETS: Kind = Kind("/apis/apps/v1", "statefulsets");
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

    /// The path of a kind in the scenario's namespace; of its collection when `name` is empty.
    pub fn path(&self, kind: Kind, name: &str) -> String {
        let base = format!("{}/namespaces/{}/{}", kind.0, self.namespace, kind.1);
        if name.is_empty() { base } else { format!("{base}/{name}") }
    }

    /// One request; `content` is the media type of `body`.
    pub async fn send(
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
            .map_err(|error| Refused { code: 0, message: error.to_string() })?;
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
            Err(error) => Err(Refused { code: 0, message: error.to_string() }),
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

    /// A merge patch.
    pub async fn patch(&self, kind: Kind, name: &str, patch: &Value) -> Result<Value, Refused> {
        let content = "application/merge-patch+json";
        self.send("PATCH", &self.path(kind, name), content, patch).await
    }

    /// Server-side apply, as `kubectl apply --server-side --force-conflicts` sends it.
    pub async fn apply(&self, kind: Kind, object: &Value) -> Result<Value, Refused> {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let path = format!("{}?fieldManager=scenario&force=true", self.path(kind, name));
        self.send("PATCH", &path, "application/apply-patch+yaml", object).await
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
        let end = Instant::now() + limit;
        loop {
            let object = self.get(kind, name).await;
            if let Ok(object) = &object
                && what(object)
            {
                return Ok(object.clone());
            }
            if Instant::now() >= end {
                let seen = match object {
                    Ok(object) => serde_json::to_string_pretty(&object["status"]),
                    Err(refused) => Ok(format!("{refused:?}")),
                };
                let seen = seen.unwrap_or_default();
                return Err(Failure(format!("not within {limit:?}: {claim}; {name}: {seen}")));
            }
            tokio::time::sleep(self.look).await;
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
    if holds { Ok(()) } else { Err(Failure(claim())) }
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
