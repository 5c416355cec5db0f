//! Every scenario on the embedded cluster, in virtual time: one test each.
//!
//! The operator asks as the account of `sluice install`, with the rights that its manifests give that
//! account: a request that these don't cover is refused, and fails the scenario.
//!
//! `SLUICE_SCENARIOS_SEED` runs the same scenarios on another cluster.

mod rights;

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
    let (router, refused) = rights::of_the_account(&harness).await;
    let operator = harness.operator(router, "operator", settings);
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
    let refused = std::mem::take(&mut *refused.lock().expect("no holder panics"));
    assert!(refused.is_empty(), "the account may not do what the operator asked for: {refused:?}");
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
fn an_account_without_roles_is_refused_and_that_is_noted() {
    in_virtual_time(async {
        let harness = Harness::start(1).await;
        let (router, refused) = rights::seen_by(&harness, "nobody");
        let client = kube::Client::new(router, "default");
        let pods = send(&client, "GET", "/api/v1/pods", &serde_json::Value::Null).await;
        assert!(pods.is_err());
        let account = "system:serviceaccount:kube-system:nobody";
        let expect = format!(
            "pods is forbidden: User \"{account}\" cannot list resource \"pods\" in API group \"\" at \
             the cluster scope"
        );
        assert_eq!(*refused.lock().expect("no holder panics"), [expect]);
    });
}

#[test]
fn no_two_scenarios_have_one_name() {
    let mut names: Vec<&str> = all().iter().map(|scenario| scenario.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "a name is there twice");
}
