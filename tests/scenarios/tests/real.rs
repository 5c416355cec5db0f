//! Every scenario on a real cluster: the one of `SLUICE_SCENARIOS_KUBECONFIG`, on which the operator
//! runs, and Pods that live by the words of their image and by our annotations.
//!
//! Each scenario gets a namespace of its own, which is deleted if it passes. `SLUICE_SCENARIOS_ONLY`,
//! or an argument, picks scenarios by parts of their theme or name, with commas between them;
//! `SLUICE_SCENARIOS_ADMISSION=true` says that the admission webhook is called;
//! `SLUICE_SCENARIOS_AT_ONCE` how many run at once (8); `SLUICE_SCENARIOS_PATIENCE` by how much limits
//! are stretched (3). `SLUICE_SCENARIOS_NAMESPACES` names namespaces that are there and empty, with
//! commas between them: then each scenario takes the next of these, and there is one for each.
//!
//! Where no manager of Kruise runs, its definitions are installed, and its controllers run in here for as
//! long as the scenarios do.
//!
//! What came too late is tried once more when all others have ended, alone; see [`second_tries`].
//!
//! It has no harness: every scenario is a test of its own in the closing line, and all share one
//! runtime and one client.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use futures::StreamExt;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use scenarios::env::Refused;
use scenarios::{Env, Failure, Outcome, Scenario, all, longest_first};
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

/// How many scenarios may be late; three are two in a hundred.
const SECOND_TRIES: usize = 3;

#[derive(Default)]
struct Counts {
    passed: usize,
    failed: usize,
    left_out: usize,
    seconds: f64,
}

impl Counts {
    /// Counts one that has ended, and says so.
    fn take(&mut self, name: &str, outcome: &Outcome, seconds: f64) {
        match outcome {
            Ok(()) => {
                println!("ok      {name} ({seconds:.0} s)");
                self.passed += 1;
            }
            Err(failure) => {
                println!("FAILED  {name} ({seconds:.0} s): {}", failure.words());
                self.failed += 1;
            }
        }
    }
}

fn setting(name: &str) -> Option<String> {
    std::env::var(format!("SLUICE_SCENARIOS_{name}")).ok().filter(|value| !value.is_empty())
}

