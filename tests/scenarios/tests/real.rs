//! Every scenario on a real cluster: the one of `SLUICE_SCENARIOS_KUBECONFIG`, on which the operator
//! runs, and Pods that live by the words of their image and by our annotations.
//!
//! Each scenario gets a namespace of its own, which is deleted if it passes. `SLUICE_SCENARIOS_ONLY`
//! picks scenarios by a part of their theme or name; `SLUICE_SCENARIOS_ADMISSION=true` says that the
//! admission webhook is called; `SLUICE_SCENARIOS_AT_ONCE` how many run at once (8);
//! `SLUICE_SCENARIOS_PATIENCE` by how much limits are stretched (3).

use std::path::Path;
use std::time::Duration;

use futures::StreamExt;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use scenarios::{Env, Failure, Outcome, Scenario, all};
use serde_json::json;

#[test]
fn every_scenario_holds_on_the_cluster_that_is_named() {
    let Some(kubeconfig) = setting("KUBECONFIG") else {
        println!("SLUICE_SCENARIOS_KUBECONFIG is not set: no real cluster is tried");
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let failed = runtime.expect("a runtime").block_on(run(Path::new(&kubeconfig)));
    assert!(failed.is_empty(), "{} scenarios failed: {}", failed.len(), failed.join(", "));
}

fn setting(name: &str) -> Option<String> {
    std::env::var(format!("SLUICE_SCENARIOS_{name}")).ok().filter(|value| !value.is_empty())
}

fn number(name: &str, default: u32) -> u32 {
    setting(name).and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Runs them and returns the names of those that failed.
async fn run(kubeconfig: &Path) -> Vec<&'static str> {
    let config = Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
    let config = Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await;
    let mut config = config.expect("a kubeconfig with a current context");
    config.default_retry = false;
    let client = Client::try_from(config).expect("a client");
    let served = http::Request::get(scenarios::env::ROLLOUTS.0).body(Vec::new());
    let served = client.request_text(served.expect("a request")).await;
    assert!(
        served.as_ref().is_ok_and(|list| list.contains(scenarios::env::ROLLOUTS.1)),
        "no statefulsetrollouts are served, install them first (`sluice crds`): {served:?}"
    );
    let patience = number("PATIENCE", 3);
    let at_once = usize::try_from(number("AT_ONCE", 8)).unwrap_or(8);
    let admission = setting("ADMISSION").is_some_and(|value| value == "true");
    let only = setting("ONLY").unwrap_or_default();
    let chosen = all().into_iter().filter(|scenario| {
        let named = format!("{}::{}", scenario.theme, scenario.name).contains(&only);
        if named && scenario.needs_admission() && !admission {
            println!("left out, no admission webhook: {}", scenario.name);
        }
        named && (admission || !scenario.needs_admission())
    });
    let runs = chosen.enumerate().map(|(index, scenario)| {
        let client = client.clone();
        async move { (scenario, in_a_namespace(client, index, patience, scenario).await) }
    });
    let mut runs = futures::stream::iter(runs).buffer_unordered(at_once);
    let mut failed = Vec::new();
    while let Some((scenario, outcome)) = runs.next().await {
        match outcome {
            Ok(()) => println!("ok      {}", scenario.name),
            Err(Failure(words)) => {
                println!("FAILED  {}: {words}", scenario.name);
                failed.push(scenario.name);
            }
        }
    }
    failed
}

async fn in_a_namespace(
    client: Client,
    index: usize,
    patience: u32,
    scenario: Scenario,
) -> Outcome {
    let run = std::process::id();
    let namespace = format!("scenario-{run}-{index}");
    let env =
        Env { client, namespace: namespace.clone(), look: Duration::from_millis(500), patience };
    let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    env.send("POST", "/api/v1/namespaces", "application/json", &body).await?;
    (scenario.run)(env.clone()).await?;
    let path = format!("/api/v1/namespaces/{namespace}");
    env.send("DELETE", &path, "application/json", &json!({})).await?;
    Ok(())
}
