//! The CustomResourceDefinitions of this group.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray,
    ServiceReference, WebhookClientConfig, WebhookConversion,
};
use kube::CustomResourceExt;
use kube::core::crd::merge_crds;
use serde_json::Value;

use super::{BatchRelease, Rollout, RolloutHistory, v1alpha1};

/// The path at which the API server asks for conversion.
pub const CONVERT_PATH: &str = "/convert";

/// `Rollout` and `BatchRelease` in both versions, `RolloutHistory`; in the order in which they are
/// installed.
///
/// `service` is the namespace and name of the Service that leads to the webhook, on port 443. The
/// certificate of its authority is not in here: whoever issues it writes it into
/// `spec.conversion.webhook.clientConfig.caBundle`. Until then the API server can only serve objects
/// in the version that they are stored in.
pub fn crds(service: (&str, &str)) -> Vec<CustomResourceDefinition> {
    let both = |beta, alpha| {
        let mut crd = merge_crds(vec![beta, alpha], "v1beta1")
            .expect("both versions have one group, kind and scope");
        crd.spec.conversion = Some(conversion(service));
        crd
    };
    let mut crds = vec![
        both(Rollout::crd(), v1alpha1::Rollout::crd()),
        both(BatchRelease::crd(), v1alpha1::BatchRelease::crd()),
        RolloutHistory::crd(),
    ];
    for version in crds.iter_mut().flat_map(|crd| &mut crd.spec.versions) {
        if let Some(root) = version.schema.as_mut().and_then(|all| all.open_api_v3_schema.as_mut())
        {
            without_null_counts(root);
        }
    }
    crds
}

/// An absent count is absent; the derivation would have it null as well.
fn without_null_counts(schema: &mut JSONSchemaProps) {
    if schema.x_kubernetes_int_or_string == Some(true) {
        schema.nullable = None;
    }
    schema.properties.iter_mut().flat_map(|all| all.values_mut()).for_each(without_null_counts);
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &mut schema.items {
        without_null_counts(items);
    }
}

fn conversion((namespace, name): (&str, &str)) -> CustomResourceConversion {
    CustomResourceConversion {
        strategy: "Webhook".into(),
        webhook: Some(WebhookConversion {
            client_config: Some(WebhookClientConfig {
                ca_bundle: None,
                service: Some(ServiceReference {
                    name: name.into(),
                    namespace: namespace.into(),
                    path: Some(CONVERT_PATH.into()),
                    port: Some(443),
                }),
                url: None,
            }),
            conversion_review_versions: vec!["v1".into()],
        }),
    }
}

/// The schema of an object of this group, by its `apiVersion` and `kind`.
pub(super) fn schema_of(object: &Value) -> Option<&'static Value> {
    static ALL: LazyLock<BTreeMap<(String, String), Value>> = LazyLock::new(|| {
        let mut all = BTreeMap::new();
        for crd in crds(("", "")) {
            for version in crd.spec.versions {
                let api_version = format!("{}/{}", crd.spec.group, version.name);
                let schema = version.schema.and_then(|schema| schema.open_api_v3_schema);
                let schema = serde_json::to_value(schema).expect("a schema is JSON");
                all.insert((api_version, crd.spec.names.kind.clone()), schema);
            }
        }
        all
    });
    let text = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
    ALL.get(&(text("apiVersion")?, text("kind")?))
}
