//! `sluice describe`: everything there is to know about one rollout.

mod events;

use api::batches::BatchRelease;
use cluster::Clock;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use self::events::Event;
use crate::exit::{Exit, Failure, Outcome};
use crate::facts::workload::Workload;
use crate::facts::{Facts, decoded, release};
use crate::find::{Found, Front, find, workload};
use crate::name::Named;
use crate::out::{Out, PlainFormat};
use crate::session::{Connection, Session};
use crate::show;
use crate::show::age::age;
use crate::show::paint::{Paint, Tone};
use crate::show::steps::{StepView, table};
use crate::show::table::{Cell, columns, toned};
use crate::show::tree::{header, info, mark};
use crate::show::view::{RevisionView, View};

/// Show everything about a rollout: spec, steps, conditions, budgets, revisions, Pods, Events
#[derive(clap::Args, Debug)]
pub(crate) struct Flags {
    /// The rollout, as NAME or TYPE/NAME
    #[arg(value_name = "NAME", value_parser = crate::name::object)]
    name: Named,

    /// How the result is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: PlainFormat,

    #[command(flatten)]
    connection: Connection,
}

/// All of it.
#[derive(Debug, Serialize)]
struct Described {
    /// What `get` shows, as a document.
    #[serde(flatten)]
    view: Value,
    /// The spec without what is shown elsewhere: the StatefulSet, the steps.
    spec: Value,
    /// `status.conditions`.
    conditions: Value,
    /// `status.buildMetadata`.
    #[serde(skip_serializing_if = "Value::is_null")]
    build: Value,
    /// What the BatchRelease of a Rollout says.
    #[serde(skip_serializing_if = "Value::is_null")]
    release: Value,
    /// Events of the rollout, its BatchRelease and its workload, oldest first.
    events: Vec<Event>,
    #[serde(skip)]
    parts: Parts,
}

/// What is shown for people of it.
#[derive(Debug, Default)]
struct Parts {
    header: String,
    steps: Vec<StepView>,
    revisions: Vec<RevisionView>,
}

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    show(&flags.connection.open().await?, flags, out, &Clock::system()).await
}

async fn show(session: &Session, flags: &Flags, out: &mut Out, clock: &Clock) -> Outcome {
    let found = find(session, &flags.name).await?;
    let (paint, room, now) = (out.paint(), out.room(), clock.now());
    let described = match found.front {
        Front::Percent => by_percent(session, &found, paint, room, now).await?,
        Front::Steps => by_steps(session, &found, paint, room, now).await?,
        Front::Release => of_release(session, &found, paint, room, now).await?,
    };
    out.document(flags.output.into(), &described, |paint| text(&described, paint, now))?;
    Ok(Exit::Done)
}

async fn by_percent(
    session: &Session,
    found: &Found,
    paint: Paint,
    room: usize,
    now: Timestamp,
) -> Result<Described, Failure> {
    let facts = Facts::around(session, found.raw.clone()).await?;
    let view = View::of(&facts);
    let mut spec = facts.raw["spec"].clone();
    if let Some(spec) = spec.as_object_mut() {
        spec.remove("statefulset");
    }
    Ok(Described {
        view: serde_json::to_value(&view).unwrap_or_default(),
        spec,
        conditions: facts.raw["status"]["conditions"].clone(),
        build: facts.raw["status"]["buildMetadata"].clone(),
        release: Value::Null,
        events: events::read(session, &uids(found, facts.workload.as_ref(), None)).await?,
        parts: Parts {
            header: header(&view, paint, room, now),
            steps: Vec::new(),
            revisions: view.revisions,
        },
    })
}

async fn by_steps(
    session: &Session,
    found: &Found,
    paint: Paint,
    room: usize,
    now: Timestamp,
) -> Result<Described, Failure> {
    let facts = release::Facts::around(session, found.raw.clone()).await?;
    let view = show::release::View::of(&facts);
    let mut spec = facts.raw["spec"]["strategy"].clone();
    if let Some(canary) = spec.get_mut("canary").and_then(Value::as_object_mut) {
        canary.remove("steps");
    }
    if let Some(strategy) = spec.as_object_mut() {
        strategy.retain(|_, value| *value != json!({}));
    }
    let path = format!("{}/{}", release::releases_path(Some(&found.namespace)), found.name);
    let title = format!("batchrelease {}/{}", found.namespace, found.name);
    let batches = session.find(&path, &title).await?;
    let said = batches.as_ref().map_or(Value::Null, |raw| {
        let status = &raw["status"];
        let mut said = json!({
            "phase": status["phase"],
            "batch": status["canaryStatus"]["currentBatch"].as_i64().map(|batch| batch + 1),
            "state": status["canaryStatus"]["batchState"],
            "message": status["message"],
        });
        if let Some(said) = said.as_object_mut() {
            said.retain(|_, value| !value.is_null());
        }
        said
    });
    Ok(Described {
        view: serde_json::to_value(&view).unwrap_or_default(),
        spec,
        conditions: facts.raw["status"]["conditions"].clone(),
        build: Value::Null,
        release: said,
        events: events::read(session, &uids(found, facts.workload.as_ref(), batches.as_ref()))
            .await?,
        parts: Parts {
            header: show::release::header(&view, paint, room, now),
            steps: view.steps,
            revisions: view.revisions,
        },
    })
}

