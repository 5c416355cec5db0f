//! A rollout as a tree: a header, then StatefulSet → revisions → Pods.

use jiff::Timestamp;

use super::age::age;
use super::paint::{Paint, Tone, phase};
use super::table::{Cell, columns, pairs, toned};
use super::view::{Blocked, BudgetView, PodView, RevisionView, Summary, View};

/// The whole picture; sentences are folded to `room` characters, columns are not.
pub(crate) fn tree(view: &View, paint: Paint, room: usize, now: Timestamp, wide: bool) -> String {
    let trunk = view.statefulset.as_ref().map(|set| ("StatefulSet", set.as_str()));
    let all = &view.summary;
    let (mark, tone) = phase(&all.phase);
    let root = Root {
        name: &all.name,
        state: toned(tone, format!("{mark} {}", all.phase)),
        ready: format!("{}/{}", all.ready_replicas, all.replicas),
        created: all.created,
        progress: format!("{}%", all.percent),
    };
    let branches = branches(root, trunk, &view.revisions, paint, now, wide);
    format!("{}\n{branches}", header(view, paint, room, now))
}

/// The rollout at the top of a tree.
pub(super) struct Root<'a> {
    pub(super) name: &'a str,
    pub(super) state: Cell,
    pub(super) ready: String,
    pub(super) created: Option<Timestamp>,
    pub(super) progress: String,
}

/// Rollout → workload → revisions → Pods. `trunk` is kind and name of the workload.
pub(super) fn branches(
    root: Root<'_>,
    trunk: Option<(&str, &str)>,
    revisions: &[RevisionView],
    paint: Paint,
    now: Timestamp,
    wide: bool,
) -> String {
    let mut rows = vec![vec![
        format!("⟳ {}", root.name).into(),
        root.state,
        root.ready.into(),
        "".into(),
        root.created.map(|created| age(created, now)).unwrap_or_default().into(),
        root.progress.into(),
    ]];
    rows.extend(trunk.map(|(kind, name)| branch(kind, name, revisions)));
    let last = revisions.len().saturating_sub(1);
    for (index, revision) in revisions.iter().enumerate() {
        let (elbow, bar) = if index == last { ("└─", "  ") } else { ("├─", "│ ") };
        rows.push(revision_row(revision, elbow, now, wide));
        let last_pod = revision.pods.len().saturating_sub(1);
        for (index, pod) in revision.pods.iter().rev().enumerate() {
            let elbow = if index == last_pod { "└─" } else { "├─" };
            rows.push(pod_row(pod, &format!("{bar} {elbow}"), now));
        }
    }
    columns(paint, &["NAME", "STATUS", "READY", "NODE", "AGE", "INFO"], &rows)
}

/// The lines above the tree.
pub(crate) fn header(view: &View, paint: Paint, room: usize, now: Timestamp) -> String {
    let all = &view.summary;
    let (mark, tone) = phase(&all.phase);
    let state = if all.current {
        format!("{mark} {}", all.phase)
    } else {
        format!(
            "{mark} {} (of generation {}, not yet of {})",
            all.phase, all.observed_generation, all.generation
        )
    };
    let mut lines: Vec<(&str, Cell)> = vec![
        ("Name", all.name.as_str().into()),
        ("Namespace", all.namespace.as_str().into()),
        ("Phase", toned(tone, state)),
        ("Reason", all.reason.as_str().into()),
        ("Percent", format!("{}%", all.percent).into()),
        ("Pods", counts(all).into()),
        ("Versions", versions(&view.revisions).into()),
        ("Identity", all.rollout_identity.as_str().into()),
        ("Leak guard", view.version_leak.as_str().into()),
    ];
    for budget in &view.budgets {
        lines.push(("Budget", budget_words(budget).into()));
    }
    if view.budgets.is_empty() && view.statefulset.is_some() {
        lines.push(("Budget", toned(Tone::Faint, "none: one Pod at a time")));
    }
    lines.extend(last_lines(all.blocked.as_ref(), all.created, now));
    pairs(paint, room, &lines)
}

