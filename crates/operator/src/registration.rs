//! Telling the API server of the webhook: the ValidatingWebhookConfiguration that we apply.

use crate::Error;
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    RuleWithOperations, ServiceReference, ValidatingWebhook, ValidatingWebhookConfiguration,
    WebhookClientConfig,
};
use kube::api::{Api, Patch, PatchParams};

/// The configuration's name; cluster-scoped.
pub(crate) const NAME: &str = "sluice";
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

    fn client_config(&self, path: &str, bundle_pem: &str) -> WebhookClientConfig {
        let ca_bundle = Some(ByteString(bundle_pem.as_bytes().to_vec()));
        match self {
            Self::Url(url) => WebhookClientConfig {
                ca_bundle,
                url: Some(format!("{}{path}", url.trim_end_matches('/'))),
                service: None,
            },
            Self::Service { namespace, name } => WebhookClientConfig {
                ca_bundle,
                url: None,
                service: Some(ServiceReference {
                    namespace: namespace.clone(),
                    name: name.clone(),
                    path: Some(path.to_owned()),
                    port: Some(443),
                }),
            },
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

/// What we tell the API server.
pub(crate) fn configuration(
    way: &Way,
    path: &str,
    bundle_pem: &str,
) -> ValidatingWebhookConfiguration {
    let mut configuration = ValidatingWebhookConfiguration::default();
    configuration.metadata.name = Some(NAME.to_owned());
    let words = |list: &[&str]| Some(list.iter().map(|word| (*word).to_owned()).collect());
    configuration.webhooks = Some(vec![ValidatingWebhook {
        name: "statefulsetrollouts.bedrock.operator.slack.com".to_owned(),
        admission_review_versions: vec!["v1".to_owned()],
        client_config: way.client_config(path, bundle_pem),
        rules: Some(vec![RuleWithOperations {
            api_groups: words(&["bedrock.operator.slack.com"]),
            api_versions: words(&["v1"]),
            operations: words(&["CREATE", "UPDATE"]),
            resources: words(&["statefulsetrollouts"]),
            scope: Some("Namespaced".to_owned()),
        }]),
        // The loop refuses the same things with a reason in the status. An operator that is down
        // must not keep anybody from pausing a rollout.
        failure_policy: Some("Ignore".to_owned()),
        match_policy: Some("Equivalent".to_owned()),
        side_effects: "None".to_owned(),
        timeout_seconds: Some(5),
        ..ValidatingWebhook::default()
    }]);
    configuration
}

/// Applies the configuration, over whatever stands there.
///
/// # Errors
/// What the API server says.
pub(crate) async fn apply(
    client: kube::Client,
    configuration: &ValidatingWebhookConfiguration,
) -> Result<(), kube::Error> {
    let all: Api<ValidatingWebhookConfiguration> = Api::all(client);
    let parameters = PatchParams::apply(MANAGER).force();
    all.patch(NAME, &parameters, &Patch::Apply(configuration)).await.map(drop)
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
    fn inside_of_the_cluster_the_way_is_a_service() {
        let way = Way::Service { namespace: "sluice".into(), name: "sluice-webhook".into() };
        assert_eq!(way.names().unwrap()[0], "sluice-webhook.sluice.svc");
        let written = serde_json::to_value(configuration(&way, "/admission", "PEM")).unwrap();
        assert_eq!(
            written["webhooks"][0]["clientConfig"],
            json!({
                "caBundle": "UEVN",
                "service": {
                    "namespace": "sluice",
                    "name": "sluice-webhook",
                    "path": "/admission",
                    "port": 443,
                },
            })
        );
    }

    #[test]
    fn outside_of_the_cluster_the_way_is_a_url() {
        let way = Way::Url("https://192.0.2.7:9443/".into());
        assert_eq!(way.names().unwrap(), ["192.0.2.7"]);
        let written = serde_json::to_value(configuration(&way, "/admission", "PEM")).unwrap();
        assert_eq!(
            written["webhooks"][0]["clientConfig"],
            json!({"caBundle": "UEVN", "url": "https://192.0.2.7:9443/admission"})
        );
    }

    #[test]
    fn an_operator_that_is_down_keeps_nobody_from_pausing() {
        let way = Way::Url("https://192.0.2.7".into());
        let written = serde_json::to_value(configuration(&way, "/a", "PEM")).unwrap();
        assert_eq!(written["webhooks"][0]["failurePolicy"], "Ignore");
    }
}
