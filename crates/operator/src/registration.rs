//! Telling the API server of the webhook: two configurations that we apply, and where the custom resources
//! with two versions are converted.

use crate::Error;
use api::batches::CONVERT_PATH;
use controller::admission::hooks;
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Api, Patch, PatchParams};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The name of both configurations; cluster-scoped.
pub(crate) const NAME: &str = hooks::NAME;
/// The CustomResourceDefinitions whose objects are converted.
pub(crate) const CONVERTED: [&str; 2] =
    ["rollouts.rollouts.kruise.io", "batchreleases.rollouts.kruise.io"];
/// The mark of each object that the API server was told by, by its plural or, of a definition, its
/// name; `None` for a definition that is not installed.
pub(crate) type Told = BTreeMap<&'static str, Option<String>>;
/// The field manager of everything that Sluice applies.
const MANAGER: &str = "sluice";

/// The way from the API server to the webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Way {
    /// An address outside of the cluster, `https://host[:port]`.
    Url(String),
    /// A Service inside of it, port 443.
    Service { namespace: String, name: String },
}

impl Way {
    /// The names that the certificate must hold for the API server to accept it.
    ///
    /// # Errors
    /// [`Error::WebhookUrl`].
    pub(crate) fn names(&self) -> Result<Vec<String>, Error> {
        Ok(match self {
            Self::Url(url) => vec![host_of(url)?],
            Self::Service { namespace, name } => vec![
                format!("{name}.{namespace}.svc"),
                format!("{name}.{namespace}.svc.cluster.local"),
            ],
        })
    }

    /// As a webhook has it, and as the conversion of a custom resource has it.
    fn client_config(&self, path: &str, bundle_pem: &str) -> Value {
        let ca_bundle = ByteString(bundle_pem.as_bytes().to_vec());
        match self {
            Self::Url(url) => {
                let url = format!("{}{path}", url.trim_end_matches('/'));
                json!({"caBundle": ca_bundle, "url": url})
            }
            Self::Service { namespace, name } => json!({
                "caBundle": ca_bundle,
                "service": {"namespace": namespace, "name": name, "path": path, "port": 443},
            }),
        }
    }
}

/// The host in `https://host[:port]`, without the brackets of an IPv6 address.
///
/// # Errors
/// [`Error::WebhookUrl`] for anything else: the API server takes no other scheme, and the path is
/// ours.
pub(crate) fn host_of(url: &str) -> Result<String, Error> {
    let wrong = |problem: &str| Error::WebhookUrl { url: url.to_owned(), problem: problem.into() };
    let parsed: http::Uri = url.parse().map_err(|_| wrong("is no URL"))?;
    if parsed.scheme_str() != Some("https") {
        return Err(wrong("must begin with https://"));
    }
    if !matches!(parsed.path(), "" | "/") || parsed.query().is_some() {
        return Err(wrong("must end with the host and port"));
    }
    if parsed.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(wrong("must not hold a user"));
    }
    let host = parsed.host().filter(|host| !host.is_empty()).ok_or_else(|| wrong("has no host"))?;
    Ok(host.trim_start_matches('[').trim_end_matches(']').to_owned())
}

/// The URL of somebody who listens on this port: in its place may be 0, which is any free one.
pub(crate) fn at_port(url: &str, port: u16) -> String {
    match url.trim_end_matches('/').strip_suffix(":0") {
        Some(host) => format!("{host}:{port}"),
        None => url.to_owned(),
    }
}

/// All that the API server is told.
#[derive(Debug, Clone)]
pub(crate) struct Registration {
    validating: Value,
    mutating: Value,
    /// A merge patch for each of [`CONVERTED`].
    conversion: Value,
}

impl Registration {
    /// Of a webhook that is reached this way and whose certificates this bundle vouches for; with a
    /// namespace, it is asked about that alone.
    pub(crate) fn new(way: &Way, bundle_pem: &str, namespace: Option<&str>) -> Self {
        let client_config = |path: &str| way.client_config(path, bundle_pem);
        let mut conversion = client_config(CONVERT_PATH);
        // The one or the other; what the manifest says of it is replaced.
        let other = if conversion["url"].is_string() { "service" } else { "url" };
        conversion[other] = Value::Null;
        Self {
            validating: hooks::validating(&client_config, namespace),
            mutating: hooks::mutating(&client_config, namespace),
            conversion: json!({"spec": {"conversion": {
                "strategy": "Webhook",
                "webhook": {"clientConfig": conversion, "conversionReviewVersions": ["v1"]},
            }}}),
        }
    }

    /// Applies both configurations, over whatever stands there.
    ///
    /// # Errors
    /// What the API server says.
    pub(crate) async fn apply(&self, client: &kube::Client) -> Result<Told, kube::Error> {
        let parameters = PatchParams::apply(MANAGER).force();
        let all: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
        let one = all.patch(NAME, &parameters, &Patch::Apply(&self.validating)).await?;
        let all: Api<MutatingWebhookConfiguration> = Api::all(client.clone());
        let other = all.patch(NAME, &parameters, &Patch::Apply(&self.mutating)).await?;
        Ok(BTreeMap::from([
            ("validatingwebhookconfigurations", Some(marked(&one.metadata))),
            ("mutatingwebhookconfigurations", Some(marked(&other.metadata))),
        ]))
    }

