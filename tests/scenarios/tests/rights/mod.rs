//! The operator's account: what `sluice install` would give it, on the embedded cluster.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use operator::manifests::Install;
use serde_json::Value;
use simulation::{Harness, send};

/// Where the harness keeps the operator's Lease.
const HOME: &str = "kube-system";
/// What the account is called.
const ACCOUNT: &str = "sluice";

/// What the account was refused, one request a line.
pub(crate) type Refused = Arc<Mutex<Vec<String>>>;

/// Installs the account with its roles; returns the API server as it is seen by it.
pub(crate) async fn of_the_account(harness: &Harness) -> (Router, Refused) {
    let install = Install {
        namespace: HOME.to_owned(),
        only: None,
        image: operator::manifests::IMAGE.to_owned(),
        crds: false,
    };
    let client = harness.client();
    for object in install.manifests() {
        if let Some(path) = path(&object) {
            send(&client, "POST", &path, &object).await.expect("the cluster takes the manifests");
        }
    }
    seen_by(harness, ACCOUNT)
}

/// The API server as an account sees it.
pub(crate) fn seen_by(harness: &Harness, account: &str) -> (Router, Refused) {
    let bearer = format!("Bearer {}", harness.cluster.token(HOME, account));
    let bearer = HeaderValue::try_from(bearer).expect("a token is printable");
    let refused = Refused::default();
    let heard = Arc::clone(&refused);
    let layer = from_fn(move |mut request: Request, next: Next| {
        request.headers_mut().insert(header::AUTHORIZATION, bearer.clone());
        let heard = Arc::clone(&heard);
        async move { note(next.run(request).await, &heard).await }
    });
    (harness.router().layer(layer), refused)
}

/// The collection of what gives rights; everything else of an installation is left out.
fn path(object: &Value) -> Option<String> {
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
    let (base, plural) = match object["kind"].as_str()? {
        "ServiceAccount" => ("/api/v1", "serviceaccounts"),
        "ClusterRole" => ("/apis/rbac.authorization.k8s.io/v1", "clusterroles"),
        "ClusterRoleBinding" => ("/apis/rbac.authorization.k8s.io/v1", "clusterrolebindings"),
        "Role" => ("/apis/rbac.authorization.k8s.io/v1", "roles"),
        "RoleBinding" => ("/apis/rbac.authorization.k8s.io/v1", "rolebindings"),
        _ => return None,
    };
    Some(if namespace.is_empty() {
        format!("{base}/{plural}")
    } else {
        format!("{base}/namespaces/{namespace}/{plural}")
    })
}

/// Writes a refusal for want of rights down. A 403 has other reasons as well, such as a namespace
/// on its way out.
async fn note(response: Response, heard: &Refused) -> Response {
    if response.status() != StatusCode::FORBIDDEN {
        return response;
    }
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.expect("a Status is short");
    let status: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let message = status["message"].as_str().unwrap_or_default();
    if message.contains(" cannot ") {
        heard.lock().expect("no holder panics").push(message.to_owned());
    }
    Response::from_parts(parts, Body::from(bytes))
}
