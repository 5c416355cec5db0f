//! A Rollout as commands show it and as `-o json` gives it.

use api::batches::Rollout;
use api::bedrock::pod_version;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::brief::{Brief, Row, generations};
use super::paint::{Paint, Tone, phase};
use super::steps::{StepView, known, steps, table, targets};
use super::table::{Cell, pairs, toned};
use super::tree::{Root, branches, budget_words, last_lines, versions};
use super::view::{Blocked, BudgetView, RevisionView, budgets, revisions};
use cluster::Kind;

use crate::facts::kind;
use crate::facts::release::{Facts, canary, condition, plan};
use crate::facts::workload::replicas;
use crate::find::Front;
use crate::standing::{Standing, held};

/// A Rollout, by itself and with the counts of its workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    pub(crate) kind: &'static str,
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// `deployment/web`.
    pub(crate) workload: String,
    /// Name in `status.phase`; empty before anybody has looked at it.
    pub(crate) phase: String,
    /// Name in `currentStepState`.
    pub(crate) step_state: &'static str,
    /// The step that is under way, from 1; 0 before the first release.
    pub(crate) step: i64,
    pub(crate) steps: usize,
    /// What it waits for.
    pub(crate) waits_for: String,
    /// What to do next, where somebody has to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remedy: Option<String>,
    /// What the operator says, a sentence.
    #[serde(rename = "reason")]
    pub(crate) message: String,
    /// Whether the status speaks of what is asked for now.
    pub(crate) current: bool,
    pub(crate) paused: bool,
    pub(crate) disabled: bool,
    /// 0 where the workload is not known.
    pub(crate) replicas: u32,
    /// Updated Pods that the current step asks for.
    pub(crate) target_replicas: u32,
    pub(crate) updated_replicas: i64,
    pub(crate) updated_ready_replicas: i64,
    /// Ready Pods, of whichever revision.
    pub(crate) ready_replicas: i64,
    pub(crate) version: String,
    pub(crate) stable_revision: String,
    pub(crate) canary_revision: String,
    pub(crate) rollout_id: String,
    pub(crate) generation: i64,
    pub(crate) observed_generation: i64,
    /// Why it cannot go on by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) blocked: Option<Blocked>,
    pub(crate) created: Option<Timestamp>,
    #[serde(skip)]
    pub(crate) standing: Standing,
    /// Its workload is there, and of a kind whose Pods are counted here.
    #[serde(skip)]
    is_counted: bool,
}

impl Summary {
    /// What the Rollout says, and its workload.
    pub(crate) fn of(rollout: &Rollout, workload: Option<&Value>) -> Self {
        let meta = &rollout.metadata;
        let standing = Standing::of(rollout, workload);
        let status = rollout.status.clone().unwrap_or_default();
        let canary = canary(rollout).cloned().unwrap_or_default();
        let plan = plan(rollout).ok();
        let reference = &rollout.spec.workload_ref;
        let kind = kind::of(reference);
        let counted = Counts::of(kind, workload);
        let under_way = standing.is_under_way() && standing != Standing::Held;
        let index = usize::try_from(canary.current_step_index - 1).ok();
        let targets = plan.as_ref().map(|plan| targets(plan, kind, counted.replicas));
        let target = index.and_then(|index| targets?.get(index).copied());
        let generation = meta.generation.unwrap_or(0);
        let name = meta.name.clone().unwrap_or_default();
        let stuck = condition(rollout, "Stuck").filter(|it| it.status == "True");
        let blocked = match &standing {
            Standing::Blocked(reason, message) => {
                Some(Blocked { reason: reason.clone(), message: message.clone() })
            }
            _ => held(rollout)
                .or(stuck)
                .map(|it| Blocked { reason: it.reason.clone(), message: it.message.clone() }),
        };
        Self {
            kind: Front::Steps.kind(),
            namespace: meta.namespace.clone().unwrap_or_default(),
            workload: kind::argument(reference),
            step_state: known(&canary.current_step_state),
            step: canary.current_step_index,
            steps: plan.as_ref().map_or(0, |plan| plan.steps.len()),
            waits_for: waits_for(&standing, &canary.message),
            remedy: standing.remedy(&format!("rollout/{name}")),
            current: status.observed_generation >= generation
                && !matches!(standing, Standing::Unseen | Standing::Held)
                && counted.seen
                && canary.observed_workload_generation >= counted.generation,
            paused: rollout.spec.strategy.paused == Some(true),
            disabled: rollout.spec.disabled == Some(true),
            replicas: counted.replicas,
            target_replicas: if under_way { target.unwrap_or(0) } else { counted.replicas },
            updated_replicas: if under_way { canary.canary_replicas } else { counted.updated },
            updated_ready_replicas: canary.canary_ready_replicas,
            ready_replicas: counted.ready,
            version: workload
                .map(|raw| pod_version(&raw["spec"]["template"]).version)
                .unwrap_or_default(),
            stable_revision: canary.stable_revision,
            canary_revision: canary.canary_revision,
            rollout_id: canary.observed_rollout_id,
            generation,
            observed_generation: status.observed_generation,
            phase: status.phase,
            message: status.message,
            blocked,
            created: meta.creation_timestamp.as_ref().map(|time| time.0),
            name,
            standing,
            is_counted: kind.is_some() && workload.is_some(),
        }
    }

