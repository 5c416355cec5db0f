//! `sluice list`: the rollouts of a namespace, or of all.

use std::collections::BTreeMap;
use std::time::Duration;

use api::batches::{BatchRelease, Rollout, WorkloadRef};
use cluster::Clock;
use cluster::Kind;
use jiff::Timestamp;
use serde_json::Value;

use crate::exit::{Exit, Failure, Outcome};
use crate::facts::{decoded, kind, require_namespace, stored};
use crate::find::{Front, all, writer};
use crate::out::{Format, Out};
use crate::screen::Screen;
use crate::session::{Connection, Session};
use crate::show::age::age;
use crate::show::brief::{Brief, Row};
use crate::show::paint::{Paint, Tone};
use crate::show::table::{Cell, columns, toned};
use crate::show::{batch, release};

/// List rollouts, by percent and by steps, and BatchReleases that no Rollout wrote
#[derive(clap::Args, Debug)]
pub(crate) struct Flags {
    /// Those of all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,

    /// Follow them: redrawn in place on a terminal, a line for each change elsewhere
    #[arg(short, long)]
    watch: bool,

    /// How the result is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: Format,

    #[command(flatten)]
    connection: Connection,
}

/// Time between two looks when following.
const EVERY: Duration = Duration::from_secs(1);

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    show(&flags.connection.open().await?, flags, out, &Clock::system()).await
}

async fn show(session: &Session, flags: &Flags, out: &mut Out, clock: &Clock) -> Outcome {
    let mut rows = read(session, flags).await?;
    if !flags.watch {
        if rows.is_empty() && !flags.all_namespaces {
            require_namespace(session).await?;
        }
        out.document(flags.output, &rows, |paint| table(&rows, flags, paint, clock.now()))?;
        return Ok(Exit::Done);
    }
    let mut screen = Screen::default();
    let mut shown: Option<Vec<Row>> = None;
    loop {
        let text = matches!(flags.output, Format::Text | Format::Wide);
        if text && out.is_terminal() {
            let text = table(&rows, flags, out.paint(), clock.now());
            screen.draw(out, &text)?;
        } else if shown.as_ref() != Some(&rows) {
            let before = shown.take().unwrap_or_default();
            let changed: Vec<Row> =
                rows.iter().filter(|row| !before.contains(row)).cloned().collect();
            write_changes(&changed, flags, out, clock.now())?;
            shown = Some(rows);
        }
        tokio::time::sleep(EVERY).await;
        rows = match read(session, flags).await {
            Ok(rows) => rows,
            Err(Failure::Unreachable(_)) => shown.clone().unwrap_or_default(),
            Err(failure) => return Err(failure),
        };
    }
}

async fn read(session: &Session, flags: &Flags) -> Result<Vec<Row>, Failure> {
    let namespace = (!flags.all_namespaces).then_some(session.namespace.as_str());
    let words = "statefulsetrollouts";
    let percent = session.list(&Front::Percent.collection(namespace), words).await;
    let steps = all(session, Front::Steps, namespace).await?;
    let mut releases = all(session, Front::Release, namespace).await?;
    releases.retain(|release| writer(release).is_none());
    let percent = match percent {
        // One of the two resources is enough.
        Err(Failure::NotServed(_)) if !(steps.is_empty() && releases.is_empty()) => Vec::new(),
        other => other?,
    };
    let led: Vec<&Value> = steps.iter().chain(&releases).collect();
    let workloads = workloads(session, &led, namespace).await?;
    let mut rows = Vec::new();
    for raw in &percent {
        rows.push(Row::of(&decoded(raw, words)?));
    }
    for raw in &steps {
        let rollout: Rollout = decoded(raw, "rollout")?;
        let workload = workloads.get(&key(raw, &rollout.spec.workload_ref));
        rows.push(release::row(&rollout, workload));
    }
    for raw in &releases {
        let release: BatchRelease = decoded(raw, "batchrelease")?;
        let reference = release.spec.workload_ref.clone().unwrap_or_default();
        rows.push(batch::row(&release, workloads.get(&key(raw, &reference))));
    }
    rows.sort_by(|a, b| place(&a.brief).cmp(&place(&b.brief)));
    Ok(rows)
}

fn place(brief: &Brief) -> (&str, &str, &str) {
    (&brief.namespace, &brief.name, brief.kind)
}

/// Namespace, kind and name of a workload.
type Key = (String, Option<Kind>, String);

