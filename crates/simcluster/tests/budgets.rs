//! Whatever is done to a set, evictions never break its budget, and at rest all is whole again.

#[allow(dead_code, reason = "each test binary uses a part of it")]
mod client;

use std::time::Duration;

use axum::Router;
use client::call;
use simcluster::json::{Value, json};
use tokio::time::sleep;

const SET: &str = "/apis/apps/v1/namespaces/default/statefulsets";
const PODS: &str = "/api/v1/namespaces/default/pods";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const REPLICAS: u64 = 6;
const MAY_BE_DOWN: usize = 2;

async fn set_up(router: &Router, parallel: bool) {
    let set = json!({
        "metadata": {"name": "web"},
        "spec": {
            "replicas": REPLICAS, "serviceName": "web",
            "podManagementPolicy": if parallel { "Parallel" } else { "OrderedReady" },
            "updateStrategy": {"type": "OnDelete"},
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
            },
        },
    });
    let budget = json!({
        "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": MAY_BE_DOWN,
        },
    });
    assert_eq!(call(router, "POST", SET, set).await.0, 201);
    assert_eq!(call(router, "POST", BUDGETS, budget).await.0, 201);
    sleep(Duration::from_secs(60)).await;
}

/// Pods that are ready and not on their way out.
async fn healthy(router: &Router) -> usize {
    let pods = call(router, "GET", PODS, Value::Null).await.1;
    let is_healthy = |pod: &&Value| {
        pod["metadata"]["deletionTimestamp"].is_null()
            && pod["status"]["conditions"].as_array().is_some_and(|all| {
                all.iter().any(|one| one["type"] == "Ready" && one["status"] == "True")
            })
    };
    pods["items"].as_array().map_or(0, |pods| pods.iter().filter(is_healthy).count())
}

#[tokio::test(start_paused = true)]
async fn random_evictions_and_templates_keep_the_budget_and_come_to_rest() {
    for seed in 0..12 {
        let cluster = client::seeded(seed);
        let driving = tokio::spawn(cluster.drive());
        let router = cluster.router();
        let mut rng = fastrand::Rng::with_seed(seed);
        set_up(&router, rng.bool()).await;
        for _ in 0..60 {
            match rng.u8(0..10) {
                0 => {
                    let image = format!("app:v{}", rng.u8(1..4));
                    let patch = json!({"spec": {"template": {"spec": {
                        "containers": [{"name": "main", "image": image}],
                    }}}});
                    let code = call(&router, "PATCH", &format!("{SET}/web"), patch).await.0;
                    assert_eq!(code, 200, "seed {seed}");
                }
                1..6 => {
                    let name = format!("web-{}", rng.u64(0..REPLICAS));
                    let body = json!({"metadata": {"name": name}});
                    let path = format!("{PODS}/{name}/eviction");
                    let code = call(&router, "POST", &path, body).await.0;
                    assert!([201, 404, 429].contains(&code), "seed {seed}: {code}");
                    let left = healthy(&router).await;
                    assert!(left + MAY_BE_DOWN >= 6, "seed {seed}: {left} healthy");
                }
                _ => sleep(Duration::from_millis(rng.u64(0..3_000))).await,
            }
        }
        sleep(Duration::from_secs(180)).await;
        let status = call(&router, "GET", &format!("{SET}/web"), Value::Null).await.1;
        assert_eq!(status["status"]["availableReplicas"], REPLICAS, "seed {seed}");
        let budget = call(&router, "GET", &format!("{BUDGETS}/web"), Value::Null).await.1;
        assert_eq!(budget["status"]["disruptionsAllowed"], MAY_BE_DOWN, "seed {seed}");
        driving.abort();
    }
}
