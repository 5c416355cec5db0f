//! What the Eviction API answers, and the slot of the budget that an answer costs.
//!
//! The order is the real server's: the budget is checked and decremented first, preconditions come
//! after. So an eviction refused for its UID has cost a slot all the same.

use jiff::Timestamp;

use crate::behaviour::pod;
use crate::behaviour::{budget, select};
use crate::error::{ApiError, Cause};
use crate::json::{Value, json};
use crate::object::{self, Object};
use crate::server::options::DeleteOptions;

/// How many evictions a budget may hold that its controller has not confirmed.
const UNCONFIRMED_LIMIT: usize = 2000;
/// Seconds to wait for a budget that its controller has not looked at yet.
const UNOBSERVED_RETRY: u32 = 10;
const REFUSED: &str = "Cannot evict pod as it would violate the pod's disruption budget.";

/// What is to be stored, and the answer.
#[derive(Debug, PartialEq)]
pub struct Eviction {
    /// The budget with the slot taken; to be stored through its status, whatever the verdict.
    pub budget: Option<Value>,
    /// The Pod with its DisruptionTarget condition, to be stored through its status and then
    /// deleted with the request's options (the preconditions hold); `None` on a dry run.
    pub verdict: Result<Option<Value>, ApiError>,
}

impl Eviction {
    fn refuse(error: ApiError) -> Self {
        Self { budget: None, verdict: Err(error) }
    }
}

/// The body of an accepted eviction, sent with 201.
pub fn accepted() -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201})
}

/// The answer to an eviction posted to a Pod that does not exist.
pub fn missing(name: &str) -> ApiError {
    ApiError::new(404, "NotFound", format!("pods \"{name}\" not found"))
        .with_details(json!({"name": name, "kind": "pods"}))
}

/// Whether the body names the Pod of the URL; asked before the Pod is looked up.
pub fn check_name(url_name: &str, eviction: &Value) -> Result<(), ApiError> {
    if object::name(eviction) == url_name {
        return Ok(());
    }
    Err(ApiError::bad_request("name in URL does not match name in Eviction object"))
}

/// Decides on one eviction. `budgets` are those of the Pod's namespace; `options` come from the
/// body's `deleteOptions` and the query.
pub fn decide(
    victim: &Object,
    budgets: &[&Object],
    options: &DeleteOptions,
    now: Timestamp,
) -> Eviction {
    let ignores_budget = object::is_terminating(victim)
        || matches!(pod::phase(victim), "Pending" | "Succeeded" | "Failed");
    if ignores_budget {
        return Eviction { budget: None, verdict: finish(victim, options, now) };
    }
    let labels = &victim["metadata"]["labels"];
    let mut matching =
        budgets.iter().filter(|budget| select::selects(&budget["spec"]["selector"], labels));
    let Some(budget) = matching.next() else {
        return Eviction { budget: None, verdict: finish(victim, options, now) };
    };
    if matching.next().is_some() {
        return Eviction::refuse(ApiError::internal(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does \
             not support.",
        ));
    }
    if !pod::is_ready(victim) && spares_unready(budget) {
        // The server pins the resourceVersion here, and answers its own conflict with a 429; with
        // the whole request under one lock only the caller's preconditions can fail.
        let verdict = finish(victim, options, now).map_err(|error| {
            if options.resource_version.is_none() { unobserved(budget) } else { error }
        });
        return Eviction { budget: None, verdict };
    }
    match take_slot(budget, object::name(victim), now) {
        Err(error) => Eviction::refuse(error),
        Ok(taken) => Eviction {
            budget: (!options.dry_run).then_some(taken),
            verdict: finish(victim, options, now),
        },
    }
}

/// Whether an unready Pod goes without costing a slot.
fn spares_unready(budget: &Value) -> bool {
    if budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow" {
        return true;
    }
    let count = |field: &str| budget["status"][field].as_i64().unwrap_or(0);
    let desired = count("desiredHealthy");
    count("currentHealthy") >= desired && desired > 0
}

