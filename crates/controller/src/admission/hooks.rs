//! What the API server is told: which writes are asked about, where, and what holds while nobody answers.
//!
//! | asked about | when nobody answers | because |
//! | --- | --- | --- |
//! | `StatefulsetRollout`, `Rollout`, `BatchRelease` | the write goes through | the loop refuses the same things with a reason in the status, and nobody must be kept from pausing |
//! | workloads | the write is refused | unheld, its own controller would replace the Pods past the steps; of a Deployment in release, which stands at `Recreate`, all at once |
//!
//! Of a workload only those writes are asked about that could do that: another template, and in mid-release
//! whatever lets go of it. Scaling, labels, status and everything else never waits for anybody.

use api::batches::names::{CONTROL_INFO, IN_PROGRESSING, ROLLOUT_ID, WORKLOAD_TYPE};
use cluster::Kind;
use serde_json::{Value, json};

use super::{ROLLOUTS, STATEFULSET_ROLLOUTS, WORKLOADS};

/// Name of both configurations; cluster-scoped.
pub const NAME: &str = "sluice";

/// Seconds that the API server waits for an answer.
const TIMEOUT: u32 = 5;

/// The `ValidatingWebhookConfiguration`. `client_config` makes that of a path; with a namespace, only what is
/// written there is asked about.
pub fn validating(client_config: &dyn Fn(&str) -> Value, namespace: Option<&str>) -> Value {
    let hook = |name: &str, path, rule: Value| {
        let mut hook = common(name, &client_config(path), namespace);
        hook["rules"] = json!([rule]);
        hook["failurePolicy"] = json!("Ignore");
        hook
    };
    let rule = |group, versions: &[&str], resource| {
        json!({
            "apiGroups": [group],
            "apiVersions": versions,
            "operations": ["CREATE", "UPDATE"],
            "resources": [resource],
            "scope": "Namespaced",
        })
    };
    let group = "rollouts.kruise.io";
    let mut webhooks = vec![hook(
        "statefulsetrollouts.bedrock.operator.slack.com",
        STATEFULSET_ROLLOUTS,
        rule("bedrock.operator.slack.com", &["v1"], "statefulsetrollouts"),
    )];
    for resource in ["rollouts", "batchreleases"] {
        let rule = rule(group, &["v1beta1", "v1alpha1"], resource);
        let mut hook = hook(&format!("{resource}.{group}"), ROLLOUTS, rule);
        // Not about our own finalizers, marks and statuses.
        let annotations = |of: &str| {
            format!("(has({of}.metadata.annotations) ? {of}.metadata.annotations : {{}})")
        };
        let expression = format!(
            "oldObject == null || object.spec != oldObject.spec || {} != {}",
            annotations("object"),
            annotations("oldObject")
        );
        hook["matchConditions"] = json!([{"name": "asks-otherwise", "expression": expression}]);
        webhooks.push(hook);
    }
    configuration("ValidatingWebhookConfiguration", &webhooks)
}

/// The `MutatingWebhookConfiguration`; as [`validating`].
pub fn mutating(client_config: &dyn Fn(&str) -> Value, namespace: Option<&str>) -> Value {
    let hook = |kind: Kind| {
        let facts = kind.facts();
        let source = facts.source;
        let name = format!("{}.{}.sluice.dev", source.plural, facts.group);
        let versions = source.served.iter().filter_map(|served| served.rsplit('/').next());
        let mut hook = common(&name, &client_config(WORKLOADS), namespace);
        hook["rules"] = json!([{
            "apiGroups": [facts.group],
            "apiVersions": versions.collect::<Vec<_>>(),
            "operations": ["UPDATE"],
            // Without a slash: not its status, not its scale.
            "resources": [source.plural],
            "scope": "Namespaced",
        }]);
        hook["objectSelector"] =
            json!({"matchExpressions": [{"key": WORKLOAD_TYPE, "operator": "Exists"}]});
        hook["matchConditions"] = json!([{"name": "moves-pods", "expression": condition(kind)}]);
        hook["failurePolicy"] = json!("Fail");
        // Another webhook may change the template after ours.
        hook["reinvocationPolicy"] = json!("IfNeeded");
        hook
    };
    let webhooks = Kind::ALL.map(hook);
    configuration("MutatingWebhookConfiguration", &webhooks)
}

