//! The plan of a Rollout: for each step how many Pods, which ones as far as that is known, how many may
//! be missing or too many meanwhile, and what is waited for.

use std::ops::Range;

use api::batches::{Context, Plan, Rollout, WorkloadRef, to_stored, validate};
use api::{Finding, Severity};
use cluster::seen::BudgetSeen;
use serde::Serialize;
use serde_json::Value;

use super::pace::{bounds, order, tolerates};
use cluster::Kind;

use crate::command::lint::cross;
use crate::exit::Failure;
use crate::facts::decoded;
use crate::facts::kind;
use crate::facts::release::plan;
use crate::facts::workload::replicas;
use crate::session::Session;
use crate::show::paint::{Paint, Tone};
use crate::show::steps::{StepView, steps};
use crate::show::table::{Cell, columns, pairs, toned};
use crate::standing::Standing;

/// Where the replicas come from.
pub(super) struct Source<'a> {
    /// The workload, of the file or of the cluster.
    pub(super) workload: Option<&'a Value>,
    /// What a flag says instead.
    pub(super) replicas: Option<u32>,
}

/// What would happen.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Planned {
    namespace: String,
    name: String,
    /// `deployment/web`.
    workload: String,
    replicas: u32,
    steps: Vec<Step>,
    /// In which order Pods go.
    order: &'static str,
    /// How many may be missing, or too many, meanwhile.
    bounds: String,
    /// How many updated Pods may be unready.
    tolerates: String,
    /// What comes after the last step.
    end: String,
    /// Where it stands now, in the cluster.
    #[serde(skip_serializing_if = "String::is_empty")]
    now: String,
    /// What may surprise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// One step, and which Pods it updates.
#[derive(Debug, Serialize)]
struct Step {
    #[serde(flatten)]
    view: StepView,
    /// By name or in words; empty where that is not known.
    which: String,
}

/// The Rollout of a file as it would be stored, if nothing is wrong with it.
pub(super) fn check(file: &str, rollout: &Value) -> Result<Value, Failure> {
    let findings = validate(rollout, &Context::default());
    let errors: Vec<String> = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .take(5)
        .map(Finding::to_string)
        .collect();
    if !errors.is_empty() {
        return Err(Failure::Failed(format!(
            "{file}: not what a cluster would take; see `sluice lint -f {file}`\n{}",
            errors.join("\n")
        )));
    }
    to_stored(rollout).map_err(|error| Failure::Failed(format!("{file}: {error}")))
}

/// The workload of a Rollout that is not stored.
pub(super) async fn in_cluster(
    session: &Session,
    rollout: &Value,
) -> Result<Option<Value>, Failure> {
    let reference = reference(rollout)?;
    let found = crate::find::workload(session, &session.namespace, &reference).await?;
    if found.is_none() {
        let (kind, name) = (kind::named(&reference), &reference.name);
        return Err(Failure::NotFound(format!(
            "{kind} {}/{name} is neither in the file nor in the cluster: give --replicas NUMBER",
            session.namespace
        )));
    }
    Ok(found)
}

fn reference(rollout: &Value) -> Result<WorkloadRef, Failure> {
    let rollout: Rollout = decoded(rollout, "rollout")?;
    Ok(rollout.spec.workload_ref)
}

/// Plans it.
pub(super) fn planned(
    rollout: &Value,
    source: &Source<'_>,
    standing: Option<&Standing>,
    budgets: &[BudgetSeen],
) -> Result<Planned, Failure> {
    let seen: Rollout = decoded(rollout, "rollout")?;
    let name = seen.metadata.name.clone().unwrap_or_default();
    let namespace = seen.metadata.namespace.clone().unwrap_or_else(|| "default".to_owned());
    let title = format!("rollout {namespace}/{name}");
    let asked = plan(&seen).map_err(|error| Failure::Failed(format!("{title}: {error}")))?;
    let reference = &seen.spec.workload_ref;
    let kind = kind::of(reference);
    // How many Nodes there are, a manifest does not say.
    let counted = |kind, raw: &Value| {
        !kind::is_on_nodes(kind) || raw["status"]["desiredNumberScheduled"].is_number()
    };
    let known = kind.zip(source.workload).filter(|(kind, raw)| counted(*kind, raw));
    let known = known.map(|(kind, raw)| replicas(kind, raw));
    let Some(replicas) = source.replicas.or(known) else {
        let workload = kind::argument(reference);
        let why = match source.workload {
            Some(_) => "is not in the cluster, so nobody has counted its Nodes",
            None => "does not exist, or its Pods are not counted here",
        };
        return Err(Failure::Failed(format!(
            "{title}: its workload {workload} {why}: give --replicas NUMBER"
        )));
    };
    let nothing = Value::Null;
    let workload = source.workload.unwrap_or(&nothing);
    let views = steps(&asked, kind, Some(replicas), standing);
    let notes = cross::steps(&asked, kind, replicas).into_iter().map(|note| note.message);
    Ok(Planned {
        workload: kind::argument(reference),
        steps: which(views, kind, workload, reference, replicas),
        order: order(kind),
        bounds: bounds(kind, workload, replicas, budgets),
        tolerates: tolerates(&asked, kind, workload),
        end: end(&asked, replicas, kind),
        now: standing.map(|it| format!("it waits for {}", it.waits_for())).unwrap_or_default(),
        notes: notes.collect(),
        namespace,
        name,
        replicas,
    })
}