    /// `step 2/3`, in the midst of a release.
    pub(crate) fn progress(&self) -> String {
        if self.standing.is_under_way() && self.step > 0 && self.standing != Standing::Held {
            format!("step {}/{}", self.step, self.steps)
        } else {
            format!("{} steps", self.steps)
        }
    }

    /// `3 updated (target 5) of 10; 2 of them ready, 9 ready in all`.
    pub(crate) fn counts(&self) -> String {
        let Self { updated_replicas, target_replicas, replicas, ready_replicas, .. } = self;
        if !self.is_counted {
            let ready = self.updated_ready_replicas;
            return format!("{updated_replicas} updated, {ready} of them ready");
        }
        let ready = if self.standing.is_under_way() {
            format!("{} of them ready, ", self.updated_ready_replicas)
        } else {
            String::new()
        };
        format!(
            "{updated_replicas} updated (target {target_replicas}) of {replicas}; {ready}{ready_replicas} \
             ready in all"
        )
    }

    /// Mark and tone.
    pub(crate) fn mark(&self) -> (&'static str, Tone) {
        match &self.standing {
            Standing::Approval(_) | Standing::Paused(_) => ("‖", Tone::Busy),
            Standing::Blocked(..) => ("✖", Tone::Bad),
            _ => phase(&self.phase),
        }
    }

    /// What the operator has not looked at yet.
    pub(crate) fn unseen(&self) -> Option<String> {
        if self.current {
            return None;
        }
        Some(if self.observed_generation < self.generation {
            generations(self.generation, self.observed_generation)
        } else {
            format!("the last change of {}", self.workload)
        })
    }

    fn phase_word(&self) -> &str {
        if self.phase.is_empty() { "Unseen" } else { &self.phase }
    }
}

/// What it waits for; for Pods with what its BatchRelease says of them, which stands at the end of
/// `BatchRelease is at state Upgrading, rollout-id web-v2, step 2, …`.
fn waits_for(standing: &Standing, said: &str) -> String {
    let why = match standing {
        Standing::Updating(step) | Standing::Approved(step) => {
            said.split_once(&format!(", step {step}, ")).map(|(_, why)| why)
        }
        _ => None,
    };
    match why {
        Some(why) => format!("{}: {why}", standing.waits_for()),
        None => standing.waits_for(),
    }
}

/// A Rollout in a row.
pub(crate) fn row(rollout: &Rollout, workload: Option<&Value>) -> Row {
    let all = Summary::of(rollout, workload);
    let reason = match &all.blocked {
        Some(blocked) => blocked.message.clone(),
        None => format!("waits for {}", all.waits_for),
    };
    let brief = Brief {
        kind: Front::Steps.word(),
        namespace: all.namespace.clone(),
        name: all.name.clone(),
        workload: all.workload.clone(),
        phase: all.phase_word().to_owned(),
        mark: all.mark(),
        progress: all.progress(),
        updated: format!("{}/{}/{}", all.updated_replicas, all.target_replicas, all.replicas),
        ready: all.ready_replicas.to_string(),
        counts: all.counts(),
        version: all.version.clone(),
        reason,
        blocked: all.blocked.as_ref().map(|blocked| blocked.message.clone()),
        unseen: all.unseen(),
        id: all.rollout_id.clone(),
        leaked: String::new(),
        generation: all.generation,
        observed_generation: all.observed_generation,
        created: all.created,
    };
    Row::new(brief, &all)
}

/// What a workload says of its Pods.
struct Counts {
    replicas: u32,
    updated: i64,
    ready: i64,
    /// Its own controller has seen its template.
    seen: bool,
    generation: i64,
}

impl Counts {
    fn of(kind: Option<Kind>, workload: Option<&Value>) -> Self {
        let (Some(kind), Some(raw)) = (kind, workload) else {
            return Self { replicas: 0, updated: 0, ready: 0, seen: true, generation: 0 };
        };
        let status = |field: &str| raw["status"][field].as_i64().unwrap_or(0);
        let generation = raw["metadata"]["generation"].as_i64().unwrap_or(0);
        let (updated, ready) = match kind::is_on_nodes(kind) {
            true => ("updatedNumberScheduled", "numberReady"),
            false => ("updatedReplicas", "readyReplicas"),
        };
        Self {
            replicas: replicas(kind, raw),
            updated: status(updated),
            ready: status(ready),
            seen: status("observedGeneration") >= generation,
            generation,
        }
    }
}

