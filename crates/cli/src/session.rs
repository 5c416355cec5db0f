//! The connection of a command: flags, client, and requests whose failures name object and remedy.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use http::{Method, Request, header};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::Value;

use crate::exit::Failure;

/// Which cluster and which namespace; shared by every command that talks to a cluster.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Cluster")]
pub struct Connection {
    /// Kubeconfig of the cluster; without it KUBECONFIG, ~/.kube/config, or the account of the Pod
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// Context of the kubeconfig; without it the current one
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,

    /// Namespace; without it that of the context
    #[arg(short, long, value_name = "NAME", value_parser = crate::name::object)]
    pub namespace: Option<String>,
}

/// How long one request may take.
const TIME_OUT: Duration = Duration::from_secs(30);

/// A client with the namespace that is meant.
#[derive(Clone)]
pub struct Session {
    client: Client,
    /// The namespace of `-n`, else of the context.
    pub namespace: String,
    address: String,
}

impl Connection {
    /// Reads the kubeconfig and makes a client; asks the cluster nothing yet.
    pub async fn open(&self) -> Result<Session, Failure> {
        let mut config = self.config().await?;
        // A retry is the business of whoever waits; a command that does not wait says at once.
        config.default_retry = false;
        config.connect_timeout = Some(Duration::from_secs(5));
        if let Some(namespace) = &self.namespace {
            config.default_namespace.clone_from(namespace);
        }
        let (address, namespace) =
            (config.cluster_url.to_string(), config.default_namespace.clone());
        let client = Client::try_from(config).map_err(|error| {
            Failure::Failed(format!("cannot make a client for {address}: {}", chain(&error)))
        })?;
        Ok(Session::new(client, &namespace, &address))
    }

    async fn config(&self) -> Result<Config, Failure> {
        let options = KubeConfigOptions { context: self.context.clone(), ..Default::default() };
        let (from, read) = match &self.kubeconfig {
            Some(path) => (path.display().to_string(), Kubeconfig::read_from(path)),
            None if self.context.is_none() => {
                return Config::infer().await.map_err(|error| {
                    Failure::Failed(format!(
                        "no cluster: give --kubeconfig FILE, or set KUBECONFIG ({})",
                        chain(&error)
                    ))
                });
            }
            None => ("KUBECONFIG".to_owned(), Kubeconfig::read()),
        };
        let wrong = |error: &dyn std::error::Error| {
            Failure::Failed(format!("kubeconfig {from}: {}", chain(error)))
        };
        let kubeconfig = read.map_err(|error| wrong(&error))?;
        if let Some(context) = &self.context
            && !kubeconfig.contexts.iter().any(|named| named.name == *context)
        {
            let names: Vec<&str> =
                kubeconfig.contexts.iter().map(|named| named.name.as_str()).collect();
            return Err(Failure::Failed(format!(
                "kubeconfig {from}: there is no context {context:?}; it has {}",
                if names.is_empty() { "none".to_owned() } else { names.join(", ") }
            )));
        }
        Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(|error| wrong(&error))
    }
}

impl Session {
    /// A session over a client that is there already.
    pub fn new(client: Client, namespace: &str, address: &str) -> Self {
        Self {
            client,
            namespace: namespace.to_owned(),
            address: address.trim_end_matches('/').to_owned(),
        }
    }

    /// The client under it.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// One object. `object` is what errors call it.
    pub async fn get(&self, path: &str, object: &str) -> Result<Value, Failure> {
        self.ask(Method::GET, path, None, "get", object).await
    }

