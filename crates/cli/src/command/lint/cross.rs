//! A Rollout beside its workload: what the steps come to, of so many Pods.

use api::Finding;
use api::batches::{Plan, Rollout, StepPause, WorkloadRef, to_stored};
use cluster::Kind;
use cluster::seen::BudgetSeen;
use engine::quantity::IntOrPercent;
use serde_json::Value;

use crate::facts::kind;
use crate::facts::release::plan;
use crate::facts::workload::replicas;
use crate::show::steps::targets;

const STEPS: &str = "spec.strategy.canary.steps";

/// Everything there is to say of a Rollout, in either version, by the workload that is in the files.
pub(super) fn check(rollout: &Value, objects: &[Value]) -> Vec<Finding> {
    let Ok(stored) = to_stored(rollout) else { return Vec::new() };
    let Some(workload) = workload_of(&stored, objects) else { return Vec::new() };
    let Ok(seen) = serde_json::from_value::<Rollout>(stored) else { return Vec::new() };
    let (Some(kind), Ok(plan)) = (kind::of(&seen.spec.workload_ref), plan(&seen)) else {
        return Vec::new();
    };
    if kind::is_on_nodes(kind) {
        // It has as many Pods as there are Nodes for it.
        return Vec::new();
    }
    let mut findings = steps(&plan, kind.into(), replicas(kind, workload));
    // A v1alpha1 step may say its size as a weight.
    for finding in &mut findings {
        let path = finding.path.trim_end_matches(".replicas");
        let index =
            path.rsplit_once('[').and_then(|(_, rest)| rest.strip_suffix(']')?.parse().ok());
        let step = index.map(|index: usize| &rollout["spec"]["strategy"]["canary"]["steps"][index]);
        if step.is_some_and(|step| step["replicas"].is_null() && !step["weight"].is_null()) {
            finding.path = format!("{path}.weight");
        }
    }
    findings
}

/// The workload of a stored Rollout among the objects.
pub(in crate::command) fn workload_of<'a>(
    rollout: &Value,
    objects: &'a [Value],
) -> Option<&'a Value> {
    let reference = rollout["spec"]["workloadRef"].clone();
    let reference: WorkloadRef = serde_json::from_value(reference).ok()?;
    let kind = kind::of(&reference)?;
    objects.iter().find(|object| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Kind::of_version(&text(&object["apiVersion"]), &text(&object["kind"])) == Some(kind)
            && object["metadata"]["name"] == reference.name.as_str()
            && namespace(object) == namespace(rollout)
    })
}

/// The disruption budgets among the objects that select its Pods.
pub(in crate::command) fn budgets_of(workload: &Value, objects: &[Value]) -> Vec<BudgetSeen> {
    let labels = &workload["spec"]["template"]["metadata"]["labels"];
    let near = objects.iter().filter(|object| {
        object["kind"] == "PodDisruptionBudget" && namespace(object) == namespace(workload)
    });
    // What is wrong with one is said by who applies it.
    let read = near.filter_map(|object| serde_json::from_value::<BudgetSeen>(object.clone()).ok());
    read.filter(|budget| budget.selects(labels)).collect()
}

fn namespace(object: &Value) -> &str {
    object["metadata"]["namespace"].as_str().unwrap_or("default")
}

/// What a plan comes to, of so many Pods.
pub(in crate::command) fn steps(plan: &Plan, kind: Option<Kind>, replicas: u32) -> Vec<Finding> {
    if replicas == 0 {
        let message = "its workload has 0 replicas: a change is not released in steps then";
        return vec![Finding::warning(STEPS, message)];
    }
    let targets = targets(plan, kind, replicas);
    let mut findings = Vec::new();
    let pods = |count: u32| format!("{count} Pod{}", if count == 1 { "" } else { "s" });
    for (index, step) in plan.steps.iter().enumerate() {
        let path = format!("{STEPS}[{index}].replicas");
        let before = index.checked_sub(1).map(|before| targets[before]);
        if before == Some(targets[index]) {
            findings.push(Finding::warning(
                path.as_str(),
                format!(
                    "is {} of {replicas}, as many as at step {index}: step {} updates none",
                    pods(targets[index]),
                    index + 1
                ),
            ));
        } else if let IntOrPercent::Int(asked) = step.replicas
            && asked > replicas
        {
            findings.push(Finding::warning(
                path.as_str(),
                format!("asks for {asked} Pods, and there are {replicas}"),
            ));
        }
        if let Some(threshold) = plan.failure_threshold
            // One ready Pod at least is always asked for.
            && targets[index] > 1
            && threshold.of(targets[index]) >= targets[index]
        {
            findings.push(Finding::warning(
                "spec.strategy.canary.failureThreshold",
                format!(
                    "tolerates all {} of step {}: one ready Pod is enough there",
                    pods(targets[index]),
                    index + 1
                ),
            ));
        }
        if plan.is_end(index) && matches!(step.pause, StepPause::Seconds(seconds) if seconds > 0) {
            findings.push(Finding::warning(
                format!("{STEPS}[{index}].pause"),
                "has no effect: a last step of \"100%\" is passed without a pause",
            ));
        }
    }
    findings
}
