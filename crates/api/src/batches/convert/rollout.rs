//! The rules for a Rollout. A field that only the other version has is none here, and goes; the
//! record keeps it.

use engine::quantity::IntOrPercent;
use serde_json::{Value, json};

use super::ConvertError;
use super::shape::{Fields, annotate, annotation};
use crate::batches::names::{ROLLING_STYLE, TRAFFIC_ROUTING};
use crate::batches::replicas::count;

/// v1alpha1 to v1beta1.
pub(super) fn up(mut root: Fields<'_>) -> Result<(), ConvertError> {
    let style = annotation(&mut root, ROLLING_STYLE)?;
    let routing = annotation(&mut root, TRAFFIC_ROUTING)?;
    if let Some(mut spec) = root.child("spec")? {
        lift(&mut spec, "objectRef")?;
        spec.map.remove("rolloutID");
        if let Some(mut strategy) = spec.child("strategy")?
            && let Some(mut canary) = strategy.child("canary")?
        {
            canary.each("steps", step_up)?;
            // No style means canary here, for whichever kind: it matters for a Deployment alone.
            let is_partition = style.is_some_and(|style| style.eq_ignore_ascii_case("partition"));
            canary.map.insert("enableExtraWorkloadForCanary".into(), json!(!is_partition));
            canary.map.remove("trafficRoutingRef");
            if let Some(routing) = routing {
                canary.map.insert("trafficRoutingRef".into(), json!(routing));
            }
        }
    }
    // What `kubectl get` shows; the original leaves it empty until its controller comes by.
    if let Some(mut status) = root.child("status")? {
        let mut shown = (json!(0), json!(""));
        if let Some(canary) = status.child("canaryStatus")? {
            let take = |key: &str, or: Value| canary.map.get(key).cloned().unwrap_or(or);
            shown = (take("currentStepIndex", shown.0), take("currentStepState", shown.1));
        }
        status.map.insert("currentStepIndex".into(), shown.0);
        status.map.insert("currentStepState".into(), shown.1);
    }
    Ok(())
}

fn step_up(step: &mut Fields<'_>) -> Result<(), ConvertError> {
    step.map.remove("traffic");
    let Some(weight) = step.integer("weight")? else { return Ok(()) };
    step.map.remove("weight");
    let share = json!(format!("{weight}%"));
    if step.map.get("replicas").is_none_or(Value::is_null) {
        step.map.insert("replicas".into(), share.clone());
    }
    step.map.insert("traffic".into(), share);
    Ok(())
}

/// v1beta1 to v1alpha1.
pub(super) fn down(mut root: Fields<'_>) -> Result<(), ConvertError> {
    let (mut style, mut routing) = (None, None);
    if let Some(mut spec) = root.child("spec")? {
        lower(&mut spec, "objectRef");
        spec.map.remove("rolloutID");
        if let Some(mut strategy) = spec.child("strategy")?
            && let Some(mut canary) = strategy.child("canary")?
        {
            canary.each("steps", step_down)?;
            let is_canary = canary.flag("enableExtraWorkloadForCanary")?;
            canary.map.remove("enableExtraWorkloadForCanary");
            style = Some(if is_canary { "canary" } else { "partition" });
            routing = canary.text("trafficRoutingRef")?;
            canary.map.remove("trafficRoutingRef");
        }
    }
    if let Some(style) = style {
        annotate(&mut root, ROLLING_STYLE, style, str::eq_ignore_ascii_case)?;
    }
    if let Some(routing) = routing {
        annotate(&mut root, TRAFFIC_ROUTING, &routing, |found, wanted| found == wanted)?;
    }
    if let Some(status) = root.child("status")? {
        status.map.remove("currentStepIndex");
        status.map.remove("currentStepState");
    }
    Ok(())
}

fn step_down(step: &mut Fields<'_>) -> Result<(), ConvertError> {
    step.map.remove("weight");
    // What is no percentage is no weight either; the record keeps it.
    let Some(traffic) = step.text("traffic")? else { return Ok(()) };
    step.map.remove("traffic");
    if let Ok(IntOrPercent::Percent(weight)) = count(&json!(traffic)) {
        step.map.insert("weight".into(), json!(weight));
    }
    Ok(())
}

/// `spec.KEY.workloadRef` to `spec.workloadRef`.
pub(super) fn lift(spec: &mut Fields<'_>, key: &str) -> Result<(), ConvertError> {
    spec.map.remove("workloadRef");
    let Some(holder) = spec.child(key)? else { return Ok(()) };
    let workload = holder.map.remove("workloadRef");
    spec.map.remove(key);
    if let Some(workload) = workload {
        spec.map.insert("workloadRef".into(), workload);
    }
    Ok(())
}

/// The way back of [`lift`].
pub(super) fn lower(spec: &mut Fields<'_>, key: &str) {
    spec.map.remove(key);
    if let Some(workload) = spec.map.remove("workloadRef") {
        spec.map.insert(key.into(), json!({"workloadRef": workload}));
    }
}
