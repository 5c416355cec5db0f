//! The Services: how the API server reaches the webhook, and a scraper the metrics.

use super::{Install, selector};
use serde_json::{Value, json};

/// The default of `--webhook-service`.
pub(super) const WEBHOOK: &str = "sluice-webhook";
const METRICS: &str = "sluice-metrics";

pub(super) fn manifests(install: &Install) -> Vec<Value> {
    let mut all = Vec::new();
    if install.is_cluster_wide() {
        all.push(service(install, WEBHOOK, 443, "webhook"));
    }
    all.push(service(install, METRICS, 8080, "metrics"));
    all
}

/// A Service that leads to the port of this name.
fn service(install: &Install, name: &str, port: u16, leads_to: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": install.metadata(name),
        "spec": {
            "selector": selector(),
            "ports": [
                {"name": leads_to, "port": port, "targetPort": leads_to, "protocol": "TCP"},
            ],
        },
    })
}
