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

/// How often the API server is told again. Without its configuration nothing holds a change, and without
/// its conversion no client of another version is served: whoever deletes the one or installs the other
/// anew is not to leave that for the days until the next certificate. It changes nothing where all is well,
/// so not often: a change that comes in meanwhile is held by the loop.
const TELL_AGAIN: Duration = Duration::from_secs(600);

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
    /// Gets a certificate, shows it, and replaces it when its time comes or another replica has made
    /// another authority, for ever. Releases the handle when the first one is shown; a renewal that
    /// fails is tried again while the old one still has a third of its time.
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
            loop {
                tokio::time::sleep(TELL_AGAIN).await;
                let shelf = Shelf::new(self.connection.client.clone(), &self.namespace);
                let now = self.clock.now();
                let shared = shelf.authority(now).await;
                // Nobody is to be told of an authority that the others do not share any more.
                let replaced = shared.is_ok_and(|it| it.bundle_pem != authority.bundle_pem);
                if replaced || now >= due {
                    break;
                }
                let before = std::mem::take(&mut missing);
                missing = self.tell(&registration, None).await;
                if !missing.is_empty() && missing != before {
                    warn!("not installed, and looked for: {}", missing.join(", "));
                }
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
    use jiff::Timestamp;
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
    async fn a_certificate_is_renewed_in_time_and_what_is_taken_away_is_told_again() {
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
        let mut keeping = std::pin::pin!(upkeep.keep(&shown, handle));
        let said = || -> Vec<String> {
            let mut writes = writes.lock().unwrap();
            let said = writes.iter().map(|w| w.0.clone()).collect();
            writes.retain(|(said, _)| said.contains("secrets"));
            said
        };
        let hooks = "/apis/admissionregistration.k8s.io/v1";
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let all = [
            "POST /api/v1/namespaces/sluice/secrets".to_owned(),
            format!("PATCH {hooks}/validatingwebhookconfigurations/sluice"),
            format!("PATCH {hooks}/mutatingwebhookconfigurations/sluice"),
            format!("PATCH {definitions}/rollouts.rollouts.kruise.io"),
            format!("PATCH {definitions}/batchreleases.rollouts.kruise.io"),
        ];
        let second = Duration::from_secs(1);
        tokio::time::timeout(TELL_AGAIN - second, &mut keeping).await.unwrap_err();
        assert!(readiness.waiting().is_empty());
        assert_eq!(said(), all);
        let first = shown.certificate();
        tokio::time::timeout(2 * second, &mut keeping).await.unwrap_err();
        assert_eq!(said(), all);
        assert_eq!(shown.certificate(), first, "it is told again, and not made again");

        tokio::time::advance(Duration::from_secs(21 * 24 * 3600)).await;
        tokio::time::timeout(second, &mut keeping).await.unwrap_err();
        assert_eq!(said(), all);
        let second_one = shown.certificate();
        assert_ne!(second_one, first, "renewed");

        // Somebody deletes the Secret: what another replica would find is made anew.
        writes.lock().unwrap().clear();
        tokio::time::timeout(TELL_AGAIN, &mut keeping).await.unwrap_err();
        assert_eq!(said(), all);
        assert_ne!(shown.certificate(), second_one, "by the authority that all share");
    }
}