async fn of_release(
    session: &Session,
    found: &Found,
    paint: Paint,
    room: usize,
    now: Timestamp,
) -> Result<Described, Failure> {
    let seen: BatchRelease = decoded(&found.raw, "batchrelease")?;
    let reference = seen.spec.workload_ref.clone().unwrap_or_default();
    let workload = workload(session, &found.namespace, &reference).await?;
    let all = show::batch::Summary::of(&seen, workload.as_ref());
    let mut spec = found.raw["spec"]["releasePlan"].clone();
    if let Some(plan) = spec.as_object_mut() {
        plan.remove("batches");
    }
    Ok(Described {
        view: serde_json::to_value(&all).unwrap_or_default(),
        spec,
        conditions: found.raw["status"]["conditions"].clone(),
        build: Value::Null,
        release: Value::Null,
        events: events::read(session, &uids(found, None, workload.as_ref())).await?,
        parts: Parts { header: show::batch::text(&all, paint, room, now), ..Parts::default() },
    })
}

/// Namespace, and UIDs of the rollout and of what is around it.
fn uids<'a>(
    found: &'a Found,
    workload: Option<&'a Workload>,
    another: Option<&'a Value>,
) -> (&'a str, Vec<&'a str>) {
    let uid = |raw: &'a Value| raw["metadata"]["uid"].as_str();
    let all = [uid(&found.raw), another.and_then(uid), workload.map(|it| it.uid.as_str())];
    (&found.namespace, all.into_iter().flatten().collect())
}

fn text(all: &Described, paint: Paint, now: Timestamp) -> String {
    let mut text = all.parts.header.clone();
    let mut part = |title: &str, body: String| {
        if !body.is_empty() {
            text.push_str(&format!("\n{}\n{body}", paint.text(Tone::Strong, title)));
        }
    };
    let steps = &all.parts.steps;
    part("Steps", if steps.is_empty() { String::new() } else { table(steps, paint) });
    part("Spec", lines(&all.spec));
    part("Build", lines(&all.build));
    part("BatchRelease", lines(&all.release));
    part("Conditions", conditions(&all.conditions, paint, now));
    part("Revisions", revisions(&all.parts.revisions, paint, now));
    part("Pods", pods(&all.parts.revisions, paint, now));
    part("Events", events::table(&all.events, paint, now));
    text
}

/// `  key: value` for each field, values as JSON where they are no plain text.
fn lines(fields: &Value) -> String {
    let line = |(key, value): (&String, &Value)| match value {
        Value::String(text) => format!("  {key}: {text}\n"),
        other => format!("  {key}: {other}\n"),
    };
    fields.as_object().into_iter().flatten().map(line).collect()
}

/// A table, if there is anything to be listed.
fn listed(paint: Paint, heading: &[&str], rows: &[Vec<Cell>]) -> String {
    if rows.is_empty() { String::new() } else { columns(paint, heading, rows) }
}

fn conditions(conditions: &Value, paint: Paint, now: Timestamp) -> String {
    let row = |one: &Value| -> Vec<Cell> {
        let text = |field: &str| one[field].as_str().unwrap_or_default().to_owned();
        let bad = matches!(
            (one["type"].as_str(), one["status"].as_str()),
            (Some("Progressing" | "Available"), Some("False"))
                | (Some("Blocked" | "Leaked" | "NotGated"), Some("True"))
        );
        let since = one["lastTransitionTime"].as_str().and_then(|at| at.parse().ok());
        vec![
            toned(if bad { Tone::Bad } else { Tone::Good }, text("type")),
            text("status").into(),
            since.map(|since| age(since, now)).unwrap_or_default().into(),
            text("reason").into(),
            text("message").into(),
        ]
    };
    let rows: Vec<_> = conditions.as_array().into_iter().flatten().map(row).collect();
    listed(paint, &["TYPE", "STATUS", "SINCE", "REASON", "MESSAGE"], &rows)
}

fn revisions(revisions: &[RevisionView], paint: Paint, now: Timestamp) -> String {
    let rows: Vec<Vec<Cell>> = revisions
        .iter()
        .map(|one| {
            vec![
                one.number.to_string().into(),
                one.name.as_str().into(),
                one.version.as_str().into(),
                one.pods.len().to_string().into(),
                one.created.map(|created| age(created, now)).unwrap_or_default().into(),
                one.roles.join(", ").into(),
                one.image.as_str().into(),
            ]
        })
        .collect();
    listed(paint, &["REVISION", "NAME", "VERSION", "PODS", "AGE", "ROLE", "IMAGE"], &rows)
}

fn pods(revisions: &[RevisionView], paint: Paint, now: Timestamp) -> String {
    let rows: Vec<Vec<Cell>> = revisions
        .iter()
        .flat_map(|revision| revision.pods.iter().map(move |pod| (revision, pod)))
        .map(|(revision, pod)| {
            let (mark, tone) = mark(pod);
            vec![
                pod.name.as_str().into(),
                toned(tone, format!("{mark} {}", pod.state)),
                revision.number.to_string().into(),
                pod.node.as_deref().unwrap_or_default().into(),
                age(pod.created, now).into(),
                info(pod).join("  ").into(),
            ]
        })
        .collect();
    listed(paint, &["NAME", "STATUS", "REVISION", "NODE", "AGE", "INFO"], &rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::far_side::{FarSide, Paper, flags, noon};

    #[tokio::test(start_paused = true)]
    async fn everything_is_described() {
        let paper = Paper::default();
        let session = FarSide::rolling_out().session();
        show(&session, &flags(&["tester"]), &mut Out::to(paper.clone()), &noon()).await.unwrap();
        insta::assert_snapshot!(paper.text());
    }

    #[tokio::test(start_paused = true)]
    async fn a_rollout_by_steps_is_described_with_its_batch_release() {
        let paper = Paper::default();
        let session = FarSide::in_steps().session();
        show(&session, &flags(&["web"]), &mut Out::to(paper.clone()), &noon()).await.unwrap();
        insta::assert_snapshot!(paper.text());
    }
}
