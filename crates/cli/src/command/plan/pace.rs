//! How a step of a Rollout goes: in which order, and how many Pods may be missing or unready meanwhile.

use api::batches::Plan;
use api::batches::names::DEPLOYMENT_STRATEGY;
use cluster::Kind;
use cluster::seen::BudgetSeen;
use engine::mover::replica_sets::Bounds;
use engine::quantity::IntOrPercent;
use serde_json::Value;

/// In which order Pods go.
pub(super) fn order(kind: Option<Kind>) -> &'static str {
    match kind {
        Some(Kind::Deployment) => {
            "new Pods beside the old ones; of these, those that are not ready go first, then those of the \
             newest old revision"
        }
        Some(Kind::StatefulSet) => {
            "from the highest ordinal down, a Pod that is broken before the others"
        }
        Some(Kind::CloneSet) => {
            "as the CloneSet's own controller picks them: Pods that are not ready first, where no priorityStrategy \
             says otherwise"
        }
        Some(Kind::AdvancedStatefulSet) => {
            "from the highest ordinal down; with unorderedUpdate as its own controller picks them"
        }
        Some(Kind::AdvancedDaemonSet) => {
            "in the order of their Nodes' names; an old Pod that is down goes besides"
        }
        Some(Kind::DaemonSet) => {
            "Pods that are not running, then those that are not ready, then by the lowest \
             controller.kubernetes.io/pod-deletion-cost, then the newest"
        }
        None => "",
    }
}

/// A number of Pods, or a share of them, in a field that has a default.
fn count(value: &Value, default: IntOrPercent) -> IntOrPercent {
    api::batches::count(value).unwrap_or(default)
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
    kind: Option<Kind>,
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
        Some(Kind::Deployment) => {
            let (surge, unavailable) = rolling(workload);
            let bounds = Bounds::of(surge, unavailable, replicas);
            format!(
                "at most {} Pods at once (maxSurge {surge}: {} more), at least {} available \
                 (maxUnavailable {unavailable}: {} fewer)",
                replicas.saturating_add(bounds.surge),
                bounds.surge,
                replicas.saturating_sub(bounds.unavailable),
                bounds.unavailable
            )
        }
        Some(Kind::StatefulSet) if !budget.is_empty() => format!("{budget} sets the pace"),
        Some(Kind::StatefulSet) => {
            "a PodDisruptionBudget sets the pace; without one, one Pod at a time".to_owned()
        }
        Some(kind) => {
            let strategy = &workload["spec"]["updateStrategy"];
            let (rolling, most) = match kind {
                Kind::CloneSet => (strategy, IntOrPercent::Percent(20)),
                _ => (&strategy["rollingUpdate"], IntOrPercent::Int(1)),
            };
            let most = count(&rolling["maxUnavailable"], most);
            let surge = count(&rolling["maxSurge"], IntOrPercent::Int(0));
            let surge = match surge {
                // Not used in a release.
                _ if kind == Kind::DaemonSet => String::new(),
                IntOrPercent::Int(0) | IntOrPercent::Percent(0) => String::new(),
                surge => format!(", {surge} more (maxSurge)"),
            };
            let budget =
                if budget.is_empty() { String::new() } else { format!(", and as {budget} allows") };
            format!("at most {most} unavailable at once (maxUnavailable){surge}{budget}")
        }
        None => String::new(),
    }
}

/// Unready Pods with which a step is done all the same.
pub(super) fn tolerates(plan: &Plan, kind: Option<Kind>, workload: &Value) -> String {
    match (plan.failure_threshold, kind) {
        (Some(threshold), _) => format!("{threshold} of the updated Pods (failureThreshold)"),
        (None, Some(Kind::Deployment)) if !workload.is_null() => {
            let (_, unavailable) = rolling(workload);
            format!("{unavailable} of the updated Pods (the workload's maxUnavailable)")
        }
        (None, _) => "as many of the updated Pods as the workload's maxUnavailable".to_owned(),
    }
}