    /// One object, or none.
    pub async fn find(&self, path: &str, object: &str) -> Result<Option<Value>, Failure> {
        match self.get(path, object).await {
            Ok(found) => Ok(Some(found)),
            Err(Failure::NotFound(_)) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// All items of a collection, page by page.
    pub async fn list(&self, path: &str, object: &str) -> Result<Vec<Value>, Failure> {
        let mut items = Vec::new();
        let mut next = String::new();
        loop {
            let mark = if path.contains('?') { '&' } else { '?' };
            let page = format!("{path}{mark}limit=500{next}");
            let mut page = self.ask(Method::GET, &page, None, "list", object).await?;
            if let Some(Value::Array(more)) = page.get_mut("items").map(Value::take) {
                items.extend(more);
            }
            match page["metadata"]["continue"].as_str().filter(|token| !token.is_empty()) {
                Some(token) => next = format!("&continue={}", escaped(token)),
                None => return Ok(items),
            }
        }
    }

    /// Sends a new object; `field_manager` signs it.
    pub async fn create(&self, path: &str, body: &Value, object: &str) -> Result<Value, Failure> {
        let content = ("application/json", body);
        self.ask(Method::POST, path, Some(content), "create", object).await
    }

    /// Merges into an object.
    pub async fn merge(&self, path: &str, body: &Value, object: &str) -> Result<Value, Failure> {
        let path = format!("{path}?fieldManager=sluice-cli");
        let content = ("application/merge-patch+json", body);
        self.ask(Method::PATCH, &path, Some(content), "patch", object).await
    }

    /// Changes an object by JSON patch.
    pub async fn patch(&self, path: &str, body: &Value, object: &str) -> Result<Value, Failure> {
        let path = format!("{path}?fieldManager=sluice-cli");
        let content = ("application/json-patch+json", body);
        self.ask(Method::PATCH, &path, Some(content), "patch", object).await
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        content: Option<(&str, &Value)>,
        verb: &str,
        object: &str,
    ) -> Result<Value, Failure> {
        let mut request =
            Request::builder().method(method).uri(path).header(header::ACCEPT, "application/json");
        let mut bytes = Vec::new();
        if let Some((kind, body)) = content {
            request = request.header(header::CONTENT_TYPE, kind);
            bytes = body.to_string().into_bytes();
        }
        let request = request.body(bytes).map_err(|error| {
            Failure::Usage(format!("{object}: no name can be like this: {error}"))
        })?;
        let lost = |why: String| {
            Failure::Unreachable(format!(
                "cannot reach the cluster at {}: {why}; is it running, and do --kubeconfig and \
                 --context name the right one?",
                self.address
            ))
        };
        match tokio::time::timeout(TIME_OUT, self.client.request_text(request)).await {
            Err(_) => Err(lost(format!("no answer within {} s", TIME_OUT.as_secs()))),
            Ok(Ok(text)) => serde_json::from_str(&text)
                .map_err(|error| lost(format!("the answer about {object} is no JSON ({error})"))),
            Ok(Err(kube::Error::Api(status))) => Err(refused(&status, verb, object, &self.address)),
            Ok(Err(error)) => Err(lost(root(&error))),
        }
    }
}

/// What an answer that is no success means.
fn refused(status: &kube::core::Status, verb: &str, object: &str, address: &str) -> Failure {
    let words = status.message.trim();
    match status.code {
        // Without details it is the path that is unknown, and not the object.
        404 if status.details.as_ref().is_none_or(|details| details.name.is_empty()) => {
            Failure::NotFound(format!(
                "cannot {verb} {object}: the cluster at {address} does not serve this kind; install \
                 it with `sluice crds | kubectl apply -f -`"
            ))
        }
        404 => Failure::NotFound(format!("{object} does not exist: {words}")),
        401 => Failure::Forbidden(format!(
            "cannot {verb} {object}: the cluster at {address} does not accept the credentials of \
             the kubeconfig ({words})"
        )),
        403 => Failure::Forbidden(format!(
            "cannot {verb} {object}: {words}; ask whoever runs the cluster for this permission"
        )),
        409 => Failure::Failed(format!(
            "cannot {verb} {object}: somebody else has changed it just now; try again ({words})"
        )),
        429 | 500.. => Failure::Unreachable(format!(
            "cannot {verb} {object}: the cluster at {address} cannot do it now: {words}"
        )),
        _ => Failure::Failed(format!("cannot {verb} {object}: {words}")),
    }
}

/// Escapes what has a meaning in a query.
pub fn escaped(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(byte);
    text.bytes().fold(String::new(), |mut all, byte| {
        if plain(&byte) {
            all.push(char::from(byte));
        } else {
            all.push_str(&format!("%{byte:02X}"));
        }
        all
    })
}

/// The innermost cause: of a lost connection, the outer layers say only that it is lost.
fn root(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

/// An error with all that is behind it, since the outer layers of a connection error say nothing.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        next = cause.source();
    }
    text
}
