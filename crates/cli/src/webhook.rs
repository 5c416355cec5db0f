//! How the embedded cluster calls admission webhooks: by HTTPS, with the authority that the webhook's
//! configuration names. Services inside of the cluster cannot be reached: there are no networks.

use std::sync::Arc;
use std::time::Duration;

use cluster::chain;
use futures::FutureExt;
use http::{Request, header};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::json;
use simcluster::admission::{WebhookCall, WebhookCaller};
use simcluster::json::Value;

/// The API server's own limit, when a configuration names none.
const TIME_OUT: Duration = Duration::from_secs(10);

/// Carries calls out.
pub(crate) fn caller() -> WebhookCaller {
    Arc::new(|call| {
        async move {
            let answered = tokio::time::timeout(TIME_OUT, answer(&call)).await;
            answered.unwrap_or_else(|_| Err(format!("no answer within {} s", TIME_OUT.as_secs())))
        }
        .boxed()
    })
}

async fn answer(call: &WebhookCall) -> Result<Value, String> {
    let Some(url) = &call.url else {
        return Err(
            "no network leads to a Service of the embedded cluster; use clientConfig.url".into()
        );
    };
    let (server, path) = split(url)?;
    let client = client(server, &call.ca_bundle).await?;
    let request = Request::post(path)
        .header(header::CONTENT_TYPE, "application/json")
        .body(call.review.to_string().into_bytes())
        .map_err(|error| error.to_string())?;
    client.request(request).await.map_err(|error| chain(&error))
}

/// A URL in its server and its path.
fn split(url: &str) -> Result<(&str, &str), String> {
    let host = url.strip_prefix("https://").ok_or_else(|| format!("{url} is not https"))?;
    let end = host.find('/').unwrap_or(host.len()) + "https://".len();
    let path = &url[end..];
    Ok((&url[..end], if path.is_empty() { "/" } else { path }))
}

/// A client that trusts one authority. kube's own reading of a kubeconfig decodes it.
async fn client(server: &str, ca_bundle: &str) -> Result<Client, String> {
    let mut cluster = json!({"server": server});
    if !ca_bundle.is_empty() {
        cluster["certificate-authority-data"] = json!(ca_bundle);
    }
    let kubeconfig = json!({
        "current-context": "webhook",
        "clusters": [{"name": "webhook", "cluster": cluster}],
        "users": [{"name": "webhook", "user": {}}],
        "contexts": [{"name": "webhook", "context": {"cluster": "webhook", "user": "webhook"}}],
    });
    let kubeconfig: Kubeconfig =
        serde_json::from_value(kubeconfig).map_err(|error| error.to_string())?;
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options)
        .await
        .map_err(|error| chain(&error))?;
    config.default_retry = false;
    Client::try_from(config).map_err(|error| chain(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_split_into_server_and_path() {
        fn check(url: &str, expect: Option<(&str, &str)>) {
            assert_eq!(split(url).ok(), expect, "{url}");
        }
        check("https://127.0.0.1:9443/admit?a=b", Some(("https://127.0.0.1:9443", "/admit?a=b")));
        check("https://[::1]:9443", Some(("https://[::1]:9443", "/")));
        check("http://127.0.0.1/admit", None);
    }
}
