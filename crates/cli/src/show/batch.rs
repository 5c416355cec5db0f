//! A BatchRelease of one's own as commands show it and as `-o json` gives it.

use api::batches::{BatchRelease, Plan};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::age::age;
use super::brief::{Brief, Row, generations};
use super::paint::{Paint, Tone, phase};
use super::steps::{StepView, steps, table};
use super::table::{Cell, pairs, toned};
use crate::facts::kind;
use crate::facts::workload::replicas;
use crate::find::Front;

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    pub(crate) kind: &'static str,
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// `deployment/web`.
    pub(crate) workload: String,
    pub(crate) phase: String,
    /// The batch that is under way, from 1.
    pub(crate) batch: i64,
    pub(crate) batch_state: String,
    /// The last batch that may be begun, from 1; absent, it goes to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) up_to: Option<i64>,
    pub(crate) plan: Vec<StepView>,
    /// What the operator says, a sentence.
    #[serde(rename = "reason")]
    pub(crate) message: String,
    /// Whether the status speaks of what is asked for now.
    pub(crate) current: bool,
    pub(crate) replicas: u32,
    pub(crate) target_replicas: u32,
    pub(crate) updated_replicas: i64,
    pub(crate) updated_ready_replicas: i64,
    pub(crate) generation: i64,
    pub(crate) observed_generation: i64,
    pub(crate) created: Option<Timestamp>,
}

impl Summary {
    /// Of a BatchRelease and its workload.
    pub(crate) fn of(release: &BatchRelease, workload: Option<&Value>) -> Self {
        let meta = &release.metadata;
        let status = release.status.clone().unwrap_or_default();
        let reference = release.spec.workload_ref.clone().unwrap_or_default();
        let kind = kind::of(&reference);
        let known = kind.zip(workload).map(|(kind, raw)| replicas(kind, raw));
        let plan = Plan::of_release(&release.spec.release_plan).ok();
        let mut plan = plan.map_or(Vec::new(), |plan| steps(&plan, kind, known, None));
        let batch = status.canary_status.current_batch + 1;
        let state = status.canary_status.batch_state.clone();
        for step in &mut plan {
            step.pause = String::new();
            step.state = match i64::from(step.step).cmp(&batch) {
                _ if status.phase == "Completed" || status.phase == "Finalizing" => {
                    "done".to_owned()
                }
                std::cmp::Ordering::Less => "done".to_owned(),
                std::cmp::Ordering::Equal => state.to_ascii_lowercase(),
                std::cmp::Ordering::Greater => String::new(),
            };
        }
        let index = usize::try_from(batch - 1).unwrap_or(0);
        let generation = meta.generation.unwrap_or(0);
        Self {
            kind: Front::Release.kind(),
            namespace: meta.namespace.clone().unwrap_or_default(),
            name: meta.name.clone().unwrap_or_default(),
            workload: kind::argument(&reference),
            batch,
            batch_state: state,
            up_to: release.spec.release_plan.batch_partition.map(|partition| partition + 1),
            target_replicas: plan.get(index).and_then(|step| step.pods).unwrap_or(0),
            plan,
            message: status.message,
            current: status.observed_generation >= generation && !status.phase.is_empty(),
            replicas: known.unwrap_or(0),
            updated_replicas: status.canary_status.updated_replicas,
            updated_ready_replicas: status.canary_status.updated_ready_replicas,
            phase: status.phase,
            generation,
            observed_generation: status.observed_generation,
            created: meta.creation_timestamp.as_ref().map(|time| time.0),
        }
    }

    /// Whether it stands at the last batch that it may begin.
    pub(crate) fn waits(&self) -> bool {
        self.batch_state == "Ready" && self.up_to.is_some_and(|up_to| self.batch >= up_to)
    }

    /// `3 updated (target 5) of 10; 2 of them ready`.
    pub(crate) fn counts(&self) -> String {
        format!(
            "{} updated (target {}) of {}; {} of them ready",
            self.updated_replicas, self.target_replicas, self.replicas, self.updated_ready_replicas
        )
    }

    fn phase_word(&self) -> &str {
        if self.phase.is_empty() { "Unseen" } else { &self.phase }
    }

    fn next(&self) -> String {
        if self.waits() {
            format!("sluice approve batchrelease/{}", self.name)
        } else {
            String::new()
        }
    }
}

/// In a row.
pub(crate) fn row(release: &BatchRelease, workload: Option<&Value>) -> Row {
    let all = Summary::of(release, workload);
    let brief = Brief {
        kind: Front::Release.word(),
        namespace: all.namespace.clone(),
        name: all.name.clone(),
        workload: all.workload.clone(),
        phase: all.phase_word().to_owned(),
        mark: phase(&all.phase),
        progress: format!("batch {}/{} {}", all.batch, all.plan.len(), all.batch_state),
        updated: format!("{}/{}/{}", all.updated_replicas, all.target_replicas, all.replicas),
        ready: all.updated_ready_replicas.to_string(),
        counts: all.counts(),
        version: String::new(),
        reason: all.message.clone(),
        blocked: None,
        unseen: (!all.current).then(|| generations(all.generation, all.observed_generation)),
        id: String::new(),
        leaked: String::new(),
        generation: all.generation,
        observed_generation: all.observed_generation,
        created: all.created,
    };
    Row::new(brief, &all)
}

/// For people.
pub(crate) fn text(all: &Summary, paint: Paint, room: usize, now: Timestamp) -> String {
    let (mark, tone) = phase(&all.phase);
    let batch = format!("{} of {}: {}", all.batch, all.plan.len(), all.batch_state);
    let up_to = all.up_to.map_or("its end".to_owned(), |batch| format!("batch {batch}"));
    let lines: Vec<(&str, Cell)> = vec![
        ("Name", all.name.as_str().into()),
        ("Namespace", all.namespace.as_str().into()),
        ("Workload", all.workload.as_str().into()),
        ("Phase", toned(tone, format!("{mark} {}", all.phase_word()))),
        ("Batch", batch.into()),
        ("Goes to", up_to.into()),
        ("Message", all.message.as_str().into()),
        ("Next", toned(Tone::Strong, all.next())),
        ("Pods", all.counts().into()),
        ("Age", all.created.map(|created| age(created, now)).unwrap_or_default().into()),
    ];
    format!("{}\n{}", pairs(paint, room, &lines), table(&all.plan, paint))
}
