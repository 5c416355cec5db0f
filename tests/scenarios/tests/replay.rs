//! What users did to the original, done to Sluice: wherever the original came to rest, so has the whole of
//! Sluice, with the same numbers.
//!
//! The recordings are those that decisions are held against (`crates/engine/tests/rollout/recorded`); there only
//! the status of the Rollout is decided, here Sluice moves the Pods as well.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::path::Path;
use std::time::Duration;

use controller::Settings;
use kube::Client;
use scenarios::env::{
    ADVANCED_DAEMONSETS, ADVANCED_SETS, CLONESETS, DAEMONSETS, DEPLOYMENTS, Kind, SETS,
};
use serde_json::{Value, json};
use simulation::{Harness, in_virtual_time, send};

const ROLLOUTS: &str = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/rollouts";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// A field that differs on purpose: in which recordings, and what wants it so.
struct Allowed {
    case: &'static str,
    field: &'static str,
    ours: &'static str,
    #[expect(dead_code, reason = "for the reader")]
    wanted_by: &'static str,
}

const ALLOWED: &[Allowed] = &[
    Allowed {
        case: "",
        field: "condition Stuck",
        ours: "False Waiting",
        wanted_by: "a batch that does not get ready raises a condition after a deadline",
    },
    Allowed {
        case: "disabled-midway",
        field: "condition Progressing",
        ours: "False Disabled",
        wanted_by: "a release that was ended by `disabled` is not under way any more",
    },
    // Four of five, two of three: the counts of the moment when the release was over.
    Allowed {
        case: "deployment",
        field: "ready at the end",
        ours: "4",
        wanted_by: "`failureThreshold` unset means the workload's maxUnavailable: one may still come up",
    },
    Allowed { case: "daemonset", field: "ready at the end", ours: "2", wanted_by: "the same" },
    Allowed { case: "cloneset", field: "ready at the end", ours: "4", wanted_by: "the same" },
    Allowed {
        case: "advanced-statefulset",
        field: "ready at the end",
        ours: "4",
        wanted_by: "the same",
    },
];

/// The original does not see that a DaemonSet of either kind is rolled back, and goes through the steps with what ran before.
/// Sluice rolls it back at once; what is recorded from there on has nothing to be compared with.
const BACK_AT_ONCE: [&str; 6] = [
    "daemonset-back-at-once",
    "daemonset-back-in-batches",
    "daemonset-broken-then-back",
    "advanced-daemonset-back-at-once",
    "advanced-daemonset-back-in-batches",
    "advanced-daemonset-broken-then-back",
];

/// What is compared, by name.
type Picture = BTreeMap<String, String>;

/// One recorded cluster, lived through.
struct Play {
    client: Client,
    kind: Kind,
}

impl Play {
    async fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        send(&self.client, method, path, body)
            .await
            .unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    async fn get(&self, path: &str) -> Option<Value> {
        send(&self.client, "GET", path, &Value::Null).await.ok()
    }

    fn workload(&self) -> String {
        format!("{}/web", self.kind.path("default"))
    }

