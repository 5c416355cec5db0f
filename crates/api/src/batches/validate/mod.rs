//! What is wrong with an object of this group, or will surprise: the original's rules with its
//! words, and ours where it lets through what nobody can mean.
//!
//! Raw JSON goes in, so that an object of the wrong shape gets an answer too. Rules for the shape
//! come from the schema of the CRD.

mod release;
mod rollout;
mod steps;
mod update;
mod view;

use serde_json::Value;

use self::view::View;
use super::convert::{Version, convert};
use super::crds::schema_of;
use super::names::CONVERSION;
use super::rollout::WorkloadRef;
use crate::finding::{Finding, Severity};
use crate::structural;

/// What else has to be known to judge an object.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The object as it is stored, if this is an update of it: as new as can be, its phase counts.
    pub before: Option<&'a Value>,
    /// The other Rollouts of the cluster, or of the namespace at least.
    pub others: &'a [Claim],
    /// The flags of the original.
    pub rules: Rules,
}

/// What can be changed by the flags of the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// `--partition-percent-limit`: percent that a step with traffic rules may have at most.
    pub partition_percent_limit: u32,
    /// `--filter-workload-type`: whether kinds that are not known are refused.
    pub filter_workload_type: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self { partition_percent_limit: 50, filter_workload_type: true }
    }
}

/// A Rollout's hold on a workload of its namespace. A disabled one has it as well.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    pub namespace: String,
    pub name: String,
    pub workload: WorkloadRef,
}

impl Claim {
    /// Of a Rollout in either version; `None` if it names no workload.
    pub fn of(rollout: &Value) -> Option<Self> {
        let view = View { root: rollout, version: version(rollout)? };
        let (namespace, name) = view.place();
        Some(Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            workload: view.workload()?,
        })
    }
}

/// Everything there is to say about a Rollout or BatchRelease, errors first.
///
/// An update is not refused for what was wrong before, with the same words at the same place: a
/// finalizer can always go, and a stored object that today's rules refuse can be mended field by
/// field. Then it is a warning.
pub fn validate(object: &Value, context: &Context<'_>) -> Vec<Finding> {
    let mut findings = alone(object, context);
    if let Some(before) = context.before {
        let known = alone(before, context);
        for finding in findings.iter_mut().filter(|finding| known.contains(finding)) {
            finding.severity = Severity::Warning;
        }
        update::check(before, object, &mut findings);
    }
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// What is wrong with an object as it is.
fn alone(object: &Value, context: &Context<'_>) -> Vec<Finding> {
    let Some(schema) = schema_of(object) else {
        let found = |key: &str| object.get(key).unwrap_or(&Value::Null).to_string();
        return vec![Finding::error(
            "kind",
            format!(
                "{} of apiVersion {} is not served; Rollout and BatchRelease of \
                 rollouts.kruise.io/v1beta1 are",
                found("kind"),
                found("apiVersion")
            ),
        )];
    };
    let mut findings = structural::check(object, schema);
    match (object["kind"].as_str(), version(object)) {
        (Some("Rollout"), Some(version)) => {
            rollout::check(&View { root: object, version }, context, &mut findings);
        }
        (Some("BatchRelease"), Some(version)) => {
            release::check(object, version, context.rules, &mut findings);
        }
        // A RolloutHistory is written by us alone.
        _ => {}
    }
    stored(object, context, &mut findings);
    findings
}

/// An older object may have a record of what its version cannot say: what comes of it counts.
fn stored(object: &Value, context: &Context<'_>, out: &mut Vec<Finding>) {
    let has_record = object
        .get("metadata")
        .and_then(|metadata| metadata.get("annotations"))
        .is_some_and(|all| all.get(CONVERSION).is_some());
    if !has_record || version(object) != Some(Version::V1alpha1) {
        return;
    }
    let Ok(made) = convert(object, Version::V1beta1) else { return };
    for finding in alone(&made, context) {
        let is_said = out.iter().any(|known| known.message == finding.message);
        if finding.severity == Severity::Error && !is_said {
            out.push(finding);
        }
    }
}

fn version(object: &Value) -> Option<Version> {
    Version::of(object.get("apiVersion")?.as_str()?)
}

/// Whether a kind can be released in batches.
fn is_served(workload: &WorkloadRef) -> bool {
    let kinds: &[&str] = match workload.group() {
        "apps" => &["Deployment", "StatefulSet", "DaemonSet"],
        "apps.kruise.io" => &["CloneSet", "StatefulSet", "DaemonSet"],
        _ => &[],
    };
    kinds.contains(&workload.kind.as_str())
}

/// What is said of a workload, in both kinds.
fn workload(found: Option<&Value>, path: &str, rules: Rules, out: &mut Vec<Finding>) {
    let Some(found) = found else {
        out.push(Finding::error(path, "WorkloadRef is required"));
        return;
    };
    // What is missing in it is said by the schema.
    if ["apiVersion", "kind", "name"].iter().any(|key| found.get(key).is_none()) {
        return;
    }
    let Ok(workload) = serde_json::from_value::<WorkloadRef>(found.clone()) else { return };
    if rules.filter_workload_type && !is_served(&workload) {
        let words = format!(
            "WorkloadRef kind is not supported: {} of {}; name a Deployment, StatefulSet or DaemonSet of \
             apps/v1, or a CloneSet, StatefulSet or DaemonSet of apps.kruise.io/v1beta1",
            workload.kind, workload.api_version
        );
        out.push(Finding::error(path, words));
    }
    if workload.name.is_empty() {
        out.push(Finding::error(format!("{path}.name"), "is empty; name the workload"));
    }
}
