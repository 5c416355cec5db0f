use super::*;
use crate::Flags;
use crate::flags::Address;
use clap::Parser;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Namespace, Service, ServiceAccount};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    flags: Flags,
}

fn install(only: Option<&str>) -> Install {
    Install {
        namespace: "ops".to_owned(),
        only: only.map(str::to_owned),
        image: "registry.example.org/sluice:1".to_owned(),
        crds: false,
    }
}

/// `kind/name`, with the namespace before a name that has one.
fn titles(install: &Install) -> Vec<String> {
    let title = |one: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let place = match &one["metadata"]["namespace"] {
            Value::String(namespace) => format!("{namespace}/"),
            _ => String::new(),
        };
        format!("{} {place}{}", text(&one["kind"]), text(&one["metadata"]["name"]))
    };
    install.manifests().iter().map(title).collect()
}

fn found(install: &Install, kind: &str, name: &str) -> Value {
    let is = |one: &&Value| one["kind"] == kind && one["metadata"]["name"] == name;
    install.manifests().iter().find(is).unwrap().clone()
}

/// The container of the operator.
fn container(install: &Install) -> Value {
    found(install, "Deployment", NAME)["spec"]["template"]["spec"]["containers"][0].clone()
}

/// The flags that the operator runs with.
fn flags(install: &Install) -> Flags {
    let container = container(install);
    let arguments = container["args"].as_array().unwrap().iter().map(|one| one.as_str().unwrap());
    Line::try_parse_from(arguments).unwrap().flags.settled().unwrap()
}

#[test]
fn the_whole_cluster_is_served_with_a_webhook() {
    assert_eq!(
        titles(&install(None)),
        [
            "Namespace ops",
            "ServiceAccount ops/sluice",
            "ClusterRole sluice",
            "ClusterRoleBinding sluice",
            "Role ops/sluice-own",
            "RoleBinding ops/sluice-own",
            "Service ops/sluice-webhook",
            "Service ops/sluice-metrics",
            "PodDisruptionBudget ops/sluice",
            "Deployment ops/sluice",
        ]
    );
    let flags = flags(&install(None));
    assert_eq!((flags.namespace, flags.webhook_bind_address), (None, Address::Everywhere(9443)));
}

#[test]
fn one_namespace_is_served_without_anything_outside_of_namespaces() {
    assert_eq!(
        titles(&install(Some("shop"))),
        [
            "ServiceAccount ops/sluice",
            "Role shop/sluice",
            "RoleBinding shop/sluice",
            "Role ops/sluice-own",
            "RoleBinding ops/sluice-own",
            "Service ops/sluice-metrics",
            "PodDisruptionBudget ops/sluice",
            "Deployment ops/sluice",
        ]
    );
    let flags = flags(&install(Some("shop")));
    assert_eq!(flags.namespace.as_deref(), Some("shop"));
    assert_eq!(flags.webhook_bind_address, Address::Off);
    let own = found(&install(Some("shop")), "Role", "sluice-own");
    assert!(!own.to_string().contains("secrets"), "the webhook alone needs a Secret: {own}");
}

#[test]
fn both_roles_stand_beside_each_other_in_one_namespace() {
    let all = titles(&install(Some("ops")));
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:?}");
}

#[test]
fn the_crds_come_first() {
    let all = titles(&Install { crds: true, ..install(None) });
    let first = "CustomResourceDefinition statefulsetrollouts.bedrock.operator.slack.com";
    assert_eq!(all[0], first);
    assert_eq!(all.iter().filter(|title| title.contains("Definition")).count(), api::crds().len());
}

#[test]
fn versions_are_converted_where_the_operator_lives() {
    let install = Install { crds: true, ..install(None) };
    let all = install.manifests();
    let services = all.iter().map(|one| &one["spec"]["conversion"]["webhook"]["clientConfig"]);
    let services: Vec<&Value> = services.filter(|config| !config.is_null()).collect();
    assert!(!services.is_empty());
    for config in services {
        assert_eq!(config["service"]["namespace"], "ops");
        found(&install, "Service", config["service"]["name"].as_str().unwrap());
    }
}

/// A field that the API doesn't know is lost on the way through its type.
fn same<T: DeserializeOwned + Serialize>(one: &Value) -> bool {
    serde_json::from_value::<T>(one.clone()).is_ok_and(|typed| json!(typed) == *one)
}

