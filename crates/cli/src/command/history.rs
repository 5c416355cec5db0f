//! `sluice history`: the revisions of a rollout's workload and who runs them; of a Rollout its releases
//! as well, where they are recorded.

use api::batches::RolloutHistory;
use api::batches::names::ROLLOUT_NAME;
use cluster::Clock;
use jiff::Timestamp;
use serde::Serialize;

use crate::exit::{Exit, Failure, Outcome};
use crate::facts::workload::Workload;
use crate::facts::{Facts, decoded, release};
use crate::find::{Found, Front, find};
use crate::name::Named;
use crate::out::{Format, Out};
use crate::session::{Connection, Session, escaped};
use crate::show::age::age;
use crate::show::paint::{Paint, Tone};
use crate::show::table::{Cell, columns, toned};

/// List the revisions of a rollout, and its recorded releases
#[derive(clap::Args, Debug)]
pub(crate) struct Flags {
    /// The rollout, as NAME or TYPE/NAME
    #[arg(value_name = "NAME", value_parser = crate::name::object)]
    name: Named,

    /// How the result is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: Format,

    #[command(flatten)]
    connection: Connection,
}

/// All of it.
#[derive(Debug, Serialize)]
struct History {
    /// Newest first.
    revisions: Vec<Row>,
    /// RolloutHistories, newest first; there are some where the gate of that name is on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    releases: Vec<Release>,
}

/// One revision.
#[derive(Debug, Serialize)]
struct Row {
    /// For `sluice undo --to-revision`.
    revision: i64,
    name: String,
    version: String,
    image: String,
    /// How many Pods run it.
    pods: usize,
    /// Whether it is the one that is asked for now.
    update: bool,
    /// Whether it is what the Pods ran before this rollout.
    stable: bool,
    created: Option<Timestamp>,
}

/// One release, as a RolloutHistory has it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Release {
    name: String,
    rollout_id: String,
    version: String,
    /// `completed`, or empty while it goes on.
    phase: String,
    /// Pods of each step.
    steps: Vec<usize>,
    created: Option<Timestamp>,
}

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    show(&flags.connection.open().await?, flags, out, &Clock::system()).await
}

async fn show(session: &Session, flags: &Flags, out: &mut Out, clock: &Clock) -> Outcome {
    let found = find(session, &flags.name).await?;
    let history = match found.front {
        Front::Percent => {
            let facts = Facts::around(session, found.raw.clone()).await?;
            let stable = facts.stable();
            let rows = facts.workload.as_ref().map(|set| rows(set, stable));
            History { revisions: rows.unwrap_or_default(), releases: Vec::new() }
        }
        Front::Steps => {
            let facts = release::Facts::around(session, found.raw.clone()).await?;
            let stable = facts.stable().map(|one| one.hash.clone()).unwrap_or_default();
            let rows = facts.workload.as_ref().map(|workload| rows(workload, &stable));
            History {
                revisions: rows.unwrap_or_default(),
                releases: releases(session, &found).await?,
            }
        }
        Front::Release => {
            return found.refuse(
                "keeps no history: its workload does; see `kubectl rollout history` of that",
            );
        }
    };
    let wide = flags.output == Format::Wide;
    out.document(flags.output, &history, |paint| table(&history, wide, paint, clock.now()))?;
    Ok(Exit::Done)
}

fn rows(workload: &Workload, stable: &str) -> Vec<Row> {
    let rows = workload.revisions.iter().map(|revision| Row {
        revision: revision.number,
        pods: workload.pods.iter().filter(|pod| pod.revision == revision.hash).count(),
        update: revision.hash == workload.update,
        stable: revision.is_called(stable),
        name: revision.name.clone(),
        version: revision.version.clone(),
        image: revision.image.clone(),
        created: revision.created,
    });
    rows.collect()
}