/// Which updates of a workload are asked about, as CEL: the template, the rollout id; and in mid-release what
/// lets go of it, and the loss of any of our marks.
fn condition(kind: Kind) -> String {
    let (lets_go, beside) = (kind.lets_go(), kind.beside());
    let annotations = [&[IN_PROGRESSING, CONTROL_INFO], beside.annotations].concat();
    let labels = [&[WORKLOAD_TYPE], beside.labels].concat();
    let lost = |map: &str, names: &[&str]| {
        format!(
            "{}.exists(mark, has(oldObject.metadata.{map}) && mark in oldObject.metadata.{map} && \
             !(has(object.metadata.{map}) && mark in object.metadata.{map}))",
            list(names)
        )
    };
    let marked = format!(
        "has(oldObject.metadata.annotations) && {}.exists(mark, mark in oldObject.metadata.annotations)",
        list(&[IN_PROGRESSING, CONTROL_INFO])
    );
    let id = |object: &str| {
        format!(
            "(has({object}.metadata.annotations) && '{ROLLOUT_ID}' in {object}.metadata.annotations ? \
             {object}.metadata.annotations['{ROLLOUT_ID}'] : '')"
        )
    };
    format!(
        "object.spec.template != oldObject.spec.template || {} != {} || ({marked} && ({lets_go} || {} || {}))",
        id("object"),
        id("oldObject"),
        lost("annotations", &annotations),
        lost("labels", &labels),
    )
}

fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    format!("[{}]", quoted.join(", "))
}

fn common(name: &str, client_config: &Value, namespace: Option<&str>) -> Value {
    let mut hook = json!({
        "name": name,
        "admissionReviewVersions": ["v1"],
        "clientConfig": client_config,
        "matchPolicy": "Equivalent",
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT,
    });
    if let Some(namespace) = namespace {
        hook["namespaceSelector"] = json!({
            "matchLabels": {"kubernetes.io/metadata.name": namespace},
        });
    }
    hook
}

fn configuration(kind: &str, webhooks: &[Value]) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": NAME},
        "webhooks": webhooks,
    })
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::admissionregistration::v1::{
        MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
    };
    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use super::*;

    fn client_config(path: &str) -> Value {
        json!({"url": format!("https://sluice.invalid{path}")})
    }

    fn webhooks(configuration: &Value) -> Vec<Value> {
        configuration["webhooks"].as_array().unwrap().clone()
    }

    #[test]
    fn every_field_is_one_that_the_api_knows() {
        /// A field that the API doesn't know is lost on the way through its type.
        fn check<T: DeserializeOwned + Serialize>(configuration: &Value) {
            let typed: T = serde_json::from_value(configuration.clone()).unwrap();
            assert_eq!(json!(typed), *configuration);
        }
        for namespace in [None, Some("shop")] {
            check::<ValidatingWebhookConfiguration>(&validating(&client_config, namespace));
            check::<MutatingWebhookConfiguration>(&mutating(&client_config, namespace));
        }
    }

    #[test]
    fn an_operator_that_is_down_keeps_nobody_from_pausing_and_lets_no_change_run_ahead() {
        for hook in webhooks(&validating(&client_config, None)) {
            assert_eq!(hook["failurePolicy"], "Ignore", "{hook}");
        }
        for hook in webhooks(&mutating(&client_config, None)) {
            assert_eq!(hook["failurePolicy"], "Fail", "{hook}");
            assert!(hook["matchConditions"][0]["expression"].is_string(), "{hook}");
        }
    }

    #[test]
    fn only_workloads_that_a_rollout_has_labelled_are_asked_about() {
        for hook in webhooks(&mutating(&client_config, None)) {
            let selector = &hook["objectSelector"]["matchExpressions"];
            assert_eq!(*selector, json!([{"key": WORKLOAD_TYPE, "operator": "Exists"}]), "{hook}");
            assert_eq!(hook["rules"][0]["operations"], json!(["UPDATE"]));
        }
    }

    #[test]
    fn each_kind_is_asked_about_in_every_version_that_it_may_be_served_in() {
        let all = webhooks(&mutating(&client_config, None)).into_iter().map(|hook| {
            let rule = &hook["rules"][0];
            let words = |field: &str| rule[field].as_array().unwrap().clone();
            (hook["name"].clone(), words("apiGroups"), words("apiVersions"), words("resources"))
        });
        let native = |plural: &str| {
            let name = json!(format!("{plural}.apps.sluice.dev"));
            (name, vec![json!("apps")], vec![json!("v1")], vec![json!(plural)])
        };
        let kruise = |plural: &str| {
            let name = json!(format!("{plural}.apps.kruise.io.sluice.dev"));
            let versions = vec![json!("v1beta1"), json!("v1alpha1")];
            (name, vec![json!("apps.kruise.io")], versions, vec![json!(plural)])
        };
        let expect = [
            native("deployments"),
            native("statefulsets"),
            native("daemonsets"),
            kruise("clonesets"),
            kruise("statefulsets"),
            kruise("daemonsets"),
        ];
        assert_eq!(all.collect::<Vec<_>>(), expect);
    }

    #[test]
    fn an_operator_of_one_namespace_is_asked_about_that_alone() {
        let both =
            [validating(&client_config, Some("shop")), mutating(&client_config, Some("shop"))];
        for hook in both.iter().flat_map(webhooks) {
            let labels = &hook["namespaceSelector"]["matchLabels"];
            assert_eq!(*labels, json!({"kubernetes.io/metadata.name": "shop"}));
        }
    }
}
