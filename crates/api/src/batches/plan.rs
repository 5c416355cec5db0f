//! The steps of a release as numbers: what a front works with.

use engine::quantity::IntOrPercent;
use serde_json::Value;
use thiserror::Error;

use super::batch_release::ReleasePlan;
use super::replicas::{IntOrString, NotACount};
use super::rollout::{Canary, Pause, Strategy};
use crate::canonical::fingerprint;

/// The steps of a Rollout or the batches of a BatchRelease, in order; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub steps: Vec<PlanStep>,
    /// Unready updated Pods that a batch may have; `None` for the workload's maxUnavailable.
    pub failure_threshold: Option<IntOrPercent>,
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanStep {
    /// Updated Pods at its end, those of the steps before included.
    pub replicas: IntOrPercent,
    /// What is waited for then. Batches of a BatchRelease have none: its partition holds them.
    pub pause: StepPause,
}

/// What is waited for at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepPause {
    /// Somebody's approval.
    Approval,
    /// So many seconds; 0 goes on at once.
    Seconds(u32),
}

/// A plan that cannot be followed; validation refuses it, but it may have been stored before.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// Nothing to do.
    #[error("the plan has no steps")]
    Empty,
    /// A step without size.
    #[error("step {0} has no replicas")]
    NoReplicas(usize),
    /// A step whose size says nothing.
    #[error("replicas of step {step}: {source}")]
    Replicas { step: usize, source: NotACount },
    /// A step of no Pods.
    #[error("step {0} is of no Pods")]
    NoPods(usize),
    /// A threshold that says nothing.
    #[error("failureThreshold: {0}")]
    Threshold(NotACount),
}

impl Plan {
    /// The steps of a Rollout.
    pub fn of_canary(canary: &Canary) -> Result<Self, PlanError> {
        let steps = canary.steps.as_deref().unwrap_or_default().iter();
        Self::new(
            steps.map(|step| (step.common.replicas.as_ref(), pause(step.common.pause.as_ref()))),
            canary.common.failure_threshold.as_ref(),
        )
    }

    /// The batches of a BatchRelease.
    pub fn of_release(plan: &ReleasePlan) -> Result<Self, PlanError> {
        let batches = plan.batches.as_deref().unwrap_or_default().iter();
        Self::new(
            batches.map(|batch| (Some(&batch.canary_replicas), StepPause::Seconds(0))),
            plan.failure_threshold.as_ref(),
        )
    }

    fn new<'a>(
        steps: impl Iterator<Item = (Option<&'a IntOrString>, StepPause)>,
        threshold: Option<&IntOrString>,
    ) -> Result<Self, PlanError> {
        let mut read = Vec::new();
        for (index, (replicas, pause)) in steps.enumerate() {
            let step = index + 1;
            let replicas = replicas.ok_or(PlanError::NoReplicas(step))?;
            let replicas =
                replicas.read().map_err(|source| PlanError::Replicas { step, source })?;
            if matches!(replicas, IntOrPercent::Int(0) | IntOrPercent::Percent(0)) {
                return Err(PlanError::NoPods(step));
            }
            read.push(PlanStep { replicas, pause });
        }
        if read.is_empty() {
            return Err(PlanError::Empty);
        }
        let failure_threshold =
            threshold.map(IntOrString::read).transpose().map_err(PlanError::Threshold)?;
        Ok(Self { steps: read, failure_threshold })
    }

    /// Updated Pods at the end of each step, of a workload of `replicas`.
    ///
    /// Never fewer than at the step before: percentages and numbers may be mixed, and which of two
    /// is more depends on the replicas.
    pub fn targets(&self, replicas: u32) -> Vec<u32> {
        let sizes = self.steps.iter().map(|step| step.replicas.of(replicas));
        let running = |most: &mut u32, size: u32| {
            *most = size.max(*most);
            Some(*most)
        };
        sizes.scan(0, running).collect()
    }

    /// Updated Pods at the end of step `index`, from 0; after the last step, those of the last.
    pub fn target(&self, index: usize, replicas: u32) -> u32 {
        let upto = self.steps.iter().take(index.saturating_add(1));
        upto.map(|step| step.replicas.of(replicas)).max().unwrap_or(0)
    }

    /// Whether step `index`, from 0, is passed without its pause: the last one, if it is `100%`.
    pub fn is_end(&self, index: usize) -> bool {
        index + 1 == self.steps.len()
            && self.steps.get(index).is_some_and(|step| step.replicas == IntOrPercent::ALL)
    }
}

/// A negative duration is over at once, as in the original.
fn pause(pause: Option<&Pause>) -> StepPause {
    match pause.and_then(|pause| pause.duration) {
        None => StepPause::Approval,
        Some(seconds) => StepPause::Seconds(u32::try_from(seconds.max(0)).unwrap_or(u32::MAX)),
    }
}

/// Tells one plan of a Rollout from another: what is left of the strategy without the threshold and
/// the pauses, which may change in mid-release without changing the plan, and `paused`.
pub fn plan_hash(strategy: &Strategy) -> String {
    let mut strategy = serde_json::to_value(strategy).unwrap_or_default();
    if let Some(map) = strategy.as_object_mut() {
        map.remove("paused");
    }
    if let Some(canary) = strategy.get_mut("canary").and_then(Value::as_object_mut) {
        canary.remove("failureThreshold");
        for step in canary.get_mut("steps").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(step) = step.as_object_mut() {
                step.remove("pause");
            }
        }
    }
    fingerprint(&strategy)
}