fn which(
    views: Vec<StepView>,
    kind: Option<Kind>,
    workload: &Value,
    reference: &WorkloadRef,
    replicas: u32,
) -> Vec<Step> {
    let start = workload["spec"]["ordinals"]["start"].as_u64().unwrap_or(0);
    let start = u32::try_from(start).unwrap_or(0);
    let name = &reference.name;
    let pods = |upto: u32, adds: u32| -> String {
        // Ordinals go down: what is updated already is above.
        let Range { start: low, end: high } =
            start + replicas - upto..start + replicas - upto + adds;
        match adds {
            0 => String::new(),
            1 => format!("{name}-{low}"),
            _ => format!("{name}-{} … {name}-{low}", high - 1),
        }
    };
    let named = |view: &StepView| match (kind, view.pods, view.adds) {
        (_, _, Some(0)) => "none: as many as before".to_owned(),
        (Some(Kind::StatefulSet), Some(upto), Some(adds)) => pods(upto, adds),
        _ => String::new(),
    };
    views.into_iter().map(|view| Step { which: named(&view), view }).collect()
}

fn end(plan: &Plan, replicas: u32, kind: Option<Kind>) -> String {
    let last = plan.steps.len() - 1;
    let all = crate::show::steps::targets(plan, kind, replicas).last() == Some(&replicas);
    match (plan.is_end(last), all) {
        (true, _) => "after the last step, without a pause".to_owned(),
        (false, true) => "after the last step and its pause".to_owned(),
        (false, false) => {
            let rest = replicas - crate::show::steps::targets(plan, kind, replicas)[last];
            format!(
                "after the last step and its pause, when the other {rest} Pods are updated at once"
            )
        }
    }
}

/// For people.
pub(super) fn words(plan: &Planned, paint: Paint, room: usize) -> String {
    let lines: Vec<(&str, Cell)> = vec![
        ("Rollout", format!("{}/{}", plan.namespace, plan.name).into()),
        ("Workload", format!("{}, {} Pods", plan.workload, plan.replicas).into()),
        ("Order", plan.order.into()),
        ("Bounds", plan.bounds.as_str().into()),
        ("Tolerates", plan.tolerates.as_str().into()),
        ("Ends", plan.end.as_str().into()),
        ("Now", plan.now.as_str().into()),
    ];
    let mut text = pairs(paint, room, &lines);
    let states = plan.steps.iter().any(|step| !step.view.state.is_empty());
    let named = plan.steps.iter().any(|step| !step.which.is_empty());
    let mut heading = vec!["STEP", "REPLICAS", "PODS", "ADDS", "THEN"];
    heading.extend(named.then_some("WHICH"));
    heading.extend(states.then_some("STATE"));
    let last = plan.steps.len().saturating_sub(1);
    let row = |(index, step): (usize, &Step)| -> Vec<Cell> {
        let number = |number: Option<u32>| number.map(|n| n.to_string()).unwrap_or_default();
        let then = match step.view.pause.as_str() {
            "approval" => "waits for an approval".to_owned(),
            "none" if index == last => "ends".to_owned(),
            "none" => "goes on at once".to_owned(),
            pause => format!("goes on after {pause}"),
        };
        let mut cells: Vec<Cell> = vec![
            step.view.step.to_string().into(),
            step.view.replicas.as_str().into(),
            number(step.view.pods).into(),
            format!("+{}", step.view.adds.unwrap_or(0)).into(),
            then.into(),
        ];
        if named {
            cells.push(step.which.as_str().into());
        }
        if states {
            cells.push(toned(Tone::Busy, step.view.state.as_str()));
        }
        cells
    };
    text.push('\n');
    text.push_str(&columns(
        paint,
        &heading,
        &plan.steps.iter().enumerate().map(row).collect::<Vec<_>>(),
    ));
    for note in &plan.notes {
        text.push_str(&format!("{}: {note}\n", paint.text(Tone::Busy, "note")));
    }
    text
}

#[cfg(test)]
mod tests {
    use api::batches::names::DEPLOYMENT_STRATEGY;
    use serde_json::json;

    use super::*;

    fn rollout(kind: &str, sizes: &[Value]) -> Value {
        let steps: Vec<Value> = sizes.iter().map(|size| json!({"replicas": size})).collect();
        json!({
            "apiVersion": "rollouts.kruise.io/v1beta1", "kind": "Rollout",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {
                "workloadRef": {"apiVersion": "apps/v1", "kind": kind, "name": "web"},
                "strategy": {"canary": {"steps": steps}},
            },
        })
    }

    fn text(kind: &str, sizes: &[Value], workload: &Value) -> String {
        let source = Source { workload: Some(workload), replicas: None };
        let planned = planned(&rollout(kind, sizes), &source, None, &[]).unwrap();
        words(&planned, Paint { on: false }, 100)
    }

    #[test]
    fn a_deployment_is_planned_with_its_bounds() {
        let workload = json!({"spec": {"replicas": 10, "strategy": {"rollingUpdate":
            {"maxSurge": "25%", "maxUnavailable": 1}}}});
        insta::assert_snapshot!(text(
            "Deployment",
            &[json!(1), json!("50%"), json!("100%")],
            &workload
        ));
    }

    #[test]
    fn a_stateful_set_is_planned_by_name_and_what_surprises_is_noted() {
        let workload = json!({"spec": {"replicas": 5, "ordinals": {"start": 1}}});
        insta::assert_snapshot!(text(
            "StatefulSet",
            &[json!("20%"), json!(1), json!("60%")],
            &workload
        ));
    }

    #[test]
    fn bounds_in_mid_release_are_those_put_aside() {
        let kept = json!({"rollingUpdate": {"maxSurge": 2, "maxUnavailable": 0}}).to_string();
        let workload = json!({
            "metadata": {"annotations": {DEPLOYMENT_STRATEGY: kept}},
            "spec": {"replicas": 10, "strategy": {"type": "Recreate"}},
        });
        let text = text("Deployment", &[json!("100%")], &workload);
        assert!(text.contains("at most 12 Pods at once"), "{text}");
    }
}