/// A Rollout with everything around it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct View {
    #[serde(flatten)]
    pub(crate) summary: Summary,
    /// `steps` is their number.
    #[serde(rename = "plan")]
    pub(crate) steps: Vec<StepView>,
    pub(crate) budgets: Vec<BudgetView>,
    /// Newest first; those that nobody runs any more are left out, but for that of the template.
    pub(crate) revisions: Vec<RevisionView>,
    #[serde(skip)]
    trunk: Option<(&'static str, String)>,
}

impl View {
    /// All of it.
    pub(crate) fn of(facts: &Facts) -> Self {
        let workload = facts.workload.as_ref();
        let summary = Summary::of(&facts.rollout, workload.map(|it| &it.raw));
        let kind = kind::of(&facts.rollout.spec.workload_ref);
        let stable = facts.stable().map(|it| it.hash.clone()).unwrap_or_default();
        let known = workload.map(|it| it.replicas());
        let plan = plan(&facts.rollout).ok();
        Self {
            steps: plan
                .map_or(Vec::new(), |plan| steps(&plan, kind, known, Some(&summary.standing))),
            budgets: workload.map(budgets).unwrap_or_default(),
            revisions: workload.map(|it| revisions(it, &stable, &[])).unwrap_or_default(),
            trunk: workload.map(|it| (it.kind.word(), it.name.clone())),
            summary,
        }
    }
}

/// The whole picture; sentences are folded to `room` characters, columns are not.
pub(crate) fn tree(view: &View, paint: Paint, room: usize, now: Timestamp, wide: bool) -> String {
    let all = &view.summary;
    let (mark, tone) = all.mark();
    let root = Root {
        name: &all.name,
        state: toned(tone, format!("{mark} {}", all.phase_word())),
        ready: format!("{}/{}", all.ready_replicas, all.replicas),
        created: all.created,
        progress: all.progress(),
    };
    let trunk = view.trunk.as_ref().map(|(kind, name)| (*kind, name.as_str()));
    let branches = branches(root, trunk, &view.revisions, paint, now, wide);
    let head = header(view, paint, room, now);
    let steps = if view.steps.is_empty() {
        String::new()
    } else {
        format!("\n{}", table(&view.steps, paint))
    };
    format!("{head}{steps}\n{branches}")
}

/// The lines above the tree.
pub(crate) fn header(view: &View, paint: Paint, room: usize, now: Timestamp) -> String {
    let all = &view.summary;
    let (mark, tone) = all.mark();
    let mut state = format!("{mark} {}", all.phase_word());
    if all.observed_generation < all.generation && !all.phase.is_empty() {
        state.push_str(&format!(
            " (of generation {}, not yet of {})",
            all.observed_generation, all.generation
        ));
    }
    let step = match all.step_state {
        "" => String::new(),
        _ if !all.standing.is_under_way() => String::new(),
        word => format!("{} of {}: {word}", all.step, all.steps),
    };
    let blocked = all.blocked.as_ref();
    let message = if blocked.is_some() { "" } else { all.message.as_str() };
    let mut lines: Vec<(&str, Cell)> = vec![
        ("Name", all.name.as_str().into()),
        ("Namespace", all.namespace.as_str().into()),
        ("Workload", all.workload.as_str().into()),
        ("Phase", toned(tone, state)),
        ("Step", step.into()),
        ("Message", message.into()),
        ("Waits for", all.waits_for.as_str().into()),
        ("Next", toned(Tone::Strong, all.remedy.clone().unwrap_or_default())),
        ("Pods", all.counts().into()),
        ("Versions", versions(&view.revisions).into()),
        ("Release", all.rollout_id.as_str().into()),
    ];
    for budget in &view.budgets {
        lines.push(("Budget", budget_words(budget).into()));
    }
    lines.extend(last_lines(blocked, all.created, now));
    pairs(paint, room, &lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_pods_do_not_come_is_told_in_the_words_of_the_batch_release() {
        let check = |standing: &Standing, said: &str, expect: &str| {
            assert_eq!(waits_for(standing, said), expect);
        };
        let said =
            "BatchRelease is at state Upgrading, rollout-id web-v2, step 2, web-x is not ready";
        let updating = Standing::Updating(2);
        check(&updating, said, "the Pods of step 2: web-x is not ready");
        check(
            &updating,
            "BatchRelease is at state Upgrading, rollout-id a, step 2",
            "the Pods of step 2",
        );
        check(&Standing::Updating(1), said, "the Pods of step 1");
        check(&Standing::Approval(2), said, "an approval of step 2");
    }
}
