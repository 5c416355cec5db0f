//! Events: what is written, and how the same thing is told again.

use std::time::Duration;

use cluster::{Events, Front, Key, Subject, Told};
use engine::world::Uid;
use serde_json::json;

use super::far::{Far, Reply, far, hands};

fn told(note: &str) -> Told {
    Told {
        warning: false,
        reason: "Evicting".into(),
        action: "Evict".into(),
        note: note.to_owned(),
    }
}

fn events(answer: impl FnMut(&super::far::Asked) -> Reply + Send + 'static) -> (Events, Far) {
    let (client, far) = far(answer);
    (Events::new(hands(client), "sluice-0"), far)
}

async fn tell(events: &Events, note: &str) {
    let web = Subject::new(Front::StatefulsetRollout, Key::new("exch", "web"));
    events.tell(&web, &Uid::from("u-1"), &told(note)).await;
}

#[tokio::test(start_paused = true)]
async fn an_event_has_every_field_that_the_api_server_asks_for() {
    let (events, far) = events(|_| Reply::Json(201, json!({})));
    tell(&events, "evicting 2 Pods").await;
    let asked = far.take();
    assert_eq!(asked[0].line, "POST /apis/events.k8s.io/v1/namespaces/exch/events");
    let name = asked[0].body["metadata"]["name"].as_str().unwrap();
    assert!(name.starts_with("web.") && name.len() == "web.".len() + 16, "{name}");
    assert_eq!(
        asked[0].body,
        json!({
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": "exch"},
            "eventTime": "2026-01-01T00:00:00.000000Z",
            "type": "Normal",
            "reason": "Evicting",
            "action": "Evict",
            "note": "evicting 2 Pods",
            "reportingController": "sluice.dev/operator",
            "reportingInstance": "sluice-0",
            "regarding": {
                "apiVersion": "bedrock.operator.slack.com/v1",
                "kind": "StatefulsetRollout",
                "namespace": "exch",
                "name": "web",
                "uid": "u-1",
            },
        })
    );
}

#[tokio::test(start_paused = true)]
async fn the_same_thing_told_again_counts_and_another_note_is_another_event() {
    let (events, far) = events(|_| Reply::ok(json!({})));
    for note in ["one", "one", "two"] {
        tell(&events, note).await;
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    let asked = far.take();
    let first = asked[0].body["metadata"]["name"].as_str().unwrap();
    assert_eq!(
        asked[1].line,
        format!("PATCH /apis/events.k8s.io/v1/namespaces/exch/events/{first}")
    );
    assert_eq!(
        asked[1].body,
        json!({"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:01.000000Z"}})
    );
    assert_eq!(asked[2].body["note"], "two");
    assert_ne!(asked[2].body["metadata"]["name"], first);
}

#[tokio::test(start_paused = true)]
async fn after_six_minutes_or_when_the_event_has_expired_a_new_one_is_written() {
    let (events, far) = events(|asked| {
        if asked.line.starts_with("PATCH") {
            Reply::failure(404, "not found")
        } else {
            Reply::Json(201, json!({}))
        }
    });
    let methods = || {
        let lines = far.lines();
        lines.iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    tell(&events, "one").await;
    tokio::time::advance(Duration::from_secs(6 * 60)).await;
    tell(&events, "one").await;
    assert_eq!(methods(), ["POST", "POST"]);
    tokio::time::advance(Duration::from_secs(1)).await;
    tell(&events, "one").await;
    assert_eq!(methods(), ["PATCH", "POST"]);
}

#[tokio::test(start_paused = true)]
async fn an_event_that_cannot_be_written_holds_nobody_up() {
    let (events, _) = events(|_| Reply::Silence);
    let start = tokio::time::Instant::now();
    tell(&events, "one").await;
    assert_eq!(start.elapsed(), Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn a_long_note_is_cut_at_a_character() {
    let (events, far) = events(|_| Reply::ok(json!({})));
    tell(&events, &"ü".repeat(600)).await;
    tell(&events, &format!("a{}", "ü".repeat(600))).await;
    let asked = far.take();
    assert_eq!(asked[0].body["note"].as_str().unwrap().len(), 1024);
    assert_eq!(asked[1].body["note"].as_str().unwrap().len(), 1023);
}