/// Tells one plan of a BatchRelease from another: all of it, how far it may go included.
pub fn release_plan_hash(plan: &ReleasePlan) -> String {
    fingerprint(&serde_json::to_value(plan).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::rollout::Strategy;
    use super::*;

    fn strategy(steps: &Value) -> Strategy {
        serde_json::from_value(json!({"canary": {"steps": steps}})).unwrap()
    }

    fn plan(steps: &Value) -> Result<Plan, PlanError> {
        Plan::of_canary(&strategy(steps).canary.unwrap())
    }

    fn check(sizes: &Value, replicas: u32, expect: &[u32]) {
        let steps: Vec<Value> =
            sizes.as_array().unwrap().iter().map(|size| json!({"replicas": size})).collect();
        let plan = plan(&json!(steps)).unwrap();
        assert_eq!(plan.targets(replicas), expect, "{sizes} of {replicas}");
        for (index, target) in expect.iter().enumerate() {
            assert_eq!(plan.target(index, replicas), *target);
        }
    }

    #[test]
    fn steps_come_to_pods_and_never_go_back() {
        check(&json!([1, "50%", "100%"]), 10, &[1, 5, 10]);
        check(&json!([1, "50%", "100%"]), 1, &[1, 1, 1]);
        check(&json!(["20%", 5, "100%"]), 10, &[2, 5, 10]);
        check(&json!(["20%", 5, "100%"]), 100, &[20, 20, 100]);
        check(&json!(["1%"]), 28, &[1]);
        check(&json!([20]), 10, &[10]);
        check(&json!(["50%"]), 0, &[0]);
    }

    #[test]
    fn a_plan_that_cannot_be_followed_says_why() {
        let check = |steps: Value, expect: &str| {
            assert_eq!(plan(&steps).unwrap_err().to_string(), expect);
        };
        check(json!([]), "the plan has no steps");
        check(json!([{"replicas": 1}, {}]), "step 2 has no replicas");
        check(json!([{"replicas": "0%"}]), "step 1 is of no Pods");
        check(
            json!([{"replicas": "x"}]),
            "replicas of step 1: \"x\" is neither a whole number of Pods nor a percentage such as \
             \"20%\"",
        );
    }

    #[test]
    fn pauses_are_approvals_or_seconds() {
        let check = |pause: Value, expect: StepPause| {
            let plan = plan(&json!([{"replicas": 1, "pause": pause}])).unwrap();
            assert_eq!(plan.steps[0].pause, expect, "{pause}");
        };
        check(json!(null), StepPause::Approval);
        check(json!({}), StepPause::Approval);
        check(json!({"duration": 0}), StepPause::Seconds(0));
        check(json!({"duration": 30}), StepPause::Seconds(30));
        check(json!({"duration": -5}), StepPause::Seconds(0));
    }

    #[test]
    fn only_a_last_step_of_all_is_passed_without_its_pause() {
        let ends = |sizes: Value| {
            let sizes: Vec<Value> =
                sizes.as_array().unwrap().iter().map(|one| json!({"replicas": one})).collect();
            let plan = plan(&json!(sizes)).unwrap();
            (0..plan.steps.len()).map(|index| plan.is_end(index)).collect::<Vec<_>>()
        };
        assert_eq!(ends(json!([1, "100%"])), [false, true]);
        assert_eq!(ends(json!(["100%", "100%"])), [false, true]);
        assert_eq!(ends(json!(["99%"])), [false]);
        assert_eq!(ends(json!([1000])), [false]);
    }

    #[test]
    fn a_release_plan_is_read_as_well() {
        let plan: ReleasePlan = serde_json::from_value(json!({
            "batches": [{"canaryReplicas": 1}, {"canaryReplicas": "50%"}],
            "failureThreshold": "10%",
        }))
        .unwrap();
        let read = Plan::of_release(&plan).unwrap();
        assert_eq!(read.targets(10), [1, 5]);
        assert_eq!(read.failure_threshold, Some(IntOrPercent::Percent(10)));
        let mut further = plan.clone();
        further.batch_partition = Some(1);
        assert_ne!(release_plan_hash(&plan), release_plan_hash(&further));
    }

    #[test]
    fn only_sizes_make_another_plan() {
        let hash = |steps: Value| plan_hash(&strategy(&steps));
        let one = hash(json!([{"replicas": 1}, {"replicas": "50%"}]));
        assert_eq!(
            one,
            hash(json!([{"replicas": 1, "pause": {"duration": 5}}, {"replicas": "50%"}]))
        );
        assert_ne!(one, hash(json!([{"replicas": 2}, {"replicas": "50%"}])));
        assert_ne!(one, hash(json!([{"replicas": 1}])));
        let mut paused = strategy(&json!([{"replicas": 1}, {"replicas": "50%"}]));
        paused.paused = Some(true);
        paused.canary.as_mut().unwrap().common.failure_threshold =
            Some(IntOrPercent::Int(1).into());
        assert_eq!(one, plan_hash(&paused));
    }

    proptest! {
        #[test]
        fn targets_never_go_back(
            sizes in prop::collection::vec((any::<bool>(), 1u32..=100), 1..8),
            replicas in 0u32..300,
        ) {
            let steps: Vec<Value> = sizes
                .iter()
                .map(|(percent, size)| {
                    json!({"replicas": if *percent { json!(format!("{size}%")) } else { json!(size) }})
                })
                .collect();
            let targets = plan(&json!(steps)).unwrap().targets(replicas);
            prop_assert!(targets.is_sorted());
            prop_assert!(targets.iter().all(|target| *target <= replicas));
            prop_assert!(replicas == 0 || targets[0] >= 1);
        }
    }
}
