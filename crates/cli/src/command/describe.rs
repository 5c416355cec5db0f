//! `sluice describe`: everything there is to know about one rollout.

use cluster::Clock;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::exit::{Exit, Failure, Outcome};
use crate::facts::Facts;
use crate::out::{Out, PlainFormat};
use crate::session::{Connection, Session, escaped};
use crate::show::age::age;
use crate::show::paint::{Paint, Tone};
use crate::show::table::{Cell, columns, toned};
use crate::show::tree::{header, mark};
use crate::show::view::View;

/// Show everything about a rollout: spec, conditions, budgets, revisions, Pods, Events
#[derive(clap::Args, Debug)]
pub(crate) struct Flags {
    /// The rollout
    #[arg(value_name = "NAME", value_parser = crate::name::object)]
    name: String,

    /// How the result is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: PlainFormat,

    #[command(flatten)]
    connection: Connection,
}

/// All of it.
#[derive(Debug, Serialize)]
struct Described {
    #[serde(flatten)]
    view: View,
    /// The spec without the StatefulSet.
    spec: Value,
    /// `status.conditions`.
    conditions: Value,
    /// `status.buildMetadata`.
    build: Value,
    /// Events of the rollout and its StatefulSet, oldest first.
    events: Vec<Event>,
}

/// An Event.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    last_seen: Option<Timestamp>,
    #[serde(rename = "type")]
    kind: String,
    reason: String,
    object: String,
    message: String,
    count: i64,
}

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    show(&flags.connection.open().await?, flags, out, &Clock::system()).await
}

async fn show(session: &Session, flags: &Flags, out: &mut Out, clock: &Clock) -> Outcome {
    let facts = Facts::read(session, &flags.name).await?;
    let described = described(session, &facts).await?;
    let (room, now) = (out.room(), clock.now());
    out.document(flags.output.into(), &described, |paint| text(&described, paint, room, now))?;
    Ok(Exit::Done)
}

async fn described(session: &Session, facts: &Facts) -> Result<Described, Failure> {
    let mut spec = facts.raw["spec"].clone();
    if let Some(spec) = spec.as_object_mut() {
        spec.remove("statefulset");
    }
    Ok(Described {
        view: View::of(facts),
        spec,
        conditions: facts.raw["status"]["conditions"].clone(),
        build: facts.raw["status"]["buildMetadata"].clone(),
        events: events(session, facts).await?,
    })
}

async fn events(session: &Session, facts: &Facts) -> Result<Vec<Event>, Failure> {
    let rollout = facts.rollout.metadata.uid.as_deref();
    let set = facts.set.as_ref().map(|set| set.meta.uid.as_str());
    let namespace = &session.namespace;
    let mut events = Vec::new();
    for uid in [rollout, set].into_iter().flatten() {
        let selector = escaped(&format!("involvedObject.uid={uid}"));
        let path = format!("/api/v1/namespaces/{namespace}/events?fieldSelector={selector}");
        match session.list(&path, &format!("events in {namespace}")).await {
            Ok(items) => events.extend(items.iter().map(event)),
            // All else can be shown to somebody who may not see Events.
            Err(Failure::Forbidden(_)) => {}
            Err(failure) => return Err(failure),
        }
    }
    events.sort_by_key(|event| event.last_seen);
    Ok(events)
}

fn event(object: &Value) -> Event {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let time = |value: &Value| value.as_str().and_then(|at| at.parse::<Timestamp>().ok());
    let series = &object["series"];
    Event {
        last_seen: time(&series["lastObservedTime"])
            .or_else(|| time(&object["lastTimestamp"]))
            .or_else(|| time(&object["eventTime"]))
            .or_else(|| time(&object["metadata"]["creationTimestamp"])),
        kind: text(&object["type"]),
        reason: text(&object["reason"]),
        object: text(&object["involvedObject"]["kind"]),
        message: text(&object["message"]),
        count: series["count"].as_i64().or(object["count"].as_i64()).unwrap_or(1),
    }
}

fn text(all: &Described, paint: Paint, room: usize, now: Timestamp) -> String {
    let mut text = header(&all.view, paint, room, now);
    let mut part = |title: &str, body: String| {
        if !body.is_empty() {
            text.push_str(&format!("\n{}\n{body}", paint.text(Tone::Strong, title)));
        }
    };
    part("Spec", lines(&all.spec));
    part("Build", lines(&all.build));
    part("Conditions", conditions(&all.conditions, paint, now));
    part("Revisions", revisions(&all.view, paint, now));
    part("Pods", pods(&all.view, paint, now));
    let events = if all.events.is_empty() {
        "  none\n".to_owned()
    } else {
        columns(paint, &["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"], &event_rows(all, now))
    };
    part("Events", events);
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
    if rows.is_empty() {
        return String::new();
    }
    columns(paint, &["TYPE", "STATUS", "SINCE", "REASON", "MESSAGE"], &rows)
}

fn revisions(view: &View, paint: Paint, now: Timestamp) -> String {
    let rows: Vec<Vec<Cell>> = view
        .revisions
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
    if rows.is_empty() {
        return String::new();
    }
    columns(paint, &["REVISION", "NAME", "VERSION", "PODS", "AGE", "ROLE", "IMAGE"], &rows)
}

fn pods(view: &View, paint: Paint, now: Timestamp) -> String {
    let rows: Vec<Vec<Cell>> = view
        .revisions
        .iter()
        .flat_map(|revision| revision.pods.iter().map(move |pod| (revision, pod)))
        .map(|(revision, pod)| {
            let (mark, tone) = mark(pod);
            let leaked = if pod.leaked { "leaked  " } else { "" };
            vec![
                pod.name.as_str().into(),
                toned(tone, format!("{mark} {}", pod.state)),
                revision.number.to_string().into(),
                pod.node.as_deref().unwrap_or_default().into(),
                age(pod.created, now).into(),
                format!("{leaked}{}", pod.message).trim_end().into(),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    columns(paint, &["NAME", "STATUS", "REVISION", "NODE", "AGE", "INFO"], &rows)
}

fn event_rows(all: &Described, now: Timestamp) -> Vec<Vec<Cell>> {
    let row = |event: &Event| -> Vec<Cell> {
        let count = if event.count > 1 { format!(" (×{})", event.count) } else { String::new() };
        let tone = if event.kind == "Warning" { Tone::Bad } else { Tone::Plain };
        vec![
            event.last_seen.map(|at| age(at, now)).unwrap_or_default().into(),
            toned(tone, event.kind.as_str()),
            event.reason.as_str().into(),
            event.object.as_str().into(),
            format!("{}{count}", event.message).into(),
        ]
    };
    all.events.iter().map(row).collect()
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
}