fn key(raw: &Value, reference: &WorkloadRef) -> Key {
    let namespace = raw["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
    (namespace, kind::of(reference), reference.name.clone())
}

/// The workloads of some Rollouts and BatchReleases, a list for each kind. Who may not see them sees the rest.
async fn workloads(
    session: &Session,
    rollouts: &[&Value],
    namespace: Option<&str>,
) -> Result<BTreeMap<Key, Value>, Failure> {
    let mut found = BTreeMap::new();
    for kind in Kind::ALL {
        let is_led = |raw: &&Value| {
            let reference = raw["spec"]["workloadRef"].clone();
            serde_json::from_value(reference).is_ok_and(|it| kind::of(&it) == Some(kind))
        };
        if !rollouts.iter().any(is_led) {
            continue;
        }
        let items = match stored::list(session, kind, namespace).await {
            Err(Failure::Forbidden(_)) => Vec::new(),
            other => other?,
        };
        for item in items {
            let text =
                |field: &str| item["metadata"][field].as_str().unwrap_or_default().to_owned();
            found.insert((text("namespace"), Some(kind), text("name")), item);
        }
    }
    Ok(found)
}

fn write_changes(
    rows: &[Row],
    flags: &Flags,
    out: &mut Out,
    now: Timestamp,
) -> std::io::Result<()> {
    for row in rows {
        out.change(flags.output, row)?;
    }
    if matches!(flags.output, Format::Text | Format::Wide) && !rows.is_empty() {
        out.text(&table(rows, flags, out.paint(), now))?;
    }
    Ok(())
}

fn table(rows: &[Row], flags: &Flags, paint: Paint, now: Timestamp) -> String {
    if rows.is_empty() {
        return "no rollouts\n".to_owned();
    }
    let wide = flags.output == Format::Wide;
    let mut heading =
        vec!["NAME", "PHASE", "PROGRESS", "UPDATED", "READY", "VERSION", "AGE", "REASON"];
    if flags.all_namespaces {
        heading.insert(0, "NAMESPACE");
    }
    if wide {
        heading.extend(["WORKLOAD", "IDENTITY", "LEAKED", "GENERATION"]);
    }
    // Where there are several kinds, names alone do not say what is meant.
    let mixed = rows.iter().any(|row| row.brief.kind != rows[0].brief.kind);
    let rows: Vec<Vec<Cell>> =
        rows.iter().map(|row| cells(&row.brief, flags, mixed, now)).collect();
    columns(paint, &heading, &rows)
}

fn cells(row: &Brief, flags: &Flags, mixed: bool, now: Timestamp) -> Vec<Cell> {
    let (mark, tone) = row.mark;
    let reason = row.blocked.as_ref().unwrap_or(&row.reason);
    let tone_reason = if row.blocked.is_some() { Tone::Bad } else { Tone::Plain };
    let short: String = reason.chars().take(60).collect();
    let cut = if short.len() < reason.len() && flags.output != Format::Wide {
        short + "…"
    } else {
        reason.to_owned()
    };
    let name = if mixed { format!("{}/{}", row.kind, row.name) } else { row.name.clone() };
    let mut cells: Vec<Cell> = vec![
        name.into(),
        toned(tone, format!("{mark} {}", row.phase)),
        row.progress.as_str().into(),
        row.updated.as_str().into(),
        row.ready.as_str().into(),
        row.version.as_str().into(),
        row.created.map(|created| age(created, now)).unwrap_or_default().into(),
        toned(tone_reason, cut),
    ];
    if flags.all_namespaces {
        cells.insert(0, row.namespace.as_str().into());
    }
    if flags.output == Format::Wide {
        cells.extend([
            row.workload.as_str().into(),
            row.id.as_str().into(),
            row.leaked.as_str().into(),
            format!("{}/{}", row.observed_generation, row.generation).into(),
        ]);
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::far_side::{FarSide, Paper, flags, noon};

    #[tokio::test(start_paused = true)]
    async fn rollouts_are_listed_with_where_they_are_and_why() {
        let paper = Paper::default();
        let session = FarSide::rolling_out().session();
        let flags = flags(&["-o", "wide"]);
        show(&session, &flags, &mut Out::to(paper.clone()), &noon()).await.unwrap();
        insta::assert_snapshot!(paper.text());
    }

    #[tokio::test(start_paused = true)]
    async fn a_namespace_that_does_not_exist_is_no_empty_list() {
        let none = serde_json::json!({"items": []});
        let far_side = FarSide::default()
            .with(&Front::Percent.collection(Some("default")), &none)
            .with(&Front::Steps.collection(Some("default")), &none);
        let failure =
            show(&far_side.session(), &flags(&[]), &mut Out::nowhere(), &noon()).await.unwrap_err();
        assert_eq!(failure.exit(), Exit::Absent);
        assert!(failure.to_string().contains("namespace default does not exist"), "{failure}");
    }

    #[tokio::test(start_paused = true)]
    async fn rollouts_by_percent_and_by_steps_are_in_one_list() {
        let paper = Paper::default();
        let percent = crate::facts::rollouts_path(Some("default"));
        let list = serde_json::json!({"items": [crate::far_side::rollout()]});
        let releases = Front::Release.collection(Some("default"));
        let own = serde_json::json!({"items": [crate::far_side::web::release_of_ones_own()]});
        let session = FarSide::in_steps().with(&percent, &list).with(&releases, &own).session();
        let flags = flags(&["-o", "wide"]);
        show(&session, &flags, &mut Out::to(paper.clone()), &noon()).await.unwrap();
        insta::assert_snapshot!(paper.text());
    }

    #[tokio::test(start_paused = true)]
    async fn one_of_the_two_resources_is_enough() {
        let path_unknown = serde_json::json!({"kind": "Status", "apiVersion": "v1",
            "status": "Failure", "code": 404, "reason": "NotFound", "message": "no such path"});
        let percent = crate::facts::rollouts_path(Some("default"));
        let paper = Paper::default();
        let session = FarSide::in_steps().with(&percent, &path_unknown).session();
        show(&session, &flags(&[]), &mut Out::to(paper.clone()), &noon()).await.unwrap();
        assert!(paper.text().contains("\nweb "), "{}", paper.text());
    }
}