async fn releases(session: &Session, found: &Found) -> Result<Vec<Release>, Failure> {
    let selector = escaped(&format!("{ROLLOUT_NAME}={}", found.name));
    let path = format!("{}?labelSelector={selector}", release::histories_path(&found.namespace));
    let items = match session.list(&path, &format!("rollouthistories of {}", found.title())).await {
        // They are extra: who may not see them, or has none, sees the revisions.
        Err(Failure::NotServed(_) | Failure::NotFound(_) | Failure::Forbidden(_)) => Vec::new(),
        other => other?,
    };
    let mut releases = Vec::new();
    for item in items {
        let history: RolloutHistory = decoded(&item, "rollouthistory")?;
        let status = history.status.unwrap_or_default();
        let template = history.spec.workload.and_then(|it| it.data).unwrap_or_default();
        releases.push(Release {
            name: history.metadata.name.unwrap_or_default(),
            rollout_id: history.spec.rollout.map(|it| it.rollout_id).unwrap_or_default(),
            version: api::bedrock::pod_version(&template["template"]).version,
            phase: status.phase,
            steps: status.canary_steps.iter().map(|step| step.pods.len()).collect(),
            created: history.metadata.creation_timestamp.map(|time| time.0),
        });
    }
    releases.sort_by(|a, b| b.created.cmp(&a.created).then_with(|| a.name.cmp(&b.name)));
    Ok(releases)
}

fn table(history: &History, wide: bool, paint: Paint, now: Timestamp) -> String {
    let mut text = revisions(&history.revisions, wide, paint, now);
    if !history.releases.is_empty() {
        text.push('\n');
        text.push_str(&recorded(&history.releases, paint, now));
    }
    text
}

fn revisions(rows: &[Row], wide: bool, paint: Paint, now: Timestamp) -> String {
    if rows.is_empty() {
        return "no revisions: the workload does not exist yet\n".to_owned();
    }
    let mut heading = vec!["REVISION", "VERSION", "PODS", "AGE", "IMAGE", "MARK"];
    if wide {
        heading.push("NAME");
    }
    let cells = |row: &Row| -> Vec<Cell> {
        let mark = match (row.update, row.stable) {
            (true, true) => "update, stable",
            (true, false) => "update",
            (false, true) => "stable",
            (false, false) => "",
        };
        let mut cells = vec![
            row.revision.to_string().into(),
            row.version.as_str().into(),
            row.pods.to_string().into(),
            row.created.map(|created| age(created, now)).unwrap_or_default().into(),
            row.image.as_str().into(),
            toned(Tone::Good, mark),
        ];
        if wide {
            cells.push(row.name.as_str().into());
        }
        cells
    };
    columns(paint, &heading, &rows.iter().map(cells).collect::<Vec<_>>())
}

fn recorded(releases: &[Release], paint: Paint, now: Timestamp) -> String {
    let cells = |release: &Release| -> Vec<Cell> {
        let steps: Vec<String> = release.steps.iter().map(ToString::to_string).collect();
        let phase = if release.phase.is_empty() { "under way" } else { &release.phase };
        vec![
            release.name.as_str().into(),
            release.version.as_str().into(),
            phase.into(),
            steps.join(" + ").into(),
            release.created.map(|created| age(created, now)).unwrap_or_default().into(),
            release.rollout_id.as_str().into(),
        ]
    };
    let heading = ["RELEASE", "VERSION", "PHASE", "PODS", "AGE", "ID"];
    columns(paint, &heading, &releases.iter().map(cells).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::far_side::{FarSide, Paper, flags, noon};

    #[tokio::test(start_paused = true)]
    async fn each_revision_is_listed_with_who_runs_it() {
        let paper = Paper::default();
        let session = FarSide::rolling_out().session();
        let flags = flags(&["tester", "-o", "wide"]);
        show(&session, &flags, &mut Out::to(paper.clone()), &noon()).await.unwrap();
        insta::assert_snapshot!(paper.text());
    }

    #[tokio::test(start_paused = true)]
    async fn a_rollout_by_steps_has_revisions_and_recorded_releases() {
        let paper = Paper::default();
        let session = FarSide::in_steps().session();
        show(&session, &flags(&["web"]), &mut Out::to(paper.clone()), &noon()).await.unwrap();
        insta::assert_snapshot!(paper.text());
    }
}
