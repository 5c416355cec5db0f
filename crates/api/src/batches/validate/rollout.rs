//! The rules for a Rollout as it stands.

use engine::quantity::IntOrPercent;
use serde_json::Value;

use super::steps;
use super::view::{CANARY, STEPS, Style, View};
use super::{Context, workload};
use crate::batches::convert::Version;
use crate::batches::names::ROLLING_STYLE;
use crate::batches::replicas::count;
use crate::finding::Finding;

pub(super) fn check(view: &View<'_>, context: &Context<'_>, out: &mut Vec<Finding>) {
    workload(view.at(view.workload_path()), view.workload_path(), context.rules, out);
    style(view, out);
    if strategy(view, out) {
        steps::check(view, context.rules, out);
        threshold(view.at(&format!("{CANARY}.failureThreshold")), CANARY, out);
        without_effect(view, out);
    }
    not_served(view, out);
    conflict(view, context, out);
}

fn style(view: &View<'_>, out: &mut Vec<Finding>) {
    let style = view.annotation(ROLLING_STYLE).to_ascii_lowercase();
    if view.version == Version::V1alpha1 && !["", "canary", "partition"].contains(&style.as_str()) {
        out.push(Finding::error(
            format!("metadata.annotations.{ROLLING_STYLE}"),
            "Rolling style must be 'Canary', 'Partition' or empty",
        ));
    }
}

/// Whether there are steps to look at.
fn strategy(view: &View<'_>, out: &mut Vec<Finding>) -> bool {
    let canary = view.at(CANARY).is_some();
    let blue_green = view.at("spec.strategy.blueGreen").is_some();
    let path = "spec.strategy";
    match (canary, blue_green, view.version) {
        (false, false, Version::V1alpha1) => {
            out.push(Finding::error(CANARY, "Canary cannot be empty"));
        }
        (false, false, Version::V1beta1) => {
            out.push(Finding::error(path, "Canary and BlueGreen cannot both be empty"));
        }
        (true, true, _) => {
            out.push(Finding::error(path, "Canary and BlueGreen cannot both be set"));
        }
        _ => {}
    }
    canary
}

/// What other releases ask for: it would be half a release to leave it out.
fn not_served(view: &View<'_>, out: &mut Vec<Finding>) {
    let remedy = "Sluice releases in batches and leaves traffic alone";
    match (view.style(), view.version) {
        (Style::BlueGreen, _) => out.push(Finding::error(
            "spec.strategy.blueGreen",
            format!("blue-green releases are not served: {remedy}; use canary.steps"),
        )),
        (Style::Canary, Version::V1alpha1) if !view.is_in_batches() => {
            out.push(Finding::error(
                format!("metadata.annotations.{ROLLING_STYLE}"),
                format!(
                    "releases by a canary Deployment are not served, and a Deployment without this \
                     annotation asks for one: {remedy}; set it to \"partition\""
                ),
            ));
        }
        (Style::Canary, Version::V1beta1) if !view.is_in_batches() => out.push(Finding::error(
            format!("{CANARY}.enableExtraWorkloadForCanary"),
            format!("releases by a canary Deployment are not served: {remedy}; set it to false"),
        )),
        _ => {}
    }
    let routings = format!("{CANARY}.trafficRoutings");
    let found = view.list(&routings);
    if found.len() > 1 {
        let message = "Rollout currently only support single TrafficRouting.";
        out.push(Finding::error(CANARY, message));
    }
    let refused = || format!("traffic routing is not served: {remedy}; leave it out");
    if !found.is_empty() {
        out.push(Finding::error(routings, refused()));
    }
    if let Some((path, _)) = view.traffic_routing() {
        out.push(Finding::error(path, refused()));
    }
}

/// What may be left over from another kind of release.
fn without_effect(view: &View<'_>, out: &mut Vec<Finding>) {
    if !view.is_in_batches() {
        return;
    }
    for (index, step) in view.list(STEPS).iter().enumerate() {
        for key in ["traffic", "weight", "matches", "requestHeaderModifier"] {
            let is_there = step.get(key).is_some_and(|value| !value.is_null());
            // A weight without replicas says how many Pods.
            let counts = key == "weight" && step.get("replicas").is_none_or(Value::is_null);
            if is_there && !counts {
                out.push(Finding::warning(
                    format!("{STEPS}[{index}].{key}"),
                    "has no effect without trafficRoutings",
                ));
            }
        }
    }
    let path = format!("{CANARY}.patchPodTemplateMetadata");
    if view.at(&path).is_some() {
        out.push(Finding::warning(path, "has no effect: it is for a canary Deployment"));
    }
}

/// Of a Rollout and of a BatchRelease; `path` is where it stands.
pub(super) fn threshold(found: Option<&Value>, path: &str, out: &mut Vec<Finding>) {
    let is_good = |value| match count(value) {
        Ok(IntOrPercent::Percent(percent)) => percent <= 100,
        Ok(IntOrPercent::Int(_)) => true,
        Err(_) => false,
    };
    if found.is_some_and(|value| !is_good(value)) {
        out.push(Finding::error(
            format!("{path}.failureThreshold"),
            "must be a number of Pods, or a percentage from \"0%\" to \"100%\"",
        ));
    }
}

fn conflict(view: &View<'_>, context: &Context<'_>, out: &mut Vec<Finding>) {
    let (namespace, name) = view.place();
    let Some(workload) = view.workload() else { return };
    let other = context.others.iter().find(|other| {
        other.namespace == namespace
            && other.name != name
            && other.workload.is_same_workload(&workload)
    });
    if let Some(other) = other {
        out.push(Finding::error(
            view.workload_path(),
            format!(
                "This rollout conflict with Rollout({}/{}), one workload only have less than one \
                 Rollout",
                other.namespace, other.name
            ),
        ));
    }
}
