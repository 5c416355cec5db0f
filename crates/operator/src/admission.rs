//! The admission endpoint: its certificate kept fresh, the API server told of it, requests served.

use crate::Error;
use crate::certificates::{Authority, Serving, Shelf, Shown};
use crate::client::Connection;
use crate::patience::until_it_works;
use crate::ready::Handle;
use crate::registration::{Registration, Way};
use cluster::Clock;
use std::time::Duration;
use tracing::{info, warn};

/// How often the clock is looked at for the next renewal; costs no request.
const LOOK: Duration = Duration::from_secs(3600);
/// How often a definition that is not installed is looked for.
const LOOK_FOR_DEFINITIONS: Duration = Duration::from_secs(60);

/// What is needed to keep a certificate fresh.
pub(crate) struct Upkeep {
    pub(crate) connection: Connection,
    /// Where the authority's Secret is.
    pub(crate) namespace: String,
    pub(crate) way: Way,
    /// The one namespace that is served; `None` for all.
    pub(crate) only: Option<String>,
    pub(crate) clock: Clock,
}

impl Upkeep {
    /// Gets a certificate, shows it, and replaces it when its time comes, for ever. Releases the
    /// handle when the first one is shown; a renewal that fails is tried again while the old one
    /// still has a third of its time.
    ///
    /// # Errors
    /// [`Error::Certificate`] and [`Error::WebhookUrl`], which no waiting mends.
    pub(crate) async fn keep(&self, shown: &Shown, handle: Handle) -> Result<(), Error> {
        let names = self.way.names()?;
        let mut handle = Some(handle);
        loop {
            let (authority, serving) = self.renew(&names, handle.as_ref()).await?;
            let registration =
                Registration::new(&self.way, &authority.bundle_pem, self.only.as_deref());
            let mut missing = self.tell(&registration, handle.as_ref()).await;
            shown.show(&serving);
            let until = serving.validity.until;
            info!("webhook: serving a certificate for {}, good until {until}", names.join(", "));
            if !missing.is_empty() {
                // Whoever has no use for them need not install them.
                warn!("not installed, and looked for: {}", missing.join(", "));
            }
            if let Some(handle) = handle.take() {
                handle.release();
            }
            let due = serving.validity.renew_at().min(authority.validity.renew_at());
            while self.clock.now() < due {
                if missing.is_empty() {
                    tokio::time::sleep(LOOK).await;
                    continue;
                }
                tokio::time::sleep(LOOK_FOR_DEFINITIONS).await;
                missing = self.define(&registration, None).await;
            }
        }
    }

    /// A certificate, and the authority that vouches for it.
    async fn renew(
        &self,
        names: &[String],
        handle: Option<&Handle>,
    ) -> Result<(Authority, Serving), Error> {
        let shelf = Shelf::new(self.connection.client.clone(), &self.namespace);
        let authority = until_it_works(handle, "authority of the webhook", || async {
            shelf.authority(self.clock.now()).await
        })
        .await;
        let serving = authority.issue(names, self.clock.now())?;
        Ok((authority, serving))
    }

    /// The API server is told of the authority before its certificate is shown. Answers with the
    /// definitions that are not installed.
    async fn tell(
        &self,
        registration: &Registration,
        handle: Option<&Handle>,
    ) -> Vec<&'static str> {
        let client = &self.connection.client;
        until_it_works(handle, "webhook configurations sluice", || async {
            registration.apply(client).await
        })
        .await;
        self.define(registration, handle).await
    }

    async fn define(
        &self,
        registration: &Registration,
        handle: Option<&Handle>,
    ) -> Vec<&'static str> {
        let client = &self.connection.client;
        until_it_works(handle, "conversion of custom resources", || async {
            registration.convert(client).await
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ready::Readiness;
    use axum::body::{Body, to_bytes};
    use http::{Method, Request, Response, StatusCode};
    use jiff::{SignedDuration, Timestamp};
    use serde_json::{Value, json};
    use std::sync::{Arc, Mutex};

    /// Every write that reached the API server, as `(method and path, body)`.
    type Writes = Arc<Mutex<Vec<(String, Value)>>>;

    /// An API server that keeps one Secret and takes every write.
    fn connection(writes: Writes) -> Connection {
        let router = axum::Router::new().fallback(move |request: Request<Body>| {
            let writes = writes.clone();
            async move {
                let said = format!("{} {}", request.method(), request.uri().path());
                let reads = request.method() == Method::GET;
                let body = to_bytes(request.into_body(), 1 << 20).await.unwrap();
                let mut writes = writes.lock().unwrap();
                let answer = if reads {
                    writes.iter().rev().find(|(w, _)| w.contains("secrets")).map(|w| w.1.clone())
                } else {
                    let body: Value = serde_json::from_slice(&body).unwrap();
                    writes.push((said, body.clone()));
                    Some(body)
                };
                let absent = json!({
                    "kind": "Status", "apiVersion": "v1", "status": "Failure",
                    "reason": "NotFound", "message": "not found", "code": 404,
                });
                let status = if answer.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
                let body = answer.unwrap_or(absent).to_string();
                Response::builder().status(status).body(Body::from(body)).unwrap()
            }
        });
        Connection {
            client: kube::Client::new(router, "sluice"),
            address: "https://192.0.2.1".to_owned(),
            namespace: "sluice".to_owned(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_certificate_is_renewed_in_time_and_nothing_is_sent_between() {
        let writes = Writes::default();
        let begun: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let upkeep = Upkeep {
            connection: connection(writes.clone()),
            namespace: "sluice".to_owned(),
            way: Way::Url("https://192.0.2.7:9443".to_owned()),
            only: None,
            clock: Clock::starting_at(begun),
        };
        let readiness = Readiness::default();
        let handle = readiness.wait_for("admission");
        let shown = Shown::default();
        let days = |days: i64| Duration::from_secs(days.unsigned_abs() * 24 * 3600);
        let kept = tokio::time::timeout(days(19), upkeep.keep(&shown, handle)).await;
        assert!(kept.is_err(), "{kept:?}");
        assert!(readiness.waiting().is_empty());
        let said: Vec<String> = writes.lock().unwrap().iter().map(|w| w.0.clone()).collect();
        let hooks = "/apis/admissionregistration.k8s.io/v1";
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let first = [
            "POST /api/v1/namespaces/sluice/secrets".to_owned(),
            format!("PATCH {hooks}/validatingwebhookconfigurations/sluice"),
            format!("PATCH {hooks}/mutatingwebhookconfigurations/sluice"),
            format!("PATCH {definitions}/rollouts.rollouts.kruise.io"),
            format!("PATCH {definitions}/batchreleases.rollouts.kruise.io"),
        ];
        assert_eq!(said, first);

        writes.lock().unwrap().retain(|(said, _)| said.contains("secrets"));
        let kept =
            tokio::time::timeout(days(21), upkeep.keep(&shown, readiness.wait_for("admission")));
        assert!(kept.await.is_err());
        let patches = |w: &&(String, Value)| w.0.starts_with("PATCH");
        assert_eq!(writes.lock().unwrap().iter().filter(patches).count(), 8);
        assert!(upkeep.clock.now() >= begun + SignedDuration::from_hours(24 * 40));
    }
}
