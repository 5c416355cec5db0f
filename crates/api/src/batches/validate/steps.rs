//! The rules for the steps of a Rollout, and for the batches of a BatchRelease where they are alike.

use engine::quantity::IntOrPercent;
use serde_json::{Value, json};

use super::Rules;
use super::view::{CANARY, STEPS, View};
use crate::batches::convert::Version;
use crate::batches::replicas::count;
use crate::finding::Finding;

const REPLICAS: &str = "replicas must be positive number, or a percentage with \
                        \"0%\" < canaryReplicas <= \"100%\"";
const ORDER: &str = "Steps.CanaryReplicas must be a non decreasing sequence";

pub(super) fn check(view: &View<'_>, rules: Rules, out: &mut Vec<Finding>) {
    let steps = view.list(STEPS);
    if steps.is_empty() {
        out.push(Finding::error(STEPS, "The number of Canary.Steps cannot be empty"));
        return;
    }
    let limit = if view.is_in_batches() { rules.partition_percent_limit } else { 100 };
    let mut sizes = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let path = format!("{STEPS}[{index}]");
        sizes.push(match view.version {
            Version::V1beta1 => new_step(step, &path, limit, out),
            Version::V1alpha1 => old_step(step, &path, limit, out),
        });
        pause(step, &path, out);
    }
    order(&sizes, "replicas", STEPS, out);
    let has_traffic = !view.list(&format!("{CANARY}.trafficRoutings")).is_empty();
    if view.version == Version::V1alpha1 && has_traffic {
        weights(steps, out);
    }
    if let Some(Some(last)) = sizes.last() {
        end(*last, &format!("{STEPS}[{}].replicas", steps.len() - 1), out);
    }
}

fn field<'a>(step: &'a Value, key: &str) -> Option<&'a Value> {
    step.get(key).filter(|value| !value.is_null())
}

fn new_step(step: &Value, path: &str, limit: u32, out: &mut Vec<Finding>) -> Option<IntOrPercent> {
    let Some(replicas) = field(step, "replicas") else {
        out.push(Finding::error(format!("{path}.replicas"), "replicas cannot be empty"));
        return None;
    };
    let size = size(replicas, &format!("{path}.replicas"), out)?;
    let traffic = field(step, "traffic");
    let matches = step.get("matches").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
    if (traffic.is_some() || matches) && over(size, limit) {
        out.push(Finding::error(
            format!("{path}.replicas"),
            "For partition style rollout: step[x].replicas must not greater than \
             partition-percent-limit if traffic specified",
        ));
    }
    let is_share = |traffic| matches!(count(traffic), Ok(IntOrPercent::Percent(share)) if (1..=100).contains(&share));
    if traffic.is_some_and(|traffic| !is_share(traffic)) {
        out.push(Finding::error(
            format!("{path}.traffic"),
            "traffic must be percentage with \"0%\" < traffic <= \"100%\" in canary strategy",
        ));
    }
    Some(size)
}

fn old_step(step: &Value, path: &str, limit: u32, out: &mut Vec<Finding>) -> Option<IntOrPercent> {
    let (replicas, weight) = (field(step, "replicas"), field(step, "weight"));
    match (replicas, weight) {
        (None, None) => {
            out.push(Finding::error(path, "weight and replicas cannot be empty at the same time"));
            None
        }
        (Some(replicas), weight) => {
            let size = size(replicas, &format!("{path}.replicas"), out)?;
            if over(size, limit) && (weight.is_some() || field(step, "matches").is_some()) {
                out.push(Finding::error(
                    format!("{path}.replicas"),
                    "For patition style rollout: step[x].replicas must not greater than \
                     replicasLimitWithTraffic if traffic or matches specified",
                ));
            }
            Some(size)
        }
        (None, Some(weight)) => {
            let path = format!("{path}.weight");
            let share = weight.as_i64().and_then(|weight| u32::try_from(weight).ok());
            let Some(share) = share.filter(|share| (1..=100).contains(share)) else {
                out.push(Finding::error(
                    path,
                    "weight must be positive number, and less than or equal to \
                     replicasLimitWithTraffic (defaults to 30)",
                ));
                return None;
            };
            if share > limit {
                out.push(Finding::error(
                    path,
                    "For patition style rollout: step[x].weight must not greater than \
                     replicasLimitWithTraffic if replicas is not specified",
                ));
            }
            Some(IntOrPercent::Percent(share))
        }
    }
}

fn over(size: IntOrPercent, limit: u32) -> bool {
    matches!(size, IntOrPercent::Percent(percent) if percent > limit)
}

/// A number of Pods above 0, or a percentage from 1 to 100.
pub(super) fn size(value: &Value, path: &str, out: &mut Vec<Finding>) -> Option<IntOrPercent> {
    let size = count(value).ok().filter(|size| match size {
        IntOrPercent::Int(count) => *count > 0,
        IntOrPercent::Percent(percent) => (1..=100).contains(percent),
    });
    if size.is_none() {
        out.push(Finding::error(path, REPLICAS));
    }
    size
}

fn pause(step: &Value, path: &str, out: &mut Vec<Finding>) {
    let duration = field(step, "pause").and_then(|pause| field(pause, "duration"));
    // Above 32 bits, or no number at all: the schema says so, and that it is negative as well.
    if duration.and_then(Value::as_f64).is_some_and(|seconds| seconds < 0.0) {
        out.retain(|finding| finding.path != format!("{path}.pause.duration"));
        out.push(Finding::error(
            format!("{path}.pause.duration"),
            "is negative; write 0 to go on at once, or leave it out to wait for an approval",
        ));
    }
}

/// Neighbours of one type alone can be compared without the replicas.
pub(super) fn order(sizes: &[Option<IntOrPercent>], key: &str, list: &str, out: &mut Vec<Finding>) {
    for (index, pair) in sizes.windows(2).enumerate() {
        let goes_back = match pair {
            [Some(IntOrPercent::Int(less)), Some(IntOrPercent::Int(more))]
            | [Some(IntOrPercent::Percent(less)), Some(IntOrPercent::Percent(more))] => less > more,
            _ => false,
        };
        if goes_back {
            out.push(Finding::error(format!("{list}[{}].{key}", index + 1), ORDER));
        }
    }
}

fn weights(steps: &[Value], out: &mut Vec<Finding>) {
    let weight = |step: &Value| field(step, "weight").and_then(Value::as_i64);
    for (index, pair) in steps.windows(2).enumerate() {
        if let [before, after] = pair
            && let (Some(before), Some(after)) = (weight(before), weight(after))
            && after < before
        {
            out.push(Finding::error(
                format!("{STEPS}[{}].weight", index + 1),
                "Steps.Weight must be a non decreasing sequence",
            ));
        }
    }
}

/// A release does not stay at its last step.
fn end(last: IntOrPercent, path: &str, out: &mut Vec<Finding>) {
    if last != IntOrPercent::ALL {
        out.push(Finding::warning(
            path,
            format!(
                "is {} at the last step: when that is approved, the rest is updated at once; end \
                 with \"100%\"",
                json!(last.to_string())
            ),
        ));
    }
}