#[test]
fn every_field_is_one_that_the_api_knows() {
    for install in [install(None), install(Some("shop"))] {
        for one in install.manifests() {
            let known = match one["kind"].as_str().unwrap() {
                "Namespace" => same::<Namespace>(&one),
                "ServiceAccount" => same::<ServiceAccount>(&one),
                "ClusterRole" => same::<ClusterRole>(&one),
                "ClusterRoleBinding" => same::<ClusterRoleBinding>(&one),
                "Role" => same::<Role>(&one),
                "RoleBinding" => same::<RoleBinding>(&one),
                "Service" => same::<Service>(&one),
                "PodDisruptionBudget" => same::<PodDisruptionBudget>(&one),
                "Deployment" => same::<Deployment>(&one),
                _ => false,
            };
            assert!(known, "{one:#}");
        }
    }
}

#[test]
fn ports_are_those_that_the_flags_open() {
    fn check(only: Option<&str>, expect: &[&str]) {
        let (install, flags) = (install(only), flags(&install(only)));
        let opened = [
            ("metrics", flags.metrics_bind_address),
            ("health", flags.health_probe_bind_address),
            ("webhook", flags.webhook_bind_address),
        ];
        let opened: Vec<(&str, u64)> = opened
            .iter()
            .filter_map(|(name, address)| match address {
                Address::Everywhere(port) => Some((*name, u64::from(*port))),
                _ => None,
            })
            .collect();
        let container = container(&install);
        let named: Vec<(&str, u64)> = container["ports"]
            .as_array()
            .unwrap()
            .iter()
            .map(|port| (port["name"].as_str().unwrap(), port["containerPort"].as_u64().unwrap()))
            .collect();
        assert_eq!(named, opened);
        assert_eq!(named.iter().map(|(name, _)| *name).collect::<Vec<_>>(), expect);
        for probe in ["livenessProbe", "readinessProbe"] {
            assert_eq!(container[probe]["httpGet"]["port"], "health");
        }
        for service in install.manifests().iter().filter(|one| one["kind"] == "Service") {
            let leads_to = service["spec"]["ports"][0]["targetPort"].as_str().unwrap();
            assert!(expect.contains(&leads_to), "{service}");
        }
    }
    check(None, &["metrics", "health", "webhook"]);
    check(Some("shop"), &["metrics", "health"]);
}

#[test]
fn the_webhook_is_reached_by_the_service_of_the_flags() {
    let service = flags(&install(None)).webhook_service;
    let found = found(&install(None), "Service", &service);
    assert_eq!(found["spec"]["ports"][0]["port"], 443);
}

#[test]
fn a_stop_has_time_to_give_the_lease_back() {
    let pod = found(&install(None), "Deployment", NAME)["spec"]["template"]["spec"].clone();
    let grace = pod["terminationGracePeriodSeconds"].as_u64().unwrap();
    assert!(grace > flags(&install(None)).shutdown_timeout.as_secs());
}

#[test]
fn services_and_budget_choose_the_pods_of_the_deployment() {
    for install in [install(None), install(Some("shop"))] {
        let deployment = found(&install, "Deployment", NAME)["spec"].clone();
        let labels = &deployment["template"]["metadata"]["labels"];
        for one in install.manifests() {
            let selector = match one["kind"].as_str().unwrap() {
                "Service" => &one["spec"]["selector"],
                "PodDisruptionBudget" | "Deployment" => &one["spec"]["selector"]["matchLabels"],
                _ => continue,
            };
            let chosen = selector.as_object().unwrap();
            assert!(!chosen.is_empty());
            assert!(chosen.iter().all(|(key, value)| labels[key] == *value), "{one:#}");
        }
        // A drain must always be able to go on.
        assert!(deployment["replicas"].as_u64().unwrap() > 1);
    }
}

#[test]
fn the_yaml_says_what_has_to_be_known_first_and_is_the_same_objects() {
    for install in [install(None), install(Some("shop")), Install { crds: true, ..install(None) }] {
        let text = install.yaml();
        assert!(text.starts_with("# No image is published: build registry.example.org/sluice:1"));
        assert_eq!(text.contains("sluice crds | kubectl apply -f -"), !install.crds);
        assert_eq!(text.contains("# Serves namespace shop alone"), install.only.is_some());
        assert_eq!(text.split("---\n").count(), install.manifests().len());
    }
}

#[test]
fn the_generated_files_in_the_repository_are_current() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (path, content) in generated_files() {
        let found = std::fs::read_to_string(root.join(&path)).unwrap_or_default();
        assert!(found == content, "{path} is stale: run `cargo xtask generate`");
    }
}
