//! PodDisruptionBudgets: whom they select and what they allow.

use engine::world::Budget;
use serde::Deserialize;
use serde_json::Value;

use super::meta::{Meta, null_is_empty};
use crate::watch::{Source, Watched};

/// A PodDisruptionBudget.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "Raw")]
pub struct BudgetSeen {
    /// Metadata.
    pub meta: Meta,
    /// `spec.selector`; absent selects nothing, an empty one everything in the namespace.
    pub selector: Option<Selector>,
    /// The budget as decisions see it.
    pub budget: Budget,
}

impl BudgetSeen {
    /// Where they are watched.
    pub const SOURCE: Source = Source::of("poddisruptionbudgets", &["/apis/policy/v1"]);
}

impl Watched for BudgetSeen {
    fn resource_version(&self) -> &str {
        &self.meta.resource_version
    }
}

/// A label selector.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Selector {
    #[serde(deserialize_with = "null_is_empty")]
    match_labels: std::collections::BTreeMap<String, String>,
    #[serde(deserialize_with = "null_is_empty")]
    match_expressions: Vec<Expression>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Expression {
    key: String,
    operator: String,
    #[serde(deserialize_with = "null_is_empty")]
    values: Vec<String>,
}

impl Selector {
    /// Whether it selects Pods with these labels (a JSON object, or null for none).
    pub fn matches(&self, labels: &Value) -> bool {
        let value = |key: &str| labels.get(key).and_then(Value::as_str);
        self.match_labels.iter().all(|(key, wanted)| value(key) == Some(wanted))
            && self.match_expressions.iter().all(|expression| {
                let found = value(&expression.key);
                let among =
                    || found.is_some_and(|found| expression.values.iter().any(|one| one == found));
                match expression.operator.as_str() {
                    "In" => among(),
                    // As in Kubernetes, a label that is not there is not among any values.
                    "NotIn" => !among(),
                    "Exists" => found.is_some(),
                    "DoesNotExist" => found.is_none(),
                    _ => false,
                }
            })
    }
}

impl BudgetSeen {
    /// Whether it selects Pods with these labels.
    pub fn selects(&self, labels: &Value) -> bool {
        self.selector.as_ref().is_some_and(|selector| selector.matches(labels))
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Raw {
    metadata: Meta,
    spec: RawSpec,
    status: RawStatus,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawSpec {
    selector: Option<Selector>,
    min_available: Option<Value>,
    max_unavailable: Option<Value>,
    unhealthy_pod_eviction_policy: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawStatus {
    observed_generation: i64,
    disruptions_allowed: i64,
    current_healthy: i64,
    desired_healthy: i64,
    expected_pods: i64,
    #[serde(deserialize_with = "null_is_empty")]
    conditions: Vec<RawCondition>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawCondition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
    reason: String,
    message: String,
}

impl From<Raw> for BudgetSeen {
    fn from(raw: Raw) -> Self {
        let Raw { metadata, spec, status } = raw;
        let count = |number: i64| u32::try_from(number.max(0)).unwrap_or(u32::MAX);
        let sync_failed = status.conditions.iter().find(|condition| {
            condition.kind == "DisruptionAllowed"
                && condition.status == "False"
                && condition.reason == "SyncFailed"
        });
        let limit = match (&spec.max_unavailable, &spec.min_available) {
            (Some(limit), _) => format!("maxUnavailable: {}", words(limit)),
            (None, Some(limit)) => format!("minAvailable: {}", words(limit)),
            (None, None) => Budget::NO_LIMIT.to_owned(),
        };
        let budget = Budget {
            name: metadata.name.clone(),
            limit,
            observed: status.observed_generation >= metadata.generation
                && status.observed_generation > 0,
            allowed: count(status.disruptions_allowed),
            current_healthy: count(status.current_healthy),
            desired_healthy: count(status.desired_healthy),
            expected: count(status.expected_pods),
            always_allow_unhealthy: spec.unhealthy_pod_eviction_policy == "AlwaysAllow",
            sync_failed: sync_failed.map(|condition| condition.message.clone()),
        };
        Self { meta: metadata, selector: spec.selector, budget }
    }
}

fn words(limit: &Value) -> String {
    limit.as_str().map_or_else(|| limit.to_string(), str::to_owned)
}
