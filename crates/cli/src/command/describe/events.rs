//! Events of a rollout and of what is around it.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::exit::Failure;
use crate::session::{Session, escaped};
use crate::show::age::age;
use crate::show::paint::{Paint, Tone};
use crate::show::table::{Cell, columns, toned};

/// An Event.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Event {
    last_seen: Option<Timestamp>,
    #[serde(rename = "type")]
    kind: String,
    reason: String,
    object: String,
    message: String,
    count: i64,
}

/// Those of a namespace that are about objects of these UIDs, oldest first.
pub(super) async fn read(session: &Session, of: &(&str, Vec<&str>)) -> Result<Vec<Event>, Failure> {
    let (namespace, uids) = of;
    let mut events = Vec::new();
    for uid in uids {
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

/// The table, or that there are none.
pub(super) fn table(events: &[Event], paint: Paint, now: Timestamp) -> String {
    if events.is_empty() {
        return "  none\n".to_owned();
    }
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
    let rows: Vec<Vec<Cell>> = events.iter().map(row).collect();
    columns(paint, &["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"], &rows)
}