fn take_slot(budget: &Value, pod: &str, now: Timestamp) -> Result<Value, ApiError> {
    let status = &budget["status"];
    let count = |field: &str| status[field].as_i64().unwrap_or(0);
    if count("observedGeneration") < object::generation(budget) {
        return Err(unobserved(budget));
    }
    let allowed = count("disruptionsAllowed");
    if allowed < 0 {
        return Err(forbidden(budget, "pdb disruptions allowed is negative"));
    }
    if status["disruptedPods"].as_object().is_some_and(|pods| pods.len() > UNCONFIRMED_LIMIT) {
        let why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
        return Err(forbidden(budget, why));
    }
    if allowed == 0 {
        return Err(used_up(budget));
    }
    let mut taken = budget.clone();
    taken["status"]["disruptionsAllowed"] = (allowed - 1).into();
    if allowed == 1 {
        budget::set_allowed_condition(&mut taken, now);
    }
    taken["status"]["disruptedPods"][pod] = pod::stamp(now).into();
    Ok(taken)
}

fn used_up(budget: &Value) -> ApiError {
    let name = object::name(budget);
    let count = |field: &str| budget["status"][field].as_i64().unwrap_or(0);
    let (desired, current) = (count("desiredHealthy"), count("currentHealthy"));
    let failed = pod::condition(budget, "DisruptionAllowed")
        .filter(|condition| condition["reason"] == "SyncFailed");
    let why = if let Some(failed) = failed {
        format!(
            "The disruption budget {name} does not allow evicting pods currently because it \
             failed sync: {}",
            failed["message"].as_str().unwrap_or_default()
        )
    } else if current <= desired {
        format!(
            "The disruption budget {name} needs {desired} healthy pods and has {current} currently"
        )
    } else {
        format!("The disruption budget {name} does not allow evicting pods currently")
    };
    too_many(why)
}

fn unobserved(budget: &Value) -> ApiError {
    let name = object::name(budget);
    too_many(format!("The disruption budget {name} is still being processed by the server."))
        .with_retry_after(UNOBSERVED_RETRY)
}

fn too_many(cause: String) -> ApiError {
    ApiError::new(429, "TooManyRequests", REFUSED)
        .with_details(json!({}))
        .with_causes(vec![Cause::new("DisruptionBudget", cause, "")])
}

fn forbidden(budget: &Value, why: &str) -> ApiError {
    let name = object::name(budget);
    let message = format!("poddisruptionbudget.policy \"{name}\" is forbidden: {why}");
    ApiError::new(403, "Forbidden", message)
        .with_details(json!({"name": name, "group": "policy", "kind": "poddisruptionbudget"}))
}

/// Preconditions, then the condition that tells an eviction from a plain delete.
fn finish(
    victim: &Value,
    options: &DeleteOptions,
    now: Timestamp,
) -> Result<Option<Value>, ApiError> {
    let stored = |what: &str, asked: &Option<String>, found: &str, why: &str| match asked {
        Some(asked) if asked != found => Err(conflict(
            object::name(victim),
            &format!(
                "the {what} in the precondition ({asked}) does not match the {what} in record \
                 ({found}). The object might have been {why}"
            ),
        )),
        _ => Ok(()),
    };
    stored("UID", &options.uid, object::uid(victim), "deleted and then recreated")?;
    let version = object::resource_version(victim);
    stored("ResourceVersion", &options.resource_version, version, "modified")?;
    if options.dry_run {
        return Ok(None);
    }
    let mut going = victim.clone();
    let (type_, reason) = ("DisruptionTarget", "EvictionByEvictionAPI");
    pod::set_condition(&mut going, type_, "True", reason, "Eviction API: evicting", now);
    // It is merged into what a taint may have left there.
    let generation = pod::condition(victim, type_).map(|said| said["observedGeneration"].clone());
    if let Some(generation) = generation.filter(|generation| !generation.is_null()) {
        let mut said = pod::condition(&going, type_).cloned().unwrap_or_default();
        said["observedGeneration"] = generation;
        pod::put_condition(&mut going, said);
    }
    Ok(Some(going))
}

fn conflict(name: &str, why: &str) -> ApiError {
    ApiError::new(
        409,
        "Conflict",
        format!("Operation cannot be fulfilled on Pod \"{name}\": {why}"),
    )
    .with_details(json!({"name": name, "kind": "Pod"}))
}

#[cfg(test)]
mod tests;
