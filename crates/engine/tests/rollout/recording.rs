//! Reads a recording of the original, and lets this front live through it.

use std::collections::BTreeMap;

use engine::front::rollout::{
    Action, BatchRelease, BatchState, ConditionKind, Finalising, Pause, Phase, Policy, Reason,
    ReleasePhase, ReleasePlan, Status, Step, StepState, World, decide,
};
use engine::quantity::IntOrPercent::{self, Int, Percent};
use jiff::{SignedDuration, Timestamp};

use crate::fixture::{healthy, now, release, workload};

/// What of an object changed.
pub(crate) type Changes = BTreeMap<String, String>;

/// A line of a recording, after so many milliseconds.
pub(crate) enum Line {
    Workload(i64, Changes),
    Release(i64, Option<Changes>),
    User(i64, Vec<String>),
    Settled(i64, Option<Expected>),
}

/// The original's status.
#[derive(Default)]
pub(crate) struct Expected {
    pub(crate) fields: Changes,
    pub(crate) message: String,
    pub(crate) says: String,
    pub(crate) conditions: BTreeMap<String, String>,
}

/// The lines, each with its own words.
pub(crate) fn read(text: &str) -> Vec<(Line, String)> {
    let mut lines: Vec<(Line, String)> = Vec::new();
    for words in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(more) = words.strip_prefix("  ") {
            let Some((Line::Settled(_, Some(expected)), _)) = lines.last_mut() else {
                panic!("{words} belongs to nothing")
            };
            let (what, rest) = more.split_once(' ').unwrap_or((more, ""));
            match what {
                "message" => expected.message = rest.to_owned(),
                "says" => expected.says = rest.to_owned(),
                _ => {
                    let (kind, rest) = rest.split_once(' ').expect("a kind and more");
                    expected.conditions.insert(kind.to_owned(), rest.to_owned());
                }
            }
            continue;
        }
        let mut parts = words.split(' ');
        let time: f64 = parts.next().and_then(|time| time.parse().ok()).expect("a time");
        let (at, what) = ((time * 1000.0).round() as i64, parts.next().expect("a word"));
        let rest: Vec<String> = parts.map(str::to_owned).collect();
        let gone = rest.first().is_some_and(|word| word == "gone");
        let changes = || -> Changes {
            let pair = |word: &String| {
                let (key, value) = word.split_once('=').expect("key=value");
                (key.to_owned(), value.to_owned())
            };
            rest.iter().map(pair).collect()
        };
        let line = match what {
            "workload" => Line::Workload(at, changes()),
            "release" => Line::Release(at, (!gone).then(changes)),
            "user" => Line::User(at, rest),
            "settled" if gone => Line::Settled(at, None),
            "settled" => {
                Line::Settled(at, Some(Expected { fields: changes(), ..Expected::default() }))
            }
            other => panic!("{other} is no line of a recording"),
        };
        lines.push((line, words.to_owned()));
    }
    lines
}

/// The fields of a status, by the names of a recording.
pub(crate) fn fields(status: &Status) -> Vec<(&'static str, String)> {
    let canary = status.canary.clone().unwrap_or_default();
    let dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    vec![
        ("phase", status.phase.map_or("-", Phase::name).to_owned()),
        ("step", canary.current_step.to_string()),
        ("next", canary.next_step.to_string()),
        ("state", canary.state.name().to_owned()),
        ("finalising", canary.finalising.map_or("-", Finalising::name).to_owned()),
        ("replicas", canary.canary_replicas.to_string()),
        ("ready", canary.canary_ready_replicas.to_string()),
        ("canary", dash(&canary.canary_revision)),
        ("stable", dash(&canary.stable_revision)),
        ("hash", dash(&canary.pod_template_hash)),
        ("id", dash(&canary.observed_rollout_id)),
        ("generation", canary.observed_workload_generation.to_string()),
    ]
}

/// Lives through a recording.
pub(crate) struct Player {
    world: World,
    /// The original's.
    release: Option<BatchRelease>,
    born: bool,
    wake: Option<Timestamp>,
}

fn time(at: i64) -> Timestamp {
    now() + SignedDuration::from_millis(at)
}

fn number<T: std::str::FromStr + Default>(changes: &Changes, key: &str, field: &mut T) {
    if let Some(value) = changes.get(key) {
        *field = value.parse().unwrap_or_default();
    }
}

fn flag(changes: &Changes, key: &str, field: &mut bool) {
    if let Some(value) = changes.get(key) {
        *field = value == "1";
    }
}

fn text(changes: &Changes, key: &str, field: &mut String) {
    if let Some(value) = changes.get(key) {
        *field = if value == "-" { String::new() } else { value.clone() };
    }
}

fn sizes(list: &str) -> Vec<IntOrPercent> {
    let size = |word: &str| match word.strip_suffix('%') {
        Some(percent) => Percent(percent.parse().expect("a percentage")),
        None => Int(word.parse().expect("a number")),
    };
    list.split(',').map(size).collect()
}

impl Player {
    pub(crate) fn new() -> Self {
        let mut world = healthy();
        (world.workload, world.status) = (None, Status::default());
        (world.rollout.finalizer, world.rollout.marked_hash) = (false, None);
        Self { world, release: None, born: false, wake: None }
    }

