//! The admission endpoint: its certificate kept fresh, the API server told of it, requests served.

use crate::Error;
use crate::certificates::{Authority, Serving, Shelf, Shown};
use crate::client::Connection;
use crate::patience::until_it_works;
use crate::ready::Handle;
use crate::registration::{Registration, Told, Way};
use crate::standing::Standing;
use cluster::Clock;
use jiff::Timestamp;
use std::time::Duration;
use tracing::{info, warn};

/// How long it is slept at once until a certificate is due: a machine may stand still, and its clock go on.
const NAP: Duration = Duration::from_secs(3600);

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
    /// another authority, for ever; what the API server was told is told again when it does not stand any more.
    /// Releases the handle when the first one is shown; a renewal that fails is tried again while the old one
    /// still has a third of its time.
    ///
    /// # Errors
    /// [`Error::Certificate`] and [`Error::WebhookUrl`], which no waiting mends.
    pub(crate) async fn keep(&self, shown: &Shown, handle: Handle) -> Result<(), Error> {
        let names = self.way.names()?;
        let mut handle = Some(handle);
        let mut standing = Standing::new(&self.connection.client);
        loop {
            let (authority, serving) = self.renew(&names, handle.as_ref()).await?;
            let registration =
                Registration::new(&self.way, &authority.bundle_pem, self.only.as_deref());
            let mut told = self.tell(&registration, handle.as_ref()).await;
            shown.show(&serving);
            let until = serving.validity.until;
            info!("webhook: serving a certificate for {}, good until {until}", names.join(", "));
            let missing: Vec<&str> = missing(&told).collect();
            if !missing.is_empty() {
                // Whoever has no use for them need not install them.
                warn!("not installed, and looked for: {}", missing.join(", "));
            }
            if let Some(handle) = handle.take() {
                handle.release();
            }
            let due = serving.validity.renew_at().min(authority.validity.renew_at());
            while let Some(thing) = self.until_altered(&mut standing, &told, due).await {
                let shelf = Shelf::new(self.connection.client.clone(), &self.namespace);
                let shared = shelf.authority(self.clock.now()).await;
                // Nobody is to be told of an authority that the others do not share any more.
                if shared.is_ok_and(|it| it.bundle_pem != authority.bundle_pem) {
                    break;
                }
                info!("webhook: {thing} is not as it was told, and is told again");
                told = self.tell(&registration, None).await;
            }
        }
    }

    /// What does not stand as it was told, as soon as something does not; `None` when a certificate is due.
    async fn until_altered(
        &self,
        standing: &mut Standing,
        told: &Told,
        due: Timestamp,
    ) -> Option<&'static str> {
        let altered = standing.altered(told);
        tokio::pin!(altered);
        loop {
            let left = Duration::try_from(due.duration_since(self.clock.now())).unwrap_or_default();
            if left.is_zero() {
                return None;
            }
            tokio::select! {
                biased;
                thing = &mut altered => return Some(thing),
                () = tokio::time::sleep(left.min(NAP)) => {}
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

    /// The API server is told of the authority before its certificate is shown.
    async fn tell(&self, registration: &Registration, handle: Option<&Handle>) -> Told {
        let client = &self.connection.client;
        let mut told = until_it_works(handle, "webhook configurations sluice", || async {
            registration.apply(client).await
        })
        .await;
        let converted = until_it_works(handle, "conversion of custom resources", || async {
            registration.convert(client).await
        })
        .await;
        told.extend(converted);
        told
    }
}

/// The definitions that are not installed.
fn missing(told: &Told) -> impl Iterator<Item = &'static str> {
    told.iter().filter(|(_, version)| version.is_none()).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ready::Readiness;
    use axum::extract::Request;
    use axum::middleware::{Next, from_fn};
    use kube::Client;
    use serde_json::{Value, json};
    use simcluster::cluster::{Options, SimCluster};
    use std::sync::{Arc, Mutex};

    const HOOKS: &str = "/apis/admissionregistration.k8s.io/v1";
    const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const SECRET: &str = "/api/v1/namespaces/default/secrets/sluice-webhook-authority";

    /// A cluster with our definitions, and what is asked of it by the operator, lists and watches apart.
    struct Stage {
        upkeep: Upkeep,
        user: Client,
        asked: Arc<Mutex<Vec<String>>>,
    }

    impl Stage {
        async fn set() -> Self {
            let clock = Clock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
            let time = clock.clone();
            let cluster = SimCluster::new(Options::new(1, Arc::new(move || time.now())));
            tokio::spawn(cluster.drive());
            let asked = Arc::<Mutex<Vec<String>>>::default();
            let heard = asked.clone();
            let listens = from_fn(move |request: Request, next: Next| {
                let words = format!("{} {}", request.method(), request.uri().path());
                if !request.uri().query().is_some_and(|it| it.contains("fieldSelector")) {
                    heard.lock().unwrap().push(words);
                }
                next.run(request)
            });
            let client = Client::new(cluster.router().layer(listens), "default");
            let connection = Connection {
                client,
                address: "https://192.0.2.1".to_owned(),
                namespace: "default".to_owned(),
            };
            let upkeep = Upkeep {
                connection,
                namespace: "default".to_owned(),
                way: Way::Url("https://192.0.2.7:9443".to_owned()),
                only: None,
                clock,
            };
            let stage = Self { upkeep, user: Client::new(cluster.router(), "default"), asked };
            for crd in api::crds() {
                stage.send("POST", DEFINITIONS, &json!(crd)).await;
            }
            stage
        }

        async fn send(&self, method: &str, path: &str, body: &Value) -> Value {
            let content = match method {
                "PATCH" => "application/merge-patch+json",
                _ => "application/json",
            };
            let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
            let request = http::Request::builder().method(method).uri(path);
            let request = request.header(http::header::CONTENT_TYPE, content).body(bytes).unwrap();
            let answer = self.user.request::<Value>(request).await;
            answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
        }

        fn asked(&self) -> Vec<String> {
            std::mem::take(&mut *self.asked.lock().unwrap())
        }
    }

    /// All that the API server is told.
    fn told() -> Vec<String> {
        vec![
            format!("PATCH {HOOKS}/validatingwebhookconfigurations/sluice"),
            format!("PATCH {HOOKS}/mutatingwebhookconfigurations/sluice"),
            format!("PATCH {DEFINITIONS}/rollouts.rollouts.kruise.io"),
            format!("PATCH {DEFINITIONS}/batchreleases.rollouts.kruise.io"),
        ]
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_taken_away_or_altered_is_told_again_at_once_and_nothing_is_asked_meanwhile() {
        let stage = Stage::set().await;
        let readiness = Readiness::default();
        let shown = Shown::default();
        let mut keeping =
            std::pin::pin!(stage.upkeep.keep(&shown, readiness.wait_for("admission")));
        let mut passes = async |seconds| {
            let time = Duration::from_secs(seconds);
            tokio::time::timeout(time, &mut keeping).await.unwrap_err();
        };
        passes(5).await;
        assert!(readiness.waiting().is_empty());
        let secrets = "POST /api/v1/namespaces/default/secrets".to_owned();
        let looked = format!("GET {SECRET}");
        let first: Vec<String> =
            [looked.clone(), secrets.clone()].into_iter().chain(told()).collect();
        assert_eq!(stage.asked(), first);
        passes(3600).await;
        assert_eq!(stage.asked(), Vec::<String>::new(), "what stands is let be");

        let again: Vec<String> = [looked.clone()].into_iter().chain(told()).collect();
        let certificate = shown.certificate();
        let mutating = format!("{HOOKS}/mutatingwebhookconfigurations/sluice");
        let before = stage.send("GET", &mutating, &Value::Null).await;
        stage.send("DELETE", &mutating, &json!({})).await;
        passes(1).await;
        assert_eq!(stage.asked(), again);
        let after = stage.send("GET", &mutating, &Value::Null).await;
        assert_eq!(after["webhooks"], before["webhooks"], "taken away");
        // Somebody else's manifest, and soon after.
        stage.send("PATCH", &mutating, &json!({"webhooks": null})).await;
        passes(3).await;
        assert_eq!(stage.asked(), again);
        let after = stage.send("GET", &mutating, &Value::Null).await;
        assert_eq!(after["webhooks"], before["webhooks"], "altered");
        // A definition that is installed anew converts nothing.
        let definition = format!("{DEFINITIONS}/rollouts.rollouts.kruise.io");
        let none = json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}});
        stage.send("PATCH", &definition, &none).await;
        passes(10).await;
        let after = stage.send("GET", &definition, &Value::Null).await;
        assert_eq!(after["spec"]["conversion"]["strategy"], "Webhook");
        assert_eq!(shown.certificate(), certificate, "it is told again, and not made again");
        stage.asked();
        passes(3600).await;
        assert_eq!(stage.asked(), Vec::<String>::new(), "what is mended is let be");

        // Another replica finds no Secret, makes another authority, and tells of that.
        stage.send("DELETE", SECRET, &json!({})).await;
        stage.send("PATCH", &mutating, &json!({"webhooks": null})).await;
        passes(10).await;
        assert_ne!(shown.certificate(), certificate, "by the authority that all share");
    }

    #[tokio::test(start_paused = true)]
    async fn a_certificate_is_renewed_in_time() {
        let stage = Stage::set().await;
        let shown = Shown::default();
        let handle = Readiness::default().wait_for("admission");
        let mut keeping = std::pin::pin!(stage.upkeep.keep(&shown, handle));
        tokio::time::timeout(Duration::from_secs(5), &mut keeping).await.unwrap_err();
        let (first, second) = (shown.certificate(), Duration::from_secs(1));
        tokio::time::advance(Duration::from_secs(21 * 24 * 3600)).await;
        tokio::time::timeout(60 * second, &mut keeping).await.unwrap_err();
        assert_ne!(shown.certificate(), first);
    }

    #[tokio::test(start_paused = true)]
    async fn who_changes_it_back_each_time_is_answered_with_growing_pauses() {
        let stage = Stage::set().await;
        let shown = Shown::default();
        let handle = Readiness::default().wait_for("admission");
        let mut keeping = std::pin::pin!(stage.upkeep.keep(&shown, handle));
        let mutating = format!("{HOOKS}/mutatingwebhookconfigurations/sluice");
        tokio::time::timeout(Duration::from_secs(5), &mut keeping).await.unwrap_err();
        stage.asked();
        for _ in 0..600 {
            stage.send("PATCH", &mutating, &json!({"webhooks": null})).await;
            tokio::time::timeout(Duration::from_secs(1), &mut keeping).await.unwrap_err();
        }
        let times = stage.asked().iter().filter(|it| it.ends_with(&mutating)).count();
        assert!(times < 15, "{times} times in ten minutes");
    }
}
