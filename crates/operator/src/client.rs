//! The way to the cluster: configuration, client, and waiting for what must be there.

use crate::Error;
use crate::patience::until_it_works;
use crate::ready::Handle;
use cluster::chain;
use http::Request;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use std::path::Path;
use tracing::info;

/// Where discovery lists our resources: answers without any permission of ours.
const DISCOVERY: &str = "/apis/bedrock.operator.slack.com/v1";
const RESOURCE: &str = "statefulsetrollouts";

/// A client, and what is worth telling people about it.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) client: Client,
    /// Address of the API server, for messages.
    pub(crate) address: String,
    /// Namespace of the Pod, or of the kubeconfig's context.
    pub(crate) namespace: String,
}

/// The configuration from `--kubeconfig`, else `KUBECONFIG`, else the Pod's service account, in
/// this order; a file that is named but wrong is an error, never skipped.
///
/// # Errors
/// [`Error::Kubeconfig`] or [`Error::NoCluster`].
pub(crate) async fn configuration(file: Option<&Path>) -> Result<Config, Error> {
    let named = |path: String| {
        move |source: KubeconfigError| Error::Kubeconfig { path, source: Box::new(source) }
    };
    let (path, found) = match file {
        Some(file) => {
            let path = file.display().to_string();
            (path.clone(), Some(Kubeconfig::read_from(file).map_err(named(path))?))
        }
        None => {
            let path = "of KUBECONFIG".to_owned();
            (path.clone(), Kubeconfig::from_env().map_err(named(path))?)
        }
    };
    let mut config = match found {
        Some(kubeconfig) => {
            Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
                .await
                .map_err(named(path))?
        }
        None => Config::incluster().map_err(|error| Error::NoCluster(Box::new(error)))?,
    };
    // It would repeat every request up to fifteen times, POST too, with no word to us.
    config.default_retry = false;
    Ok(config)
}

/// A client; sends nothing yet.
///
/// # Errors
/// [`Error::Client`], for instance for a certificate that can't be read.
pub(crate) fn connect(config: Config) -> Result<Connection, Error> {
    let address = config.cluster_url.to_string().trim_end_matches('/').to_owned();
    let namespace = config.default_namespace.clone();
    let client = Client::try_from(config)
        .map_err(|source| Error::Client { address: address.clone(), source: Box::new(source) })?;
    Ok(Connection { client, address, namespace })
}

/// Waits until the API server answers.
pub(crate) async fn wait_for_server(connection: &Connection, handle: Handle) {
    let Connection { client, address, .. } = connection;
    let version = until_it_works(Some(&handle), "API server", || async {
        client.apiserver_version().await.map_err(|error| format!("{address}: {}", said(&error)))
    })
    .await;
    info!("API server {address}: Kubernetes {}", version.git_version);
    handle.release();
}

/// Waits until our custom resource is served.
pub(crate) async fn wait_for_resource(connection: &Connection, handle: Handle) {
    until_it_works(Some(&handle), "custom resource", || served(connection)).await;
    handle.release();
}

async fn served(connection: &Connection) -> Result<(), String> {
    let Connection { client, address, .. } = connection;
    let missing = || {
        format!(
            "{address} serves no {RESOURCE}.bedrock.operator.slack.com; \
             `sluice crds | kubectl apply -f -` installs it"
        )
    };
    let request = Request::get(DISCOVERY).body(Vec::new()).map_err(|error| error.to_string())?;
    let list: serde_json::Value = match client.request(request).await {
        Ok(list) => list,
        // By the code: for a group that it doesn't know the server answers in plain text.
        Err(kube::Error::Api(status)) if status.code == 404 => return Err(missing()),
        Err(error) => return Err(format!("{address}: {}", said(&error))),
    };
    let resources = list["resources"].as_array().map_or(&[][..], Vec::as_slice);
    let found = resources.iter().any(|resource| resource["name"] == RESOURCE);
    if found { Ok(()) } else { Err(missing()) }
}