    /// One line, and what this front makes of it.
    pub(crate) fn play(&mut self, line: Line) {
        let at = match &line {
            Line::Workload(at, _) | Line::Release(at, _) => *at,
            Line::User(at, _) | Line::Settled(at, _) => *at,
        };
        self.until(at);
        match line {
            Line::Workload(_, changes) => self.workload(&changes),
            Line::Release(_, Some(changes)) => self.release(&changes),
            Line::Release(_, None) => self.release = None,
            Line::User(_, words) => self.user(&words),
            Line::Settled(..) => {}
        }
        self.look(time(at));
    }

    /// The status at rest; `None` when there is none any more.
    pub(crate) fn rest(&mut self, at: i64) -> Option<Status> {
        self.until(at);
        self.look(time(at));
        self.born.then(|| self.world.status.clone())
    }

    /// What it wanted to wake up for in the meantime.
    fn until(&mut self, at: i64) {
        while let Some(wake) = self.wake.filter(|wake| *wake <= time(at)) {
            self.wake = None;
            self.look(wake);
        }
    }

    fn look(&mut self, at: Timestamp) {
        for _ in 0..6 {
            if !self.born {
                return;
            }
            // The original waits before a release too; what it made a moment before ours would is made
            // when ours would.
            let begins = self.world.status.condition(ConditionKind::Progressing);
            let begins = begins.is_some_and(|it| it.reason == Reason::Initializing);
            self.world.release = self.release.clone().filter(|_| !begins);
            let decision = decide(&self.world, at);
            self.wake = decision.wake.filter(|wake| *wake > at);
            let same = self.world.status == decision.status;
            self.world.status = decision.status;
            match decision.action {
                Some(Action::Adopt) => self.world.rollout.finalizer = true,
                Some(Action::MarkHash) => {
                    self.world.rollout.marked_hash = Some(self.world.rollout.hash.clone());
                }
                Some(Action::Forget) => self.born = false,
                _ if same => return,
                _ => {}
            }
        }
    }

    fn workload(&mut self, changes: &Changes) {
        let it = self.world.workload.get_or_insert_with(|| {
            let mut new = workload();
            (new.labelled, new.pod_template_hash) = (false, String::new());
            new
        });
        number(changes, "generation", &mut it.generation);
        number(changes, "observed", &mut it.observed_generation);
        number(changes, "replicas", &mut it.replicas);
        number(changes, "updated", &mut it.updated);
        number(changes, "old", &mut it.old);
        text(changes, "revision", &mut it.update_revision);
        text(changes, "stable", &mut it.stable_revision);
        text(changes, "hash", &mut it.pod_template_hash);
        flag(changes, "marked", &mut it.marked);
        flag(changes, "rollback", &mut it.in_rollback);
        flag(changes, "in-batches", &mut it.rolls_back_in_batches);
        flag(changes, "labelled", &mut it.labelled);
        if let Some(id) = changes.get("id") {
            it.rollout_id = (id != "-").then(|| id.clone());
        }
    }

    fn release(&mut self, changes: &Changes) {
        let it: &mut BatchRelease = self.release.get_or_insert_with(|| release(1, 0));
        let plan: &mut ReleasePlan = &mut it.plan;
        number(changes, "generation", &mut it.generation);
        number(changes, "observed", &mut it.observed_generation);
        if let Some(partition) = changes.get("partition") {
            plan.partition = partition.parse().ok();
        }
        if let Some(batches) = changes.get("batches") {
            plan.batches = sizes(batches);
        }
        text(changes, "plan-id", &mut plan.rollout_id);
        if let Some(policy) = changes.get("policy") {
            plan.policy = match policy.as_str() {
                "WaitResume" => Some(Policy::WaitResume),
                "Immediate" => Some(Policy::Immediate),
                _ => None,
            };
        }
        if let Some(phase) = changes.get("phase") {
            it.phase = ReleasePhase::of(phase);
        }
        if let Some(state) = changes.get("state") {
            it.batch_state = BatchState::of(state);
        }
        flag(changes, "back", &mut plan.rollback_in_batch);
        number(changes, "batch", &mut it.current_batch);
        number(changes, "updated", &mut it.updated);
        number(changes, "ready", &mut it.updated_ready);
        text(changes, "id", &mut it.observed_rollout_id);
        flag(changes, "deleting", &mut it.deleting);
    }

    fn user(&mut self, words: &[String]) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let rollout = &mut self.world.rollout;
        let plan = |sizes: Vec<IntOrPercent>| -> Vec<Step> {
            let step = |replicas| Step { replicas, pause: Pause::Approval };
            sizes.into_iter().map(step).collect()
        };
        match words.as_slice() {
            ["create", list, rest @ ..] => {
                rollout.steps = Ok(plan(sizes(list)));
                rollout.rollback_in_batch = rest.contains(&"rollback-in-batch");
                self.born = true;
            }
            ["steps", list] => {
                rollout.steps = Ok(plan(sizes(list)));
                rollout.hash.push('+');
            }
            ["paused", value] => rollout.paused = *value == "true",
            ["disabled", value] => rollout.disabled = *value == "true",
            ["delete"] => rollout.deleted = true,
            ["approve"] => self.canary(|canary| canary.state = StepState::StepReady),
            ["jump", to] => {
                self.canary(|canary| canary.next_step = to.parse().expect("a step"));
            }
            other => panic!("{other:?} is nothing that a user did"),
        }
    }

    fn canary(&mut self, change: impl FnOnce(&mut engine::front::rollout::Canary)) {
        change(self.world.status.canary.as_mut().expect("a release"));
    }
}
