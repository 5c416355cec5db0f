//! Where the authority is kept: one Secret for all replicas, so that the API server trusts each.

use super::{Authority, Validity};
use crate::Error;
use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, PostParams};
use std::collections::BTreeMap;
use tracing::{info, warn};

/// The Secret's name, in the operator's namespace.
pub(crate) const SECRET: &str = "sluice-webhook-authority";

const CERTIFICATE: &str = "ca.crt";
const KEY: &str = "ca.key";
const BUNDLE: &str = "bundle.crt";
const FROM: &str = "from";
const UNTIL: &str = "until";

/// The place of the authority in the cluster.
#[derive(Debug, Clone)]
pub(crate) struct Shelf {
    secrets: Api<Secret>,
}

/// Why the authority couldn't be had; tried again by the caller.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShelfError {
    #[error("secret {SECRET}: {0}; the operator's role must allow get, create and update")]
    Request(#[from] Box<kube::Error>),
    #[error(transparent)]
    Certificate(#[from] Error),
    #[error("secret {SECRET}: another replica was faster")]
    Outrun,
}

impl Shelf {
    pub(crate) fn new(client: kube::Client, namespace: &str) -> Self {
        Self { secrets: Api::namespaced(client, namespace) }
    }

    /// The authority that all replicas share; makes it when there is none, or none that is readable,
    /// and its successor when its time comes.
    ///
    /// # Errors
    /// [`ShelfError::Outrun`] when another replica wrote at the same time: look again.
    pub(crate) async fn authority(&self, now: Timestamp) -> Result<Authority, ShelfError> {
        let Some(found) = self.secrets.get_opt(SECRET).await.map_err(Box::new)? else {
            let authority = Authority::create(now)?;
            info!("secret {SECRET}: created, with a new authority for the webhook");
            return self.put(&authority, None).await;
        };
        let version = found.metadata.resource_version.clone();
        let next = match read(&found) {
            Some(authority) if now < authority.validity.renew_at() => return Ok(authority),
            Some(ageing) => ageing.succeed(now)?,
            None => {
                warn!("secret {SECRET}: holds no authority that can be read; replacing it");
                Authority::create(now)?
            }
        };
        self.put(&next, version).await
    }

    async fn put(
        &self,
        authority: &Authority,
        over: Option<String>,
    ) -> Result<Authority, ShelfError> {
        let secret = written(authority, over.clone());
        let parameters = PostParams::default();
        let answer = match over {
            None => self.secrets.create(&parameters, &secret).await,
            Some(_) => self.secrets.replace(SECRET, &parameters, &secret).await,
        };
        match answer {
            Ok(_) => Ok(authority.clone()),
            Err(kube::Error::Api(status)) if status.is_already_exists() || status.is_conflict() => {
                Err(ShelfError::Outrun)
            }
            Err(error) => Err(Box::new(error).into()),
        }
    }
}

fn written(authority: &Authority, resource_version: Option<String>) -> Secret {
    let mut secret = Secret::default();
    secret.metadata.name = Some(SECRET.to_owned());
    secret.metadata.resource_version = resource_version;
    secret.type_ = Some("Opaque".to_owned());
    let entries = [
        (CERTIFICATE, authority.certificate_pem.clone()),
        (KEY, authority.key_pem.clone()),
        (BUNDLE, authority.bundle_pem.clone()),
        (FROM, authority.validity.from.to_string()),
        (UNTIL, authority.validity.until.to_string()),
    ];
    let data: BTreeMap<String, ByteString> =
        entries.map(|(key, text)| (key.to_owned(), ByteString(text.into_bytes()))).into();
    secret.data = Some(data);
    secret
}

/// `None` when an entry is missing or makes no sense.
fn read(secret: &Secret) -> Option<Authority> {
    let entry = |key: &str| {
        let ByteString(bytes) = secret.data.as_ref()?.get(key)?;
        String::from_utf8(bytes.clone()).ok()
    };
    let key_pem = entry(KEY)?;
    rcgen::KeyPair::from_pem(&key_pem).ok()?;
    Some(Authority {
        certificate_pem: entry(CERTIFICATE)?,
        key_pem,
        bundle_pem: entry(BUNDLE)?,
        validity: Validity { from: entry(FROM)?.parse().ok()?, until: entry(UNTIL)?.parse().ok()? },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use http::{Method, Request, Response, StatusCode};
    use jiff::SignedDuration;
    use std::sync::{Arc, Mutex};

    const NOW: &str = "2026-01-01T00:00:00Z";

    fn now() -> Timestamp {
        NOW.parse().unwrap()
    }

    /// An API server of one Secret.
    fn shelf(kept: Arc<Mutex<Option<Secret>>>) -> Shelf {
        let router = axum::Router::new().fallback(move |request: Request<Body>| {
            let kept = kept.clone();
            async move {
                let method = request.method().clone();
                let body = axum::body::to_bytes(request.into_body(), 1 << 20).await.unwrap();
                let mut kept = kept.lock().unwrap();
                let status = match method {
                    Method::GET if kept.is_none() => StatusCode::NOT_FOUND,
                    Method::GET => StatusCode::OK,
                    Method::POST if kept.is_some() => StatusCode::CONFLICT,
                    _ => {
                        let mut secret: Secret = serde_json::from_slice(&body).unwrap();
                        if secret.metadata.resource_version
                            != kept.as_ref().and_then(|k| k.metadata.resource_version.clone())
                        {
                            return answer(StatusCode::CONFLICT, "Conflict".into());
                        }
                        let version =
                            secret.metadata.resource_version.map_or(1, |v| v.parse().unwrap()) + 1;
                        secret.metadata.resource_version = Some(format!("{version}"));
                        *kept = Some(secret);
                        StatusCode::OK
                    }
                };
                if status == StatusCode::OK {
                    return answer(status, serde_json::to_value(&*kept).unwrap());
                }
                answer(status, "refused".into())
            }
        });
        Shelf::new(kube::Client::new(router, "sluice"), "sluice")
    }

    fn answer(status: StatusCode, body: serde_json::Value) -> Response<Body> {
        let body = if status == StatusCode::OK {
            body
        } else {
            let reason = match status {
                StatusCode::NOT_FOUND => "NotFound",
                _ => "AlreadyExists",
            };
            serde_json::json!({
                "kind": "Status", "apiVersion": "v1", "status": "Failure",
                "reason": reason, "message": body, "code": status.as_u16(),
            })
        };
        Response::builder().status(status).body(Body::from(body.to_string())).unwrap()
    }

    #[tokio::test]
    async fn two_replicas_share_one_authority() {
        let kept = Arc::default();
        let first = shelf(Arc::clone(&kept)).authority(now()).await.unwrap();
        let second = shelf(kept).authority(now()).await.unwrap();
        assert_eq!(first, second);
    }

    #[tokio::test]
    async fn an_ageing_authority_is_succeeded_and_stays_trusted() {
        let kept = Arc::default();
        let first = shelf(Arc::clone(&kept)).authority(now()).await.unwrap();
        let later = now() + SignedDuration::from_hours(24 * 365 * 7);
        let second = shelf(Arc::clone(&kept)).authority(later).await.unwrap();
        assert_ne!(first.certificate_pem, second.certificate_pem);
        assert!(second.bundle_pem.contains(&first.certificate_pem));
        assert!(second.bundle_pem.contains(&second.certificate_pem));
        assert_eq!(shelf(kept).authority(later).await.unwrap(), second);
    }

    #[tokio::test]
    async fn a_damaged_secret_is_replaced() {
        let kept: Arc<Mutex<Option<Secret>>> = Arc::default();
        let first = shelf(Arc::clone(&kept)).authority(now()).await.unwrap();
        for key in [CERTIFICATE, KEY, BUNDLE, FROM, UNTIL] {
            let mut damaged = kept.lock().unwrap().clone().unwrap();
            damaged.data.as_mut().unwrap().remove(key);
            assert_eq!(read(&damaged), None, "{key}");
            *kept.lock().unwrap() = Some(damaged);
            let next = shelf(Arc::clone(&kept)).authority(now()).await.unwrap();
            assert_ne!(next.key_pem, first.key_pem, "{key}");
        }
    }

    #[tokio::test]
    async fn of_two_that_create_at_once_one_looks_again() {
        let kept: Arc<Mutex<Option<Secret>>> = Arc::default();
        let late = Authority::create(now()).unwrap();
        let first = shelf(Arc::clone(&kept)).authority(now()).await.unwrap();
        let error = shelf(Arc::clone(&kept)).put(&late, None).await.unwrap_err();
        assert!(matches!(error, ShelfError::Outrun), "{error}");
        assert_eq!(shelf(kept).authority(now()).await.unwrap(), first);
    }
}
