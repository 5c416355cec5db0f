//! A watch that breaks in every way, and what it tells all the same.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cluster::seen::BudgetSeen;
use cluster::watch::{Seen, watch};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::far::{Far, Reply, failure, far};

const LIST: &str = "GET /apis/policy/v1/poddisruptionbudgets?&limit=500";

fn budget(name: &str, version: u32) -> Value {
    json!({"metadata": {
        "namespace": "a", "name": name, "uid": name, "resourceVersion": version.to_string(),
    }})
}

fn list(version: u32, names: &[&str]) -> Reply {
    let items: Vec<Value> = names.iter().map(|name| budget(name, version)).collect();
    Reply::ok(json!({"metadata": {"resourceVersion": version.to_string()}, "items": items}))
}

fn watch_line(version: u32) -> String {
    format!(
        "GET /apis/policy/v1/poddisruptionbudgets?&watch=true&timeoutSeconds=290\
         &allowWatchBookmarks=true&resourceVersion={version}"
    )
}

/// A watch that tells these events, and what keeps it open.
fn events(events: impl IntoIterator<Item = Value>) -> (Reply, mpsc::UnboundedSender<Value>) {
    let (tell, told) = mpsc::unbounded_channel();
    for event in events {
        tell.send(event).unwrap();
    }
    (Reply::Stream(told), tell)
}

fn ended(all: impl IntoIterator<Item = Value>) -> Reply {
    events(all).0
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<(Duration, String)>>>);

impl Log {
    fn words(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(|(_, words)| words.clone()).collect()
    }
}

/// Watches for `time` while the far side answers with these, and then with silence.
async fn watched(time: Duration, replies: Vec<Reply>) -> (Log, Far) {
    let mut replies = replies.into_iter();
    let (client, asked) = far(move |_| replies.next().unwrap_or(Reply::Silence));
    let (log, start) = (Log::default(), Instant::now());
    let heard = log.clone();
    let tell = move |seen: Seen<BudgetSeen>| {
        let words = match seen {
            Seen::Served(_) => return,
            Seen::All(all, _) => {
                let names: Vec<&str> = all.iter().map(|one| one.meta.name.as_str()).collect();
                format!("all {}", names.join(","))
            }
            Seen::Applied(one) => format!("applied {}", one.meta.name),
            Seen::Deleted(one) => format!("deleted {}", one.meta.name),
            Seen::Broken(why) => format!("broken {why}"),
            Seen::Open => "open".to_owned(),
        };
        heard.0.lock().unwrap().push((start.elapsed(), words));
    };
    let _ = tokio::time::timeout(time, watch(client, BudgetSeen::SOURCE, None, 1, tell)).await;
    (log, asked)
}

fn event(kind: &str, object: &Value) -> Value {
    json!({"type": kind, "object": object})
}

