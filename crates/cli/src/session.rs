//! The connection of a command: flags, client, and requests whose failures name object and remedy.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use cluster::chain;
use http::{Method, Request, header};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::Value;

use crate::exit::Failure;

/// Which cluster and which namespace; shared by every command that talks to a cluster.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct Connection {
    /// Kubeconfig of the cluster; without it KUBECONFIG, ~/.kube/config, or the account of the Pod
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,

    /// Context of the kubeconfig; without it the current one
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,

    /// Namespace; without it that of the context
    #[arg(short, long, value_name = "NAME", value_parser = crate::name::namespace)]
    pub(crate) namespace: Option<String>,
}

/// How long one request may take.
const TIME_OUT: Duration = Duration::from_secs(30);

/// A client with the namespace that is meant.
#[derive(Clone)]
pub(crate) struct Session {
    client: Client,
    /// The namespace of `-n`, else of the context.
    pub(crate) namespace: String,
    address: String,
}

impl Connection {
    /// Reads the kubeconfig and makes a client; asks the cluster nothing yet.
    pub(crate) async fn open(&self) -> Result<Session, Failure> {
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
    pub(crate) fn new(client: Client, namespace: &str, address: &str) -> Self {
        Self {
            client,
            namespace: namespace.to_owned(),
            address: address.trim_end_matches('/').to_owned(),
        }
    }

    /// The client under it.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// One object. `object` is what errors call it.
    pub(crate) async fn get(&self, path: &str, object: &str) -> Result<Value, Failure> {
        self.ask(Method::GET, path, None, "get", object).await
    }

    /// One object, or none.
    pub(crate) async fn find(&self, path: &str, object: &str) -> Result<Option<Value>, Failure> {
        match self.get(path, object).await {
            Ok(found) => Ok(Some(found)),
            Err(Failure::NotFound(_)) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// All items of a collection, page by page.
    pub(crate) async fn list(&self, path: &str, object: &str) -> Result<Vec<Value>, Failure> {
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
    pub(crate) async fn create(
        &self,
        path: &str,
        body: &Value,
        object: &str,
    ) -> Result<Value, Failure> {
        let content = ("application/json", body);
        self.ask(Method::POST, path, Some(content), "create", object).await
    }

    /// Merges into an object.
    pub(crate) async fn merge(
        &self,
        path: &str,
        body: &Value,
        object: &str,
    ) -> Result<Value, Failure> {
        let path = format!("{path}?fieldManager=sluice-cli");
        let content = ("application/merge-patch+json", body);
        self.ask(Method::PATCH, &path, Some(content), "patch", object).await
    }

    /// Changes an object by JSON patch.
    pub(crate) async fn patch(
        &self,
        path: &str,
        body: &Value,
        object: &str,
    ) -> Result<Value, Failure> {
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
            Failure::NotServed(format!(
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
        409 => Failure::Conflict(format!(
            "cannot {verb} {object}: somebody else has changed it just now; try again ({words})"
        )),
        429 | 500.. => Failure::Unreachable(format!(
            "cannot {verb} {object}: the cluster at {address} cannot do it now: {words}"
        )),
        _ => Failure::Failed(format!("cannot {verb} {object}: {words}")),
    }
}

/// Escapes what has a meaning in a query.
pub(crate) fn escaped(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::exit::Exit;
    use crate::far_side::FarSide;

    fn status(code: u16, reason: &str, message: &str, details: &Value) -> Value {
        json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
            "reason": reason, "message": message, "details": details})
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_is_told_with_object_and_remedy_and_has_its_code() {
        async fn check(answer: &Value, exit: Exit, says: &[&str]) {
            let session = FarSide::default().with("/x", answer).session();
            let failure = session.get("/x", "pod a/b").await.unwrap_err();
            assert_eq!(failure.exit(), exit, "{failure}");
            for says in says {
                assert!(failure.to_string().contains(says), "{failure}");
            }
        }
        let (none, named) = (json!({}), json!({"name": "b"}));
        check(
            &status(404, "NotFound", "pods \"b\" not found", &named),
            Exit::Absent,
            &["pod a/b does not exist"],
        )
        .await;
        check(
            &status(404, "NotFound", "no such path", &none),
            Exit::Absent,
            &["does not serve this kind", "sluice crds"],
        )
        .await;
        check(
            &status(403, "Forbidden", "user x cannot get", &named),
            Exit::Absent,
            &["cannot get pod a/b", "user x", "permission"],
        )
        .await;
        check(&status(401, "Unauthorized", "Unauthorized", &none), Exit::Absent, &["credentials"])
            .await;
        check(
            &status(409, "Conflict", "modified", &named),
            Exit::Failed,
            &["somebody else", "try again"],
        )
        .await;
        check(
            &status(422, "Invalid", "spec.percent: too large", &named),
            Exit::Failed,
            &["spec.percent"],
        )
        .await;
        check(
            &status(503, "ServiceUnavailable", "etcd", &none),
            Exit::Failed,
            &["cannot do it now", "etcd"],
        )
        .await;
    }

    #[tokio::test]
    async fn a_server_that_is_down_is_told_with_its_address() {
        // A port that was free a moment ago: nobody listens there.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut config = Config::new(format!("http://127.0.0.1:{port}").parse().unwrap());
        config.default_retry = false;
        let client = Client::try_from(config).unwrap();
        let session = Session::new(client, "default", &format!("http://127.0.0.1:{port}/"));
        let failure = session.get("/x", "pod a/b").await.unwrap_err();
        assert_eq!(failure.exit(), Exit::Failed);
        let expect =
            format!("cannot reach the cluster at http://127.0.0.1:{port}: Connection refused");
        assert!(failure.to_string().starts_with(&expect), "{failure}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_is_read_page_by_page() {
        let page = |name: &str, next: &str| json!({"items": [{"n": name}], "metadata": {"continue": next}});
        let pages = [page("a", "t=1"), page("b", "")];
        let items =
            FarSide::default().with_each("/x", &pages).session().list("/x", "xs").await.unwrap();
        assert_eq!(items, [json!({"n": "a"}), json!({"n": "b"})]);
    }

    #[test]
    fn what_has_a_meaning_in_a_query_is_escaped() {
        assert_eq!(escaped("a in (b,c)"), "a%20in%20%28b%2Cc%29");
    }
}