/// What blocks a rollout, and since when there is one.
pub(super) fn last_lines(
    blocked: Option<&Blocked>,
    created: Option<Timestamp>,
    now: Timestamp,
) -> impl Iterator<Item = (&'static str, Cell)> {
    let words = |it: &Blocked| toned(Tone::Bad, format!("{}: {}", it.reason, it.message));
    let blocked = blocked.map(|it| ("Blocked", words(it)));
    blocked.into_iter().chain(created.map(|created| ("Age", age(created, now).into())))
}

/// `v1 (3) → v2 (1)`.
pub(super) fn versions(revisions: &[RevisionView]) -> String {
    let named = revisions.iter().rev().filter(|revision| !revision.version.is_empty());
    let versions: Vec<String> =
        named.map(|revision| format!("{} ({})", revision.version, revision.pods.len())).collect();
    versions.join(" → ")
}

/// `5 updated of 5 to be, 20 in all; 18 ready, 18 available`.
pub(crate) fn counts(all: &Summary) -> String {
    let leaked = match all.leaked_replicas {
        0 => String::new(),
        leaked => format!(", {leaked} leaked"),
    };
    format!(
        "{} updated (target {}) of {}; {} ready, {} available{leaked}",
        all.updated_replicas,
        all.target_replicas,
        all.replicas,
        all.ready_replicas,
        all.available_replicas
    )
}

/// What a budget allows now.
pub(crate) fn budget_words(budget: &BudgetView) -> String {
    format!(
        "{} ({}): {} may go now; {} healthy of {}, at least {} must be",
        budget.name,
        budget.limit,
        budget.disruptions_allowed,
        budget.current_healthy,
        budget.expected_pods,
        budget.desired_healthy
    )
}

fn branch(kind: &str, name: &str, revisions: &[RevisionView]) -> Vec<Cell> {
    let pods = revisions.iter().flat_map(|revision| &revision.pods);
    let (ready, all) =
        pods.fold((0, 0), |(ready, all), pod| (ready + u32::from(pod.ready), all + 1));
    vec![format!("└─ Σ {name}").into(), kind.into(), format!("{ready}/{all}").into()]
}

fn revision_row(revision: &RevisionView, elbow: &str, now: Timestamp, wide: bool) -> Vec<Cell> {
    let ready = revision.pods.iter().filter(|pod| pod.ready).count();
    let tone = if revision.roles.contains(&"update") { Tone::Good } else { Tone::Faint };
    let mut info = vec![revision.roles.join(", ")];
    info.push(revision.version.clone());
    if wide {
        info.push(revision.image.clone());
    }
    info.retain(|word| !word.is_empty());
    vec![
        toned(tone, format!("   {elbow} # {} {}", revision.number, revision.name)),
        "Revision".into(),
        format!("{ready}/{}", revision.pods.len()).into(),
        "".into(),
        revision.created.map(|created| age(created, now)).unwrap_or_default().into(),
        info.join("  ").into(),
    ]
}

fn pod_row(pod: &PodView, lead: &str, now: Timestamp) -> Vec<Cell> {
    let (mark, tone) = mark(pod);
    let info = info(pod);
    vec![
        format!("   {lead} □ {}", pod.name).into(),
        toned(tone, format!("{mark} {}", pod.state)),
        if pod.ready { "1/1" } else { "0/1" }.into(),
        pod.node.as_deref().unwrap_or_default().into(),
        age(pod.created, now).into(),
        toned(if pod.leaked { Tone::Busy } else { Tone::Plain }, info.join("  ")),
    ]
}

/// What else there is to say of a Pod.
pub(crate) fn info(pod: &PodView) -> Vec<String> {
    let batch = pod.batch.map(|batch| format!("batch {batch}"));
    let leaked = pod.leaked.then(|| "leaked".to_owned());
    let message = pod.message.lines().next().map(str::to_owned);
    [batch, leaked, message].into_iter().flatten().collect()
}

/// Mark and tone of a Pod.
pub(crate) fn mark(pod: &PodView) -> (&'static str, Tone) {
    match pod.state.as_str() {
        "Ready" => ("✔", Tone::Good),
        "Starting" | "Pending" | "Terminating" => ("◌", Tone::Busy),
        _ => ("✖", Tone::Bad),
    }
}