#[tokio::test(start_paused = true)]
async fn a_list_comes_in_pages_and_is_told_whole() {
    let page = json!({
        "metadata": {"resourceVersion": "7", "continue": "more"},
        "items": [budget("x", 5)],
    });
    let replies = vec![Reply::ok(page), list(8, &["y"]), Reply::Silence];
    let (log, asked) = watched(Duration::from_secs(5), replies).await;
    assert_eq!(log.words(), ["all x,y"]);
    let more = format!("{LIST}&continue=more");
    assert_eq!(asked.lines(), [LIST.to_owned(), more, watch_line(8)]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_has_run_its_time_goes_on_where_it_was() {
    let mark = json!({
        "kind": "PodDisruptionBudget", "apiVersion": "policy/v1",
        "metadata": {"resourceVersion": "12"},
    });
    let first = ended([event("MODIFIED", &budget("x", 11)), event("BOOKMARK", &mark)]);
    let second = ended([event("DELETED", &budget("x", 13))]);
    let replies = vec![list(10, &["x"]), first, second];
    let (log, asked) = watched(Duration::from_secs(5), replies).await;
    assert_eq!(log.words(), ["all x", "applied x", "deleted x"]);
    assert_eq!(asked.lines(), [LIST.to_owned(), watch_line(10), watch_line(12), watch_line(13)]);
}

#[tokio::test(start_paused = true)]
async fn after_a_410_inside_a_watch_everything_is_listed_again() {
    let gone = ended([event("ERROR", &failure(410, "too old resource version"))]);
    let replies = vec![list(10, &["x", "y"]), gone, list(20, &["y"])];
    let (log, asked) = watched(Duration::from_secs(5), replies).await;
    assert_eq!(log.words(), ["all x,y", "broken too old resource version", "all y"]);
    assert_eq!(asked.lines()[2], LIST);
}

#[tokio::test(start_paused = true)]
async fn after_a_410_at_the_opening_the_same_version_is_not_asked_for_again() {
    let replies = vec![list(10, &["x"]), Reply::failure(410, "expired"), list(20, &["x"])];
    let (log, asked) = watched(Duration::from_secs(5), replies).await;
    assert_eq!(log.words(), ["all x", "broken expired", "all x"]);
    assert_eq!(asked.lines(), [LIST.to_owned(), watch_line(10), LIST.to_owned(), watch_line(20)]);
}

// A real API server that is killed and comes back no longer knows the version; the operator was blind
// for as long as the pause had grown while it was away, to a pause that was asked for too.
#[tokio::test(start_paused = true)]
async fn after_a_410_the_pauses_that_grew_before_are_over() {
    let mut replies = vec![list(10, &["x"])];
    replies.extend((0..5).map(|_| Reply::failure(503, "down")));
    replies.extend([Reply::failure(410, "expired"), list(20, &["x"])]);
    let (log, _) = watched(Duration::from_secs(60), replies).await;
    let told = log.0.lock().unwrap().clone();
    let at = |words: &str| told.iter().rfind(|(_, said)| said == words).unwrap().0;
    let blind = at("all x") - at("broken expired");
    assert!(blind <= Duration::from_secs(1), "blind for {blind:?}");
}

#[tokio::test(start_paused = true)]
async fn an_event_that_cannot_be_read_leads_to_a_new_list() {
    let odd = ended([json!({"type": "MODIFIED", "object": 3})]);
    let (log, _) =
        watched(Duration::from_secs(5), vec![list(10, &["x"]), odd, list(11, &[])]).await;
    assert!(log.words()[1].starts_with("broken cannot read an"), "{:?}", log.words());
    assert_eq!(log.words()[2], "all ");
}

#[tokio::test(start_paused = true)]
async fn pauses_grow_while_nothing_works_and_a_list_ends_them() {
    let mut replies: Vec<Reply> = (0..5).map(|_| Reply::failure(503, "down")).collect();
    replies.push(list(10, &["x"]));
    replies.push(Reply::failure(503, "down"));
    let (log, _) = watched(Duration::from_secs(38), replies).await;
    let times: Vec<Duration> = log.0.lock().unwrap().iter().map(|(time, _)| *time).collect();
    for (step, grown) in [1, 2, 4, 8, 16].into_iter().enumerate() {
        let pause = (times[step + 1] - times[step]).as_secs_f64();
        let grown = f64::from(grown);
        assert!(pause <= grown + 0.01 && pause >= grown * 0.8, "pause {step} is {pause} s");
    }
    assert_eq!(log.words()[5..], ["all x", "broken down"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_at_once_is_not_opened_again_without_a_pause() {
    let mut replies = vec![list(10, &["x"])];
    replies.extend((0..10).map(|_| ended([])));
    let (log, asked) = watched(Duration::from_secs(10), replies).await;
    assert_eq!(asked.lines().len(), 1 + 4, "1 s, 2 s and 4 s pass between four attempts");
    assert_eq!(log.words()[1], "broken the watch ended at once");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_when_to_come_back_is_believed() {
    let mut busy = failure(429, "too many requests");
    busy["details"] = json!({"retryAfterSeconds": 20});
    let replies = vec![Reply::Json(429, busy), list(10, &[])];
    let (log, _) = watched(Duration::from_secs(30), replies).await;
    assert_eq!(log.0.lock().unwrap()[1], (Duration::from_secs(20), "all ".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_falls_silent_is_opened_again() {
    let (open, _kept) = events([event("ADDED", &budget("z", 11))]);
    let (log, asked) =
        watched(Duration::from_secs(400), vec![list(10, &[]), open, Reply::Silence]).await;
    assert_eq!(log.words()[..2], ["all ", "applied z"]);
    assert_eq!(asked.lines()[2], watch_line(11), "after 295 s of silence");
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_open_again_is_no_longer_called_broken() {
    let (open, _kept) = events([]);
    let replies = vec![list(10, &["x"]), Reply::failure(503, "down"), open];
    let (log, asked) = watched(Duration::from_secs(5), replies).await;
    assert_eq!(log.words(), ["all x", "broken down", "open"]);
    assert_eq!(asked.lines()[1..], [watch_line(10), watch_line(10)]);
}