/// The server's own words, or those of the connection: kube's would have the whole answer as Rust
/// prints it.
fn said(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) if !status.message.is_empty() => status.message.clone(),
        kube::Error::Service(source) => chain(source.as_ref()),
        other => chain(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ready::Readiness;
    use axum::routing::get;
    use axum::{Json, Router};
    use http::StatusCode;
    use serde_json::json;
    use std::io::Write;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn connection(router: Router) -> Connection {
        Connection {
            client: Client::new(router, "default"),
            address: "https://192.0.2.1:6443".to_owned(),
            namespace: "default".to_owned(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_down_at_the_start_is_waited_for() {
        let tries = Arc::new(AtomicUsize::new(0));
        let counted = tries.clone();
        let router = Router::new().route(
            "/version",
            get(async move || {
                if counted.fetch_add(1, Ordering::SeqCst) < 2 {
                    return Err(StatusCode::SERVICE_UNAVAILABLE);
                }
                Ok(Json(json!({
                    "major": "1", "minor": "36", "gitVersion": "v1.36.3", "gitCommit": "",
                    "gitTreeState": "", "buildDate": "", "goVersion": "", "compiler": "",
                    "platform": "",
                })))
            }),
        );
        let readiness = Readiness::default();
        let handle = readiness.wait_for("API server");
        wait_for_server(&connection(router), handle).await;
        assert_eq!(tries.load(Ordering::SeqCst), 3);
        assert!(readiness.waiting().is_empty());
    }

    #[tokio::test]
    async fn a_missing_crd_is_named_with_its_remedy() {
        async fn check(router: Router, expect: Result<(), &str>) {
            match (served(&connection(router)).await, expect) {
                (Ok(()), Ok(())) => {}
                (Err(said), Err(expect)) => assert!(said.contains(expect), "{said}"),
                (said, expect) => panic!("{said:?}, not {expect:?}"),
            }
        }
        let absent =
            Router::new().fallback(async || (StatusCode::NOT_FOUND, "404 page not found\n"));
        check(absent, Err("`sluice crds | kubectl apply -f -`")).await;
        let list = |name: &'static str| {
            let list = json!({"kind": "APIResourceList", "resources": [{"name": name}]});
            Router::new().route(DISCOVERY, get(async move || Json(list)))
        };
        check(list("bells"), Err("serves no statefulsetrollouts")).await;
        check(list(RESOURCE), Ok(())).await;
    }

    #[tokio::test]
    async fn a_kubeconfig_that_is_named_but_wrong_is_an_error() {
        async fn check(text: Option<&str>, says: &str) {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            let mut path = file.path().to_owned();
            match text {
                Some(text) => file.write_all(text.as_bytes()).unwrap(),
                None => path = path.join("absent"),
            }
            let error = configuration(Some(&path)).await.unwrap_err().to_string();
            assert!(error.contains(path.to_str().unwrap()), "{error}");
            assert!(error.contains(says), "{error}");
        }
        check(None, "").await;
        check(Some("clusters: [broken"), "").await;
        check(Some("apiVersion: v1\nkind: Config\n"), "context").await;
    }

    #[tokio::test]
    async fn requests_are_never_repeated_behind_our_back() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(
            br#"{"apiVersion":"v1","kind":"Config","current-context":"a",
                "contexts":[{"name":"a","context":{"cluster":"c","user":"u","namespace":"n"}}],
                "clusters":[{"name":"c","cluster":{"server":"http://127.0.0.1:1/"}}],
                "users":[{"name":"u","user":{}}]}"#,
        )
        .unwrap();
        let config = configuration(Some(file.path())).await.unwrap();
        assert!(!config.default_retry);
        let connection = connect(config).unwrap();
        assert_eq!(connection.address, "http://127.0.0.1:1");
        assert_eq!(connection.namespace, "n");
    }
}
