//! Replays what was recorded from a real kube-apiserver 1.36.3, request by request, and compares.
//!
//! Status, headers, reason, message and the whole body have to be the same, but for the short list
//! in `normal`. What is not served yet is named in `NOT_YET`, and has to be still failing.

mod replay;

use replay::{Exchange, Replay};

/// Exchanges that fail for a known reason. Each must still fail: a fixed one leaves the list.
const NOT_YET: &[(&str, &str)] = &[
    ("openapi v3 index", "documents of other kinds and hashes of another build"),
    ("readyz", "the list of another server's parts"),
];

/// Virtual milliseconds that pass before a request, where the recorded order implies a wait for
/// the controllers. Everything else follows at once.
const WAITS: &[(&str, u64)] = &[
    ("statefulset, get when ready", 3_000),
    ("statefulset, strategic patch deletes an env", 500),
    ("statefulset, status after a new template under OnDelete", 500),
    ("scale, patch", 500),
    ("status, patch through the main resource is dropped", 5),
    ("budget, create", 3_000),
    ("budget, status", 1_500),
    ("evict another, budget used", 200),
    ("second budget", 300),
    ("budget of zero", 3_000),
    ("evict, budget of zero", 1_500),
    ("budget, 30% of 4", 1_500),
    ("break one pod", 1_000),
    ("budget, one unhealthy", 1_000),
    ("evict a ready one meanwhile", 100),
    ("budget, AlwaysAllow", 500),
    ("break one pod again", 3_000),
    ("evict the unready one under AlwaysAllow with a budget of zero", 1_000),
    ("budget of one again", 500),
    (
        "evict, wrong uid: refused, and the slot of the budget is gone until the controller recounts",
        3_000,
    ),
    ("evict right after", 200),
    ("budget after that", 2_000),
    ("crd, established", 1_000),
    ("cr, create: defaults, unknown field pruned", 1_000),
    ("owned is gone", 2_000),
];

#[tokio::test(start_paused = true)]
async fn every_recorded_exchange_is_answered_as_the_real_server_does() {
    let exchanges: Vec<Exchange> = include_str!("fixtures/exchanges.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a fixture line is JSON"))
        .collect();
    let mut replay = Replay::new();
    let (mut wrong, mut fixed, mut same) = (Vec::new(), Vec::new(), 0);
    for exchange in &exchanges {
        let wait = WAITS.iter().find(|(title, _)| *title == exchange.title).map_or(0, |w| w.1);
        replay.wait(wait).await;
        let differences = replay.run(exchange).await;
        let known = NOT_YET.iter().any(|(title, _)| *title == exchange.title);
        match (differences.is_empty(), known) {
            (true, false) => same += 1,
            (true, true) => fixed.push(exchange.title.clone()),
            (false, true) => {}
            (false, false) => wrong.push((exchange.title.clone(), differences)),
        }
    }
    for (title, differences) in &wrong {
        eprintln!("## {title}");
        for difference in differences {
            eprintln!("   {difference}");
        }
    }
    assert!(fixed.is_empty(), "no longer failing, take off the list: {fixed:?}");
    assert!(wrong.is_empty(), "{} of {} differ; {same} are the same", wrong.len(), exchanges.len());
}
