//! A Rollout as the rules look at it, whichever version it is in.

use serde_json::Value;

use crate::batches::convert::Version;
use crate::batches::names::{ROLLING_STYLE, TRAFFIC_ROUTING};
use crate::batches::rollout::WorkloadRef;

/// How a Rollout asks to be released, as the original reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Partition,
    Canary,
    BlueGreen,
}

pub(super) struct View<'a> {
    pub(super) root: &'a Value,
    pub(super) version: Version,
}

pub(super) const CANARY: &str = "spec.strategy.canary";
pub(super) const STEPS: &str = "spec.strategy.canary.steps";

impl<'a> View<'a> {
    /// Whatever stands at `path`, nulls and maps in between that are none left out.
    pub(super) fn at(&self, path: &str) -> Option<&'a Value> {
        path.split('.').try_fold(self.root, |value, key| value.get(key)).filter(|v| !v.is_null())
    }

    pub(super) fn list(&self, path: &str) -> &'a [Value] {
        self.at(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    pub(super) fn workload_path(&self) -> &'static str {
        match self.version {
            Version::V1alpha1 => "spec.objectRef.workloadRef",
            Version::V1beta1 => "spec.workloadRef",
        }
    }

    /// `None` if there is none, or not all of it.
    pub(super) fn workload(&self) -> Option<WorkloadRef> {
        let found = self.at(self.workload_path())?.clone();
        let found: WorkloadRef = serde_json::from_value(found).ok()?;
        (!found.kind.is_empty() && !found.name.is_empty()).then_some(found)
    }

    pub(super) fn annotation(&self, key: &str) -> &'a str {
        // The key itself has dots.
        let all = self.at("metadata.annotations");
        all.and_then(|all| all.get(key)).and_then(Value::as_str).unwrap_or_default()
    }

    /// As it is asked for, whatever the kind makes of it.
    pub(super) fn style(&self) -> Style {
        let is_canary = match self.version {
            Version::V1beta1 => {
                self.at("spec.strategy.canary.enableExtraWorkloadForCanary")
                    == Some(&Value::Bool(true))
            }
            Version::V1alpha1 => !self.annotation(ROLLING_STYLE).eq_ignore_ascii_case("partition"),
        };
        match (self.at("spec.strategy.blueGreen").is_some(), is_canary) {
            (true, _) => Style::BlueGreen,
            (false, true) => Style::Canary,
            (false, false) => Style::Partition,
        }
    }

    /// Canary is for Deployments alone: other kinds are released in batches all the same.
    pub(super) fn is_in_batches(&self) -> bool {
        let is_deployment = self
            .workload()
            .is_some_and(|workload| workload.group() == "apps" && workload.kind == "Deployment");
        match self.style() {
            Style::Partition => true,
            Style::Canary => !is_deployment,
            Style::BlueGreen => false,
        }
    }

    /// Name of a TrafficRouting, and where it is asked for.
    pub(super) fn traffic_routing(&self) -> Option<(String, &'a str)> {
        let field = format!("{CANARY}.trafficRoutingRef");
        let named = self.at(&field).and_then(Value::as_str).filter(|name| !name.is_empty());
        let annotated =
            Some(self.annotation(TRAFFIC_ROUTING)).filter(|annotation| !annotation.is_empty());
        named
            .map(|name| (field, name))
            .or(annotated.map(|name| (format!("metadata.annotations.{TRAFFIC_ROUTING}"), name)))
    }

    /// `shop/web`.
    pub(super) fn place(&self) -> (&'a str, &'a str) {
        let text = |path| self.at(path).and_then(Value::as_str).unwrap_or_default();
        (text("metadata.namespace"), text("metadata.name"))
    }

    pub(super) fn phase(&self) -> &'a str {
        self.at("status.phase").and_then(Value::as_str).unwrap_or_default()
    }
}
