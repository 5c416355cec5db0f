//! The rules for a BatchRelease. The original has none: what is refused here makes it panic or stop.

use serde_json::Value;

use super::steps::{order, size};
use super::{Rules, rollout::threshold, workload};
use crate::batches::convert::Version;
use crate::finding::Finding;

const PLAN: &str = "spec.releasePlan";
const BATCHES: &str = "spec.releasePlan.batches";

pub(super) fn check(release: &Value, version: Version, rules: Rules, out: &mut Vec<Finding>) {
    let at = |path: &str| {
        path.split('.').try_fold(release, |value, key| value.get(key)).filter(|v| !v.is_null())
    };
    let place = match version {
        Version::V1beta1 => "spec.workloadRef",
        Version::V1alpha1 => "spec.targetReference.workloadRef",
    };
    workload(at(place), place, rules, out);

    let batches = at(BATCHES).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if batches.is_empty() {
        out.push(Finding::error(BATCHES, "is empty; a release needs one batch at least"));
    }
    let sizes: Vec<_> = batches
        .iter()
        .enumerate()
        .map(|(index, batch)| {
            let path = format!("{BATCHES}[{index}].canaryReplicas");
            size(batch.get("canaryReplicas")?, &path, out)
        })
        .collect();
    order(&sizes, "canaryReplicas", BATCHES, out);
    threshold(at(&format!("{PLAN}.failureThreshold")), PLAN, out);

    let path = format!("{PLAN}.batchPartition");
    let partition = at(&path).and_then(Value::as_i64);
    let count = i64::try_from(batches.len()).unwrap_or(i64::MAX);
    match partition {
        Some(partition) if partition < 0 => {
            let remedy = "is negative; 0 is the first batch, and none at all ends the release";
            out.push(Finding::error(path, remedy));
        }
        Some(partition) if partition >= count && count > 0 => out.push(Finding::warning(
            path,
            format!("is {partition}, past the last batch, which is {}", count - 1),
        )),
        _ => {}
    }
    let path = format!("{PLAN}.finalizingPolicy");
    if let Some(policy) = at(&path).and_then(Value::as_str)
        && !["", "WaitResume", "Immediate"].contains(&policy)
    {
        out.push(Finding::error(path, format!("{policy:?} is not one of WaitResume, Immediate")));
    }
    style(at, place, out);
}

fn style<'a>(at: impl Fn(&str) -> Option<&'a Value>, place: &str, out: &mut Vec<Finding>) {
    let text = |path: &str| at(path).and_then(Value::as_str).unwrap_or_default();
    let path = format!("{PLAN}.rollingStyle");
    // Other kinds than a Deployment go in batches whatever is asked.
    let is_deployment = text(&format!("{place}.kind")) == "Deployment"
        && text(&format!("{place}.apiVersion")).starts_with("apps/");
    let extra = format!("{PLAN}.enableExtraWorkloadForCanary");
    let wants_extra = at(&extra) == Some(&Value::Bool(true));
    match text(&path) {
        "Partition" => {}
        "BlueGreen" => out.push(Finding::error(
            path,
            "blue-green releases are not served: Sluice releases in batches; use Partition",
        )),
        "Canary" if is_deployment => out.push(Finding::error(
            path,
            "releases by a canary Deployment are not served; use Partition",
        )),
        "" if is_deployment && wants_extra => out.push(Finding::error(
            extra,
            "releases by a canary Deployment are not served; set it to false",
        )),
        "" | "Canary" => {}
        other => out.push(Finding::error(
            path,
            format!("{other:?} is not one of Partition, Canary, BlueGreen"),
        )),
    }
}
