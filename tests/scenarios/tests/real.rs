//! Every scenario on a real cluster: the one of `SLUICE_SCENARIOS_KUBECONFIG`, on which the operator
//! runs, and Pods that live by the words of their image and by our annotations.
//!
//! Each scenario gets a namespace of its own, which is deleted if it passes. `SLUICE_SCENARIOS_ONLY`,
//! or an argument, picks scenarios by a part of their theme or name; `SLUICE_SCENARIOS_ADMISSION=true`
//! says that the admission webhook is called; `SLUICE_SCENARIOS_AT_ONCE` how many run at once (8);
//! `SLUICE_SCENARIOS_PATIENCE` by how much limits are stretched (3).
//!
//! It has no harness: every scenario is a test of its own in the closing line, and all share one
//! runtime and one client.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use futures::StreamExt;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use scenarios::{Env, Failure, Outcome, Scenario, all};
use serde_json::json;
use tokio::time::Instant;

fn main() -> ExitCode {
    let counts = match setting("KUBECONFIG") {
        None => {
            println!("SLUICE_SCENARIOS_KUBECONFIG is not set: no real cluster is tried");
            Counts::default()
        }
        Some(kubeconfig) => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(run(Path::new(&kubeconfig)))
        }
    };
    // As libtest words it, for whoever counts tests.
    let Counts { passed, failed, left_out, seconds } = counts;
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {verdict}. {passed} passed; {failed} failed; 0 ignored; 0 measured; \
         {left_out} filtered out; finished in {seconds:.2}s\n"
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[derive(Default)]
struct Counts {
    passed: usize,
    failed: usize,
    left_out: usize,
    seconds: f64,
}

fn setting(name: &str) -> Option<String> {
    std::env::var(format!("SLUICE_SCENARIOS_{name}")).ok().filter(|value| !value.is_empty())
}

fn number(name: &str, default: u32) -> u32 {
    setting(name).and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// The part of a name that is asked for: the first argument that is no flag of libtest's.
fn only() -> String {
    let argument = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    argument.or_else(|| setting("ONLY")).unwrap_or_default()
}

/// Runs them, and prints a line for each.
async fn run(kubeconfig: &Path) -> Counts {
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
    let only = only();
    let chosen: Vec<Scenario> = all()
        .into_iter()
        .filter(|scenario| {
            let named = format!("{}::{}", scenario.theme, scenario.name).contains(&only);
            if named && scenario.needs_admission() && !admission {
                println!("left out, no admission webhook: {}", scenario.name);
            }
            named && (admission || !scenario.needs_admission())
        })
        .collect();
    let mut counts = Counts { left_out: all().len() - chosen.len(), ..Counts::default() };
    let runs = chosen.into_iter().enumerate().map(|(index, scenario)| {
        let client = client.clone();
        async move {
            let begun = Instant::now();
            let outcome = in_a_namespace(client, index, patience, scenario).await;
            (scenario.name, outcome, begun.elapsed().as_secs_f64())
        }
    });
    let begun = Instant::now();
    let mut runs = futures::stream::iter(runs).buffer_unordered(at_once);
    while let Some((name, outcome, seconds)) = runs.next().await {
        match outcome {
            Ok(()) => {
                println!("ok      {name} ({seconds:.0} s)");
                counts.passed += 1;
            }
            Err(Failure(words)) => {
                println!("FAILED  {name} ({seconds:.0} s): {words}");
                counts.failed += 1;
            }
        }
    }
    counts.seconds = begun.elapsed().as_secs_f64();
    counts
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
