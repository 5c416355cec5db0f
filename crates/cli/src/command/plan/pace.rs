//! How a step of a Rollout goes: in which order, and how many Pods may be missing or unready meanwhile.

use api::batches::names::DEPLOYMENT_STRATEGY;
use api::batches::{IntOrPercent, Plan};
use cluster::seen::BudgetSeen;
use engine::mover::replica_sets::Bounds;
use serde_json::Value;

use crate::facts::workload::WorkloadKind;

/// In which order Pods go.
pub(super) fn order(kind: Option<WorkloadKind>) -> &'static str {
    match kind {
        Some(WorkloadKind::Deployment) => {
            "new Pods beside the old ones; of these, those that are not ready go first, then those of the \
             newest old revision"
        }
        Some(WorkloadKind::StatefulSet) => {
            "from the highest ordinal down, a Pod that is broken before the others"
        }
        Some(WorkloadKind::DaemonSet) => {
            "Pods that are not running, then those that are not ready, then by the lowest \
             controller.kubernetes.io/pod-deletion-cost, then the newest"
        }
        None => "",
    }
}

/// A number of Pods, or a share of them, in a field that has a default.
fn count(value: &Value, default: IntOrPercent) -> IntOrPercent {
    IntOrPercent::read(value).unwrap_or(default)
}

/// `maxSurge` and `maxUnavailable` of a Deployment: of a release in between, as they were before it.
fn rolling(workload: &Value) -> (IntOrPercent, IntOrPercent) {
    let quarter = IntOrPercent::Percent(25);
    let annotation = workload["metadata"]["annotations"][DEPLOYMENT_STRATEGY].as_str();
    let kept: Value =
        annotation.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let strategy = match &kept["rollingUpdate"] {
        Value::Null => &workload["spec"]["strategy"]["rollingUpdate"],
        kept => kept,
    };
    (count(&strategy["maxSurge"], quarter), count(&strategy["maxUnavailable"], quarter))
}

/// How many Pods may be missing, or too many, meanwhile.
pub(super) fn bounds(
    kind: Option<WorkloadKind>,
    workload: &Value,
    replicas: u32,
    budgets: &[BudgetSeen],
) -> String {
    if workload.is_null() {
        return String::new();
    }
    let budget: Vec<String> = budgets
        .iter()
        .map(|seen| format!("PodDisruptionBudget {} ({})", seen.budget.name, seen.budget.limit))
        .collect();
    let budget = budget.join(", ");
    match kind {
        Some(WorkloadKind::Deployment) => {
            let (surge, unavailable) = rolling(workload);
            let bounds = Bounds::of(size(surge), size(unavailable), replicas);
            format!(
                "at most {} Pods at once (maxSurge {surge}: {} more), at least {} available \
                 (maxUnavailable {unavailable}: {} fewer)",
                replicas.saturating_add(bounds.surge),
                bounds.surge,
                replicas.saturating_sub(bounds.unavailable),
                bounds.unavailable
            )
        }
        Some(WorkloadKind::StatefulSet) if !budget.is_empty() => format!("{budget} sets the pace"),
        Some(WorkloadKind::StatefulSet) => {
            "a PodDisruptionBudget sets the pace; without one, one Pod at a time".to_owned()
        }
        Some(WorkloadKind::DaemonSet) => {
            let most = &workload["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"];
            let most = count(most, IntOrPercent::Int(1));
            let budget =
                if budget.is_empty() { String::new() } else { format!(", and as {budget} allows") };
            format!("at most {most} unavailable at once (maxUnavailable){budget}")
        }
        None => String::new(),
    }
}

fn size(count: IntOrPercent) -> engine::quantity::IntOrPercent {
    match count {
        IntOrPercent::Int(pods) => engine::quantity::IntOrPercent::Int(pods),
        IntOrPercent::Percent(percent) => engine::quantity::IntOrPercent::Percent(percent),
    }
}

/// Unready Pods with which a step is done all the same.
pub(super) fn tolerates(plan: &Plan, kind: Option<WorkloadKind>, workload: &Value) -> String {
    match (plan.failure_threshold, kind) {
        (Some(threshold), _) => format!("{threshold} of the updated Pods (failureThreshold)"),
        (None, Some(WorkloadKind::Deployment)) if !workload.is_null() => {
            let (_, unavailable) = rolling(workload);
            format!("{unavailable} of the updated Pods (the workload's maxUnavailable)")
        }
        (None, _) => "as many of the updated Pods as the workload's maxUnavailable".to_owned(),
    }
}