/// A setting that is a list.
fn several(words: &str) -> Vec<String> {
    words.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn number(name: &str, default: u32) -> u32 {
    setting(name).and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// The parts of names that are asked for, of all scenarios when there are none: the first argument
/// that is no flag of libtest's, or the setting.
fn only() -> Vec<String> {
    let argument = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    several(&argument.or_else(|| setting("ONLY")).unwrap_or_default())
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
    let chosen: Vec<Scenario> = longest_first(all())
        .into_iter()
        .filter(|scenario| {
            let name = format!("{}::{}", scenario.theme, scenario.name);
            let named = only.is_empty() || only.iter().any(|part| name.contains(part.as_str()));
            if named && scenario.needs_admission() && !admission {
                println!("left out, no admission webhook: {}", scenario.name);
            }
            named && (admission || !scenario.needs_admission())
        })
        .collect();
    let namespaces = several(&setting("NAMESPACES").unwrap_or_default());
    assert!(
        namespaces.is_empty() || namespaces.len() == chosen.len(),
        "{} scenarios for the namespaces {namespaces:?}",
        chosen.len()
    );
    let driver = match chosen.iter().any(Scenario::needs_kruise) && !has_kruise(&client).await {
        true => Some(kruise::install_all(&client).await.expect("Kruise's definitions are served")),
        false => None,
    };
    let kruise = async {
        match driver {
            Some(driver) => driver.drive(std::future::pending()).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        ended = kruise => panic!("Kruise's controllers ended: {ended:?}"),
        counts = play(&client, &chosen, &namespaces, patience, at_once) => counts,
    }
}

/// Whether somebody's Kruise runs on the cluster.
async fn has_kruise(client: &Client) -> bool {
    let manager =
        "/apis/apps/v1/deployments?fieldSelector=metadata.name%3Dkruise-controller-manager";
    let request = http::Request::get(manager).body(Vec::new()).expect("a request");
    let found = client.request::<serde_json::Value>(request).await.unwrap_or_default();
    found["items"].as_array().is_some_and(|items| !items.is_empty())
}

/// Plays them, so many at once, and then what was late.
async fn play(
    client: &Client,
    chosen: &[Scenario],
    namespaces: &[String],
    patience: u32,
    at_once: usize,
) -> Counts {
    let mut counts = Counts { left_out: all().len() - chosen.len(), ..Counts::default() };
    let begun = Instant::now();
    let runs = chosen.iter().enumerate().map(|(index, scenario)| {
        let place = match namespaces.get(index) {
            Some(there) => Place::There(there.clone()),
            None => Place::New(format!("scenario-{}-{index}", std::process::id())),
        };
        async { (*scenario, in_a_namespace(client, place, patience, scenario).await) }
    });
    let mut runs = futures::stream::iter(runs).buffer_unordered(at_once);
    let mut late = Vec::new();
    while let Some((scenario, (outcome, seconds))) = runs.next().await {
        match outcome {
            // A namespace that was there is used up.
            Err(Failure::Late(words)) if namespaces.is_empty() => {
                println!("late    {} ({seconds:.0} s): {words}", scenario.name);
                late.push(scenario);
            }
            outcome => counts.take(scenario.name, &outcome, seconds),
        }
    }
    second_tries(client, patience, &late, &mut counts).await;
    counts.seconds = begun.elapsed().as_secs_f64();
    counts
}

/// Tries once more what was late, one after another.
///
/// What was late has shown nothing that may not be; it did not get to its end in time, which a machine
/// that others keep busy does too. So it may be tried again, in the open: a line says it. A claim that
/// was seen broken is never tried again. Nor is anything when too many were late: that is no bad luck
/// any more, either something hangs or the machine can't be used for this.
async fn second_tries(client: &Client, patience: u32, late: &[Scenario], counts: &mut Counts) {
    let again = late.len() <= SECOND_TRIES;
    for (index, scenario) in late.iter().enumerate() {
        if !again {
            println!("FAILED  {}: one of {} that were late", scenario.name, late.len());
            counts.failed += 1;
            continue;
        }
        println!("second try: {}", scenario.name);
        let place = Place::New(format!("scenario-{}-again-{index}", std::process::id()));
        let (outcome, seconds) = in_a_namespace(client, place, patience, scenario).await;
        counts.take(scenario.name, &outcome, seconds);
    }
}

/// Where a scenario runs.
enum Place {
    /// A namespace that is made for it.
    New(String),
    /// One that is there, and stays.
    There(String),
}

/// How it ended, and after how many seconds.
async fn in_a_namespace(
    client: &Client,
    place: Place,
    patience: u32,
    scenario: &Scenario,
) -> (Outcome, f64) {
    let begun = Instant::now();
    let (Place::New(namespace) | Place::There(namespace)) = &place;
    let env = Env {
        client: client.clone(),
        namespace: namespace.clone(),
        look: Duration::from_millis(500),
        patience,
    };
    let new = matches!(place, Place::New(_));
    let outcome = async {
        if new {
            create_namespace(&env).await?;
        }
        (scenario.run)(env.clone()).await
    }
    .await;
    // One that was late must not go on beside its second try; one that is broken is to be looked at.
    if new && !matches!(outcome, Err(Failure::Broken(_))) {
        let path = format!("/api/v1/namespaces/{namespace}");
        let _ = env.send("DELETE", &path, "application/json", &json!({})).await;
    }
    (outcome, begun.elapsed().as_secs_f64())
}

/// Asks until the server has taken it.
async fn create_namespace(env: &Env) -> Outcome {
    let name = &env.namespace;
    let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    let mut patience = env.patience(env.limit(30));
    loop {
        match env.send("POST", "/api/v1/namespaces", "application/json", &body).await {
            // Its name is ours alone: it was made, and only the answer got lost.
            Ok(_) | Err(Refused { code: 409, .. }) => return Ok(()),
            Err(refused) => patience.rest(|| format!("namespace {name}: {refused:?}")).await?,
        }
    }
}
