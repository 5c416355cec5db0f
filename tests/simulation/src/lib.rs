//! The whole operator on the embedded cluster, in virtual time, with seeded faults.

pub mod harness;

pub use harness::{Harness, Operator, in_virtual_time, send, wait_for};

#[cfg(test)]
mod smoke {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_rollout_goes_all_the_way() {
        let _ = std::env::var("SHOW").map(|_| ());
        in_virtual_time(async {
            let harness = Harness::start(1).await;
            let client = harness.client();
            let operator = harness.operator(harness.router(), "one", controller::Settings::default());
            let cr = json!({
                "apiVersion": "bedrock.operator.slack.com/v1", "kind": "StatefulsetRollout",
                "metadata": {"name": "web", "namespace": "default"},
                "spec": {"percent": 100, "rolloutIdentity": "a", "statefulset": {
                    "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "web"},
                    "spec": {"replicas": 4, "serviceName": "web", "podManagementPolicy": "Parallel",
                        "selector": {"matchLabels": {"app": "web"}},
                        "template": {"metadata": {"labels": {"app": "web"}},
                            "spec": {"containers": [{"name": "main", "image": "app:v1"}]}}}}}});
            let base = "/apis/bedrock.operator.slack.com/v1/namespaces/default/statefulsetrollouts";
            send(&client, "POST", base, &cr).await.unwrap();
            let path = format!("{base}/web");
            let show = || async {
                let cr = send(&client, "GET", &path, &Value::Null).await.unwrap();
                let status = &cr["status"];
                eprintln!("{} {} {}", harness.clock.now(), status["phase"], status["reason"]);
                status["phase"] == "RolloutDone"
            };
            let done = wait_for(Duration::from_secs(120), show).await;
            assert!(done.is_ok());
            let patch = json!({"spec": {"statefulset": {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "app:v2"}]}}}}}});
            send(&client, "PATCH", &path, &patch).await.unwrap();
            tokio::time::sleep(Duration::from_secs(1)).await;
            let done = wait_for(Duration::from_secs(320), show).await;
            let cr = send(&client, "GET", &path, &Value::Null).await.unwrap();
            eprintln!("{}", serde_json::to_string_pretty(&cr["status"]).unwrap());
            assert!(done.is_ok());
            operator.stop().await.unwrap();
        });
    }
}
