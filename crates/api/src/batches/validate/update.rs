//! What may not change in the midst of a release.

use engine::front::rollout::Phase;
use serde_json::Value;

use super::version;
use super::view::{STEPS, Style, View};
use crate::batches::convert::Version;
use crate::batches::names::ROLLING_STYLE;
use crate::finding::Finding;

pub(super) fn check(before: &Value, after: &Value, out: &mut Vec<Finding>) {
    let (Some(old), Some(new)) = (version(before), version(after)) else { return };
    match after["kind"].as_str() {
        Some("Rollout") => {
            rollout(&View { root: before, version: old }, &View { root: after, version: new }, out);
        }
        Some("BatchRelease") => release(before, after, out),
        _ => {}
    }
}

fn rollout(before: &View<'_>, after: &View<'_>, out: &mut Vec<Finding>) {
    let moving = [Some(Phase::Progressing), Some(Phase::Terminating)];
    if !moving.contains(&Phase::of(before.phase())) {
        return;
    }
    if before.workload() != after.workload() {
        let path = after.workload_path();
        out.push(Finding::error(path, "Rollout 'ObjectRef' field is immutable"));
    }
    let is_old = after.version == Version::V1alpha1;
    let routings = "spec.strategy.canary.trafficRoutings";
    if before.list(routings) != after.list(routings) {
        let strategy = if is_old { "Canary" } else { "Canary|BlueGreen" };
        out.push(Finding::error(
            routings,
            format!("Rollout 'Strategy.{strategy}.TrafficRoutings' field is immutable"),
        ));
    }
    if is_old {
        let (was, is) = (before.annotation(ROLLING_STYLE), after.annotation(ROLLING_STYLE));
        if !was.eq_ignore_ascii_case(is) {
            out.push(Finding::error(
                format!("metadata.annotations.{ROLLING_STYLE}"),
                "Rollout 'Rolling-Style' annotation is immutable",
            ));
        }
        // Steps may come and go here, as in the original.
        return;
    }
    if before.style() != after.style() {
        let path = match (before.style(), after.style()) {
            (Style::BlueGreen, _) | (_, Style::BlueGreen) => "spec.strategy",
            _ => "spec.strategy.canary.enableExtraWorkloadForCanary",
        };
        out.push(Finding::error(
            path,
            "Rollout style and enableExtraWorkloadForCanary are immutable",
        ));
    }
    if before.list(STEPS).len() != after.list(STEPS).len() {
        out.push(Finding::error(STEPS, "Amount of Rollout steps are immutable"));
    }
}

/// A release that goes over to another workload would leave the first one held.
fn release(before: &Value, after: &Value, out: &mut Vec<Finding>) {
    let phase = before.pointer("/status/phase").and_then(Value::as_str).unwrap_or_default();
    if phase.is_empty() || phase == "Completed" {
        return;
    }
    for path in ["/spec/workloadRef", "/spec/targetReference/workloadRef"] {
        let changed = before.pointer(path) != after.pointer(path);
        if changed && before.pointer(path).is_some() {
            out.push(Finding::error(
                path.trim_start_matches('/').replace('/', "."),
                "workloadRef is immutable until the BatchRelease is Completed",
            ));
        }
    }
}
