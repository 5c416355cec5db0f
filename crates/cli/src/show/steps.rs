//! The steps of a release as a table: what was asked for, what it means now, and where it stands.

use api::batches::{Plan, StepPause};
use engine::front::rollout::StepState;
use serde::Serialize;

use super::age::span;
use super::paint::{Paint, Tone};
use super::table::{Cell, columns, toned};
use cluster::Kind;

use crate::standing::Standing;

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct StepView {
    /// From 1.
    pub(crate) step: u32,
    /// As it was asked for: a number or a percentage.
    pub(crate) replicas: String,
    /// Updated Pods at its end, of the replicas of now; `None` where these are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pods: Option<u32>,
    /// How many of them it adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) adds: Option<u32>,
    /// `approval`, `30s`, or `none`.
    pub(crate) pause: String,
    /// Where it stands, in words; empty where nothing is released.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) state: String,
}

/// Updated Pods at the end of each step; never fewer than at the step before.
pub(crate) fn targets(plan: &Plan, kind: Option<Kind>, replicas: u32) -> Vec<u32> {
    let mut most = 0;
    let sizes = plan.steps.iter().map(|step| match kind {
        Some(Kind::Deployment) => step.replicas.of_deployment(replicas),
        _ => step.replicas.of(replicas),
    });
    sizes
        .map(|size| {
            most = most.max(size);
            most
        })
        .collect()
}

/// What is waited for at the end of step `index`, from 0.
pub(crate) fn pause(plan: &Plan, index: usize) -> String {
    match plan.steps.get(index).map(|step| step.pause) {
        _ if plan.is_end(index) => "none".to_owned(),
        None | Some(StepPause::Seconds(0)) => "none".to_owned(),
        Some(StepPause::Approval) => "approval".to_owned(),
        Some(StepPause::Seconds(seconds)) => span(i64::from(seconds)),
    }
}

/// All of a plan.
pub(crate) fn steps(
    plan: &Plan,
    kind: Option<Kind>,
    replicas: Option<u32>,
    standing: Option<&Standing>,
) -> Vec<StepView> {
    let targets = replicas.map(|replicas| targets(plan, kind, replicas));
    let mut before = 0;
    let view = |(index, asked): (usize, &api::batches::PlanStep)| {
        let pods = targets.as_ref().and_then(|targets| targets.get(index).copied());
        let adds = pods.map(|pods| pods - before);
        before = pods.unwrap_or(before);
        StepView {
            step: u32::try_from(index + 1).unwrap_or(u32::MAX),
            replicas: asked.replicas.to_string(),
            pods,
            adds,
            pause: pause(plan, index),
            state: standing.map_or(String::new(), |standing| state(standing, index)),
        }
    };
    plan.steps.iter().enumerate().map(view).collect()
}

/// Where step `index`, from 0, stands.
fn state(standing: &Standing, index: usize) -> String {
    let own = i64::try_from(index + 1).unwrap_or(i64::MAX);
    let (current, word) = match standing {
        Standing::Updating(step) => (*step, "updating"),
        Standing::Approval(step) => (*step, "waits for approval"),
        Standing::Clock(step, _) => (*step, "pauses"),
        Standing::Approved(step) => (*step, "approved"),
        Standing::Paused(step) => (*step, "paused"),
        Standing::Held | Standing::Beginning => return String::new(),
        Standing::Ending => return "done".to_owned(),
        _ => return String::new(),
    };
    match own.cmp(&current) {
        std::cmp::Ordering::Less => "done".to_owned(),
        std::cmp::Ordering::Equal => word.to_owned(),
        std::cmp::Ordering::Greater => String::new(),
    }
}

/// The table.
pub(crate) fn table(steps: &[StepView], paint: Paint) -> String {
    let row = |step: &StepView| -> Vec<Cell> {
        let tone = match step.state.as_str() {
            "done" => Tone::Good,
            "" => Tone::Faint,
            _ => Tone::Busy,
        };
        let number = |number: Option<u32>| number.map(|n| n.to_string()).unwrap_or_default();
        let adds = step.adds.map(|adds| format!("+{adds}")).unwrap_or_default();
        vec![
            step.step.to_string().into(),
            step.replicas.as_str().into(),
            number(step.pods).into(),
            adds.into(),
            step.pause.as_str().into(),
            toned(tone, step.state.as_str()),
        ]
    };
    let rows: Vec<Vec<Cell>> = steps.iter().map(row).collect();
    columns(paint, &["STEP", "REPLICAS", "PODS", "ADDS", "PAUSE", "STATE"], &rows)
}

/// The state of a step as the status has it, or the empty word.
pub(crate) fn known(state: &str) -> &'static str {
    StepState::of(state).map_or("", StepState::name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plan(sizes: &serde_json::Value) -> Plan {
        let steps: Vec<_> = sizes
            .as_array()
            .unwrap()
            .iter()
            .map(|size| json!({"replicas": size, "pause": {"duration": 30}}))
            .collect();
        Plan::of_canary(&serde_json::from_value(json!({"steps": steps})).unwrap()).unwrap()
    }

    #[test]
    fn a_step_comes_to_pods_as_its_kind_rounds() {
        let check = |sizes: serde_json::Value, kind, replicas, expect: &[u32]| {
            assert_eq!(
                targets(&plan(&sizes), Some(kind), replicas),
                expect,
                "{sizes} of {replicas}"
            );
        };
        check(json!([1, "50%", "100%"]), Kind::Deployment, 5, &[1, 3, 5]);
        check(json!(["20%", 5, "100%"]), Kind::StatefulSet, 10, &[2, 5, 10]);
        check(json!(["99%", "100%"]), Kind::Deployment, 3, &[2, 3]);
        check(json!(["99%", "100%"]), Kind::DaemonSet, 3, &[3, 3]);
        check(json!(["20%", 5]), Kind::Deployment, 100, &[20, 20]);
    }

    #[test]
    fn the_table_says_what_each_step_means_and_where_it_stands() {
        let plan = plan(&json!([1, "50%", "100%"]));
        let kind = Some(Kind::Deployment);
        let text = |standing: &Standing| {
            table(&steps(&plan, kind, Some(5), Some(standing)), Paint { on: false })
        };
        insta::assert_snapshot!(text(&Standing::Clock(2, None)), @r"
        STEP  REPLICAS  PODS  ADDS  PAUSE  STATE
        1     1         1     +1    30s    done
        2     50%       3     +2    30s    pauses
        3     100%      5     +2    none
        ");
        assert!(!text(&Standing::Healthy).contains("done"));
    }
}