    /// Says where objects are converted.
    ///
    /// # Errors
    /// What the API server says.
    pub(crate) async fn convert(&self, client: &kube::Client) -> Result<Told, kube::Error> {
        let all: Api<CustomResourceDefinition> = Api::all(client.clone());
        let mut told = BTreeMap::new();
        for name in CONVERTED {
            let patch = Patch::Merge(&self.conversion);
            let version = match all.patch(name, &PatchParams::default(), &patch).await {
                Ok(definition) => Some(marked(&definition.metadata)),
                Err(kube::Error::Api(status)) if status.is_not_found() => None,
                Err(error) => return Err(error),
            };
            told.insert(name, version);
        }
        Ok(told)
    }
}

/// Tells an object from what somebody makes of it: its status, and who says what of it, make no difference.
pub(crate) fn mark(uid: &str, generation: Option<i64>, resource_version: &str) -> String {
    match generation {
        Some(generation) => format!("{uid} {generation}"),
        None => format!("{uid} at {resource_version}"),
    }
}

fn marked(meta: &ObjectMeta) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    mark(&text(&meta.uid), meta.generation, &text(&meta.resource_version))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_host_is_what_the_certificate_must_name() {
        fn check(url: &str, expect: Result<&str, &str>) {
            let found = host_of(url).map_err(|error| error.to_string());
            match (found, expect) {
                (Ok(found), Ok(expect)) => assert_eq!(found, expect, "{url}"),
                (Err(found), Err(expect)) => assert!(found.contains(expect), "{url}: {found}"),
                (found, _) => panic!("{url}: {found:?}"),
            }
        }
        check("https://192.0.2.7:9443", Ok("192.0.2.7"));
        check("https://sluice.example.org", Ok("sluice.example.org"));
        check("https://sluice.example.org/", Ok("sluice.example.org"));
        check("https://[2001:db8::7]:9443", Ok("2001:db8::7"));
        check("http://192.0.2.7:9443", Err("must begin with https://"));
        check("192.0.2.7:9443", Err("https://"));
        check("https://192.0.2.7/path", Err("must end with the host"));
        check("https://me@192.0.2.7", Err("must not hold a user"));
        check("not a url", Err("is no URL"));
    }

    #[test]
    fn a_port_of_0_is_the_one_that_is_listened_on() {
        fn check(url: &str, expect: &str) {
            assert_eq!(at_port(url, 4711), expect);
        }
        check("https://127.0.0.1:0", "https://127.0.0.1:4711");
        check("https://[::1]:0/", "https://[::1]:4711");
        check("https://192.0.2.7:9443", "https://192.0.2.7:9443");
        check("https://192.0.2.7:90", "https://192.0.2.7:90");
        check("https://sluice.example.org", "https://sluice.example.org");
    }

    fn told(way: &Way) -> Registration {
        Registration::new(way, "PEM", None)
    }

    #[test]
    fn inside_of_the_cluster_the_way_is_a_service() {
        let way = Way::Service { namespace: "sluice".into(), name: "sluice-webhook".into() };
        assert_eq!(way.names().unwrap()[0], "sluice-webhook.sluice.svc");
        let service = |path: &str| json!({"namespace": "sluice", "name": "sluice-webhook", "path": path, "port": 443});
        assert_eq!(
            told(&way).validating["webhooks"][0]["clientConfig"],
            json!({"caBundle": "UEVN", "service": service("/admit/statefulsetrollouts")})
        );
        assert_eq!(
            told(&way).conversion["spec"]["conversion"]["webhook"]["clientConfig"],
            json!({"caBundle": "UEVN", "service": service("/convert"), "url": null})
        );
    }

    #[test]
    fn outside_of_the_cluster_the_way_is_a_url() {
        let way = Way::Url("https://192.0.2.7:9443/".into());
        assert_eq!(way.names().unwrap(), ["192.0.2.7"]);
        for hook in told(&way).mutating["webhooks"].as_array().unwrap() {
            let url = "https://192.0.2.7:9443/admit/workloads";
            assert_eq!(hook["clientConfig"], json!({"caBundle": "UEVN", "url": url}));
        }
        assert_eq!(
            told(&way).conversion["spec"]["conversion"]["webhook"]["clientConfig"],
            json!({
                "caBundle": "UEVN",
                "service": null,
                "url": "https://192.0.2.7:9443/convert",
            })
        );
    }

    #[test]
    fn what_is_converted_is_what_the_definitions_say() {
        let converted: Vec<String> = api::crds()
            .into_iter()
            .filter(|crd| crd.spec.conversion.is_some())
            .filter_map(|crd| crd.metadata.name)
            .collect();
        assert_eq!(converted, CONVERTED);
    }
}
