//! Every scenario on the embedded cluster, in virtual time: one test each.
//!
//! The operator asks as the account of `sluice install`, with the rights that its manifests give that
//! account: a request that these don't cover is refused, and fails the scenario.
//!
//! `SLUICE_SCENARIOS_SEED` runs the same scenarios on another cluster.

mod page;
mod rights;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};

use scenarios::kinds::{self, Facts};
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
    let harness = Harness::with_kruise(seed.unwrap_or(1)).await;
    let settings = controller::Settings::default();
    let (router, refused) = rights::of_the_account(&harness).await;
    let operator = harness.operator(router, "operator", settings);
    if admission {
        harness.admit_by(operator.admission.clone()).await;
    }
    let made = Arc::<Mutex<BTreeSet<String>>>::default();
    let client = kube::Client::new(noted(&harness, &made), "default");
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": NAMESPACE}});
    send(&client, "POST", "/api/v1/namespaces", &namespace).await.expect("a namespace");
    let env = Env {
        client,
        namespace: NAMESPACE.to_owned(),
        look: Duration::from_millis(500),
        patience: 1,
    };
    let begun = tokio::time::Instant::now();
    let outcome = (scenario.run)(env).await;
    println!("{}: {} virtual seconds", scenario.name, begun.elapsed().as_secs());
    operator.stop().await.expect("the operator leads to the end");
    let refused = std::mem::take(&mut *refused.lock().expect("no holder panics"));
    assert!(refused.is_empty(), "the account may not do what the operator asked for: {refused:?}");
    if outcome.is_ok() {
        plays_what_is_said_of_it(scenario.name, &made.lock().expect("no holder panics"));
    }
    outcome
}

/// The cluster, for the user; the letter of each workload that is created is noted.
fn noted(harness: &Harness, made: &Arc<Mutex<BTreeSet<String>>>) -> axum::Router {
    let made = Arc::clone(made);
    harness.router().layer(from_fn(move |request: Request, next: Next| {
        if request.method() == "POST" {
            // In whichever version.
            let path: Vec<&str> = request.uri().path().split('/').collect();
            if let ["", "apis", group, _, "namespaces", NAMESPACE, plural] = path[..] {
                let of_it = |it: &&&Facts| it.kind.group() == group && it.kind.1 == plural;
                let letter = kinds::ALL.iter().find(of_it).map(|it| it.letter.to_owned());
                made.lock().expect("no holder panics").extend(letter);
            }
        }
        next.run(request)
    }))
}

/// `docs/release-rules.md` says on which kinds a scenario shows something.
fn plays_what_is_said_of_it(name: &str, made: &BTreeSet<String>) {
    for rule in page::rules() {
        let said = rule.shown.iter().filter(|shown| shown.place.is_none() && shown.name == name);
        for kind in said.flat_map(|shown| &shown.kinds) {
            let is_one = page::letters().contains(&kind.as_str());
            assert!(is_one, "{kind} is no kind: {}", rule.words);
            assert!(made.contains(kind), "{}: {name} made none of {kind}", rule.words);
        }
    }
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
