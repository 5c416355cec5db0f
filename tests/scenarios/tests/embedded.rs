//! Every scenario on the embedded cluster, in virtual time: one test each.
//!
//! `SLUICE_SCENARIOS_SEED` runs the same scenarios on another cluster.

use std::time::Duration;

use scenarios::{Env, Outcome, Scenario, all};
use serde_json::json;
use simulation::{Harness, in_virtual_time, send};

const NAMESPACE: &str = "scenario";

fn run(name: &str) {
    let found = all().into_iter().find(|scenario| scenario.name == name);
    let scenario = found.expect("the registry made this test");
    for admission in scenario.doors() {
        if let Err(failure) = in_virtual_time(on_a_cluster(scenario, *admission)) {
            let door = if *admission { "with" } else { "without" };
            panic!("{name}, {door} an admission webhook: {}", failure.words());
        }
    }
}

async fn on_a_cluster(scenario: Scenario, admission: bool) -> Outcome {
    let seed = std::env::var("SLUICE_SCENARIOS_SEED").ok().and_then(|seed| seed.parse().ok());
    let harness = Harness::start(seed.unwrap_or(1)).await;
    let settings = controller::Settings::default();
    let operator = harness.operator(harness.router(), "operator", settings);
    if admission {
        harness.admit_by(operator.admission.clone()).await;
    }
    let client = harness.client();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": NAMESPACE}});
    send(&client, "POST", "/api/v1/namespaces", &namespace).await.expect("a namespace");
    let env = Env {
        client,
        namespace: NAMESPACE.to_owned(),
        look: Duration::from_millis(500),
        patience: 1,
    };
    let outcome = (scenario.run)(env).await;
    operator.stop().await.expect("the operator leads to the end");
    outcome
}

macro_rules! tests {
    ($($theme:ident { $($name:ident,)* })*) => {
        $(mod $theme {
            $(#[test]
            fn $name() {
                super::run(stringify!($name));
            })*
        })*
    };
}

scenarios::with_scenarios!(tests);

#[test]
fn no_two_scenarios_have_one_name() {
    let mut names: Vec<&str> = all().iter().map(|scenario| scenario.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "a name is there twice");
}