    /// What a user did to the workload: a comment of the recording.
    async fn on_the_workload(&self, words: &str) {
        if words.starts_with("create ") {
            let mut object = self.kind.manifest("web", 5);
            object["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = json!(0);
            self.ask("POST", &self.kind.path("default"), &object).await;
            return;
        }
        let Some((_, change)) = words.strip_prefix("patch ").and_then(|it| it.split_once(": "))
        else {
            return;
        };
        let words: Vec<&str> = change.split(' ').collect();
        let image = |image: &str| json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}});
        let patch = match words[..] {
            ["replicas", number] => json!({"spec": {"replicas": number.parse::<u32>().unwrap()}}),
            ["image", name] => image(name),
            ["image", name, "with", "label", label] => {
                let (key, value) = label.split_once('=').unwrap();
                let mut patch = image(name);
                let key = format!("rollouts.kruise.io/{key}");
                patch["metadata"] = json!({"labels": {key: value}});
                patch
            }
            _ => panic!("{change} is nothing that a user did"),
        };
        self.ask("PATCH", &self.workload(), &patch).await;
    }

    /// What a user did to the Rollout.
    async fn on_the_rollout(&self, words: &[&str]) {
        let rollout = format!("{ROLLOUTS}/web");
        let spec = |strategy: Value| json!({"spec": {"strategy": strategy}});
        let (path, patch) = match *words {
            ["create", list, ref rest @ ..] => {
                let mut object = json!({
                    "apiVersion": "rollouts.kruise.io/v1beta1", "kind": "Rollout",
                    "metadata": {"name": "web"},
                    "spec": {
                        "workloadRef": self.kind.named("web"),
                        "strategy": {"canary": {"steps": steps(list)}},
                    },
                });
                if rest.contains(&"rollback-in-batch") {
                    object["metadata"]["annotations"] =
                        json!({"rollouts.kruise.io/rollback-in-batch": "true"});
                }
                self.ask("POST", ROLLOUTS, &object).await;
                return;
            }
            ["delete"] => {
                self.ask("DELETE", &rollout, &json!({})).await;
                return;
            }
            ["steps", list] => (rollout, spec(json!({"canary": {"steps": steps(list)}}))),
            ["paused", value] => (rollout, spec(json!({"paused": value == "true"}))),
            ["disabled", value] => (rollout, json!({"spec": {"disabled": value == "true"}})),
            ["approve"] => said(&rollout, &json!({"currentStepState": "StepReady"})),
            ["jump", to] => said(&rollout, &json!({"nextStepIndex": to.parse::<u32>().unwrap()})),
            _ => panic!("{words:?} is nothing that a user did"),
        };
        self.ask("PATCH", &path, &patch).await;
    }

    /// What is compared, once nothing has changed for eight seconds.
    async fn rest(&self) -> Option<Picture> {
        let (mut last, mut still) = (None, 0);
        for _ in 0..1200 {
            let pods = self.get(PODS).await.unwrap_or_default()["items"].clone();
            let seen = (self.picture().await, pods);
            still = if last.as_ref() == Some(&seen) { still + 1 } else { 0 };
            last = Some(seen);
            if still == 16 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        assert_eq!(still, 16, "no rest: {last:?}");
        last.and_then(|(picture, _)| picture)
    }

    async fn picture(&self) -> Option<Picture> {
        let status = self.get(&format!("{ROLLOUTS}/web")).await?["status"].clone();
        let workload = self.get(&self.workload()).await.unwrap_or_default();
        let canary = &status["canaryStatus"];
        let updated = self.kind.count(&workload, self.kind.facts().updated);
        let word = |value: &Value| match value {
            Value::Null => "-".to_owned(),
            Value::String(text) if text.is_empty() => "-".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let count = |value: &Value| value.as_u64().unwrap_or(0).to_string();
        let mut picture: Picture = [
            ("phase", word(&status["phase"])),
            ("step", word(&canary["currentStepIndex"])),
            ("next", word(&canary["nextStepIndex"])),
            ("state", word(&canary["currentStepState"])),
            ("finalising", word(&canary["finalisingStep"])),
            ("replicas", count(&canary["canaryReplicas"])),
            ("ready", count(&canary["canaryReadyReplicas"])),
            ("message", word(&status["message"])),
            ("updated", updated.to_string()),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into();
        for condition in status["conditions"].as_array().into_iter().flatten() {
            let says = format!("{} {}", word(&condition["status"]), word(&condition["reason"]));
            picture.insert(format!("condition {}", word(&condition["type"])), says);
        }
        Some(picture)
    }
}

fn steps(list: &str) -> Value {
    let step = |size: &str| match size.parse::<u32>() {
        Ok(number) => json!({"replicas": number}),
        Err(_) => json!({"replicas": size}),
    };
    list.split(',').map(step).collect()
}

fn said(rollout: &str, canary: &Value) -> (String, Value) {
    (format!("{rollout}/status"), json!({"status": {"canaryStatus": canary}}))
}

/// What was found beside the original.
#[derive(Default)]
struct Differences {
    /// Places in [`ALLOWED`].
    on_purpose: BTreeSet<usize>,
    found: Vec<String>,
    compared: usize,
}

impl Differences {
    fn compare(&mut self, case: &str, at: &str, ours: &Picture, theirs: &Picture) {
        self.compared += 1;
        let over = ours.get("finalising").is_some_and(|it| it == "END");
        let keys: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
        for key in keys {
            let word = |picture: &Picture| picture.get(key).map_or("-", String::as_str).to_owned();
            let (ours, theirs) = (word(ours), word(theirs));
            if ours == theirs {
                continue;
            }
            let field = if over && key == "ready" { "ready at the end" } else { key };
            let allowed = ALLOWED
                .iter()
                .position(|it| case.contains(it.case) && field == it.field && ours == it.ours);
            match allowed {
                Some(which) => {
                    self.on_purpose.insert(which);
                }
                None => self.found.push(format!("{case}, {at}: {key}: {ours}, theirs {theirs}")),
            }
        }
    }
}

/// What the original's status said: the line, and those that belong to it.
fn expected<'a>(words: &[&str], lines: &mut Peekable<impl Iterator<Item = &'a str>>) -> Picture {
    let pairs = words.iter().filter_map(|word| word.split_once('='));
    // Names of revisions are made otherwise.
    let pairs =
        pairs.filter(|(key, _)| !["canary", "stable", "hash", "id", "generation"].contains(key));
    let mut theirs: Picture =
        pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    while let Some(more) = lines.next_if(|line| line.starts_with("  ")) {
        let (what, rest) = more.trim().split_once(' ').unwrap();
        match (what, rest.splitn(4, ' ').collect::<Vec<_>>().as_slice()) {
            ("message", _) => {
                theirs.insert(what.to_owned(), rest.to_owned());
            }
            ("condition", [kind, status, reason, ..]) => {
                theirs.insert(format!("condition {kind}"), format!("{status} {reason}"));
            }
            _ => {}
        }
    }
    theirs
}

/// Plays one recording.
async fn play(kind: Kind, case: &str, text: &str) -> Differences {
    let harness = Harness::with_kruise(1).await;
    let operator = harness.operator(harness.router(), "one", Settings::default());
    harness.admit_by(operator.admission.clone()).await;
    let play = Play { client: harness.client(), kind };
    let mut differences = Differences::default();
    let mut updated = "0";
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(comment) = line.strip_prefix("# ") {
            play.on_the_workload(comment.split_once(' ').unwrap_or_default().1).await;
            if BACK_AT_ONCE.contains(&case) && comment.ends_with("image app:v1") {
                let ours = play.rest().await.unwrap();
                let seen = ["phase", "finalising", "condition Succeeded", "updated"];
                let seen = seen.map(|key| ours.get(key).map_or("-", String::as_str));
                assert_eq!(seen, ["Healthy", "END", "False -", "3"], "{case}");
                break;
            }
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        match words[1..] {
            ["workload", ref rest @ ..] => {
                let now = rest.iter().find_map(|word| word.strip_prefix("updated="));
                updated = now.unwrap_or(updated);
            }
            ["user", ref rest @ ..] => play.on_the_rollout(rest).await,
            ["settled", "gone"] => {
                assert!(play.rest().await.is_none(), "{case}, {line}: it is still there");
            }
            ["settled", ref rest @ ..] => {
                let mut theirs = expected(rest, &mut lines);
                theirs.insert("updated".to_owned(), updated.to_owned());
                let ours = play.rest().await.unwrap_or_default();
                differences.compare(case, words[0], &ours, &theirs);
            }
            _ => {}
        }
    }
    operator.stop().await.unwrap();
    differences
}

/// Recordings whose names begin so, by name.
fn recorded(word: &str) -> BTreeMap<String, String> {
    let directory =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/engine/tests/rollout/recorded");
    let files = std::fs::read_dir(Path::new(directory)).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    files
        .filter(|path| path.extension().is_some_and(|it| it == "txt"))
        .map(|path| (name(&path), std::fs::read_to_string(&path).unwrap()))
        .filter(|(name, _)| name.starts_with(word))
        .collect()
}

/// Replays all of a kind, by the word that their names begin with: they have met just these of the differences
/// that are allowed.
fn replay(kind: Kind, word: &str, allowed: &[usize]) {
    let cases = recorded(&format!("{word}-"));
    assert!(cases.len() > 10, "recordings of a {word}: {}", cases.len());
    let (mut met, mut found) = (BTreeSet::new(), Vec::new());
    for (case, text) in cases {
        let differences = in_virtual_time(play(kind, &case, &text));
        assert!(differences.compared > 1, "{case} has nothing to compare");
        met.extend(differences.on_purpose);
        found.extend(differences.found);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(met.into_iter().collect::<Vec<_>>(), allowed, "differences that were met");
}

#[test]
fn every_settled_state_of_a_deployment_is_that_of_the_original_but_on_purpose() {
    replay(DEPLOYMENTS, "deployment", &[0, 1, 2]);
}

#[test]
fn every_settled_state_of_a_statefulset_is_that_of_the_original_but_on_purpose() {
    replay(SETS, "statefulset", &[0, 1]);
}

#[test]
fn every_settled_state_of_a_daemonset_is_that_of_the_original_but_on_purpose() {
    replay(DAEMONSETS, "daemonset", &[0, 1, 3]);
}

#[test]
fn every_settled_state_of_a_cloneset_is_that_of_the_original_but_on_purpose() {
    replay(CLONESETS, "cloneset", &[0, 1, 4]);
}

#[test]
fn every_settled_state_of_an_advanced_statefulset_is_that_of_the_original_but_on_purpose() {
    replay(ADVANCED_SETS, "advanced-statefulset", &[0, 1, 5]);
}

#[test]
fn every_settled_state_of_an_advanced_daemonset_is_that_of_the_original_but_on_purpose() {
    replay(ADVANCED_DAEMONSETS, "advanced-daemonset", &[0, 1, 3]);
}
