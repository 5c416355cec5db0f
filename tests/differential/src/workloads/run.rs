//! Runs a sequence on both clusters and compares.

use std::time::Duration;

use jiff::SignedDuration;
use kube::Client;
use serde_json::Value;

use super::act::Act;
use super::picture::{self, Lists, Names};
use crate::allowed::allowed;
use crate::compared::{Difference, LOOKS, begin, compare, each, end};
use crate::normal;
use crate::settings::of_this_run;
use crate::side::{Answer, Embedded, Side};
use crate::step::Step;

/// For how many looks nothing may change on the real cluster before it is at rest.
const QUIET: u32 = 3;
const BETWEEN: Duration = Duration::from_millis(400);

/// Runs acts in a namespace of this name, which must be a new one; all differences, or the first.
pub async fn run(client: &Client, namespace: &str, acts: &[Act], all: bool) -> Vec<Difference> {
    let namespace = of_this_run(namespace);
    let pair = Pair {
        namespace: namespace.clone(),
        real: Side::Real(client.clone()),
        embedded: Side::Embedded(Embedded::with_kruise(7)),
    };
    for side in [&pair.real, &pair.embedded] {
        begin(side, &namespace).await;
    }
    let out = each(acts, all, async |act| pair.act(act).await).await;
    end(&pair.real, &namespace).await;
    out
}

struct Pair {
    namespace: String,
    real: Side,
    embedded: Side,
}

impl Pair {
    async fn act(&self, act: &Act) -> Vec<String> {
        match act {
            Act::Call(step) => {
                let (real, embedded) = self.both(step).await;
                compare(&real, &embedded)
            }
            Act::Quietly(step) => {
                let (real, embedded) = self.both(step).await;
                let same = real.status == embedded.status;
                let line = format!("status: expected {}, found {}", real.status, embedded.status);
                if same {
                    Vec::new()
                } else {
                    vec![line, real.body.to_string(), embedded.body.to_string()]
                }
            }
            Act::Lose(which) => self.pod(*which, "DELETE", &Value::Null).await,
            Act::Pod(which, body) => self.pod(*which, "PATCH", body).await,
            Act::Rest => self.at_rest().await,
            Act::Shows(path, part) => {
                let path = path.replace("$ns", &self.namespace);
                let mut lines = Vec::new();
                for (name, side) in [("real", &self.real), ("embedded", &self.embedded)] {
                    let answer = side.send("GET", &path, "", &Value::Null).await;
                    if !holds(&answer.body, part) {
                        lines.push(format!("{name}: {}", answer.body["status"]));
                    }
                }
                lines
            }
            Act::Pass(seconds) => {
                for _ in 0..*seconds {
                    futures::join!(self.real.second(), self.embedded.second());
                }
                Vec::new()
            }
        }
    }

    async fn both(&self, step: &Step) -> (Answer, Answer) {
        futures::join!(self.call(&self.real, step), self.call(&self.embedded, step))
    }

    async fn call(&self, side: &Side, step: &Step) -> Answer {
        let Step::Call { method, path, content_type, body } = step else {
            panic!("{step} is no request");
        };
        let lists = picture::read(side, &self.namespace).await;
        let old = oldest_empty(&lists).unwrap_or_else(|| "none".to_owned());
        let fill = |text: &str| text.replace("$ns", &self.namespace).replace("$old", &old);
        let body = if body.is_null() {
            Value::Null
        } else {
            serde_json::from_str(&fill(&body.to_string())).expect("plain words are filled in")
        };
        let mut answer = side.send(method, &fill(path), content_type, &body).await;
        answer.body = Names::of(&lists).replace(&answer.body);
        picture::level(&mut answer.body);
        answer
    }

    /// A request about the same kind of Pod on both. What it answers is told by what follows.
    async fn pod(&self, which: usize, method: &str, body: &Value) -> Vec<String> {
        for side in [&self.real, &self.embedded] {
            let lists = picture::read(side, &self.namespace).await;
            let names = Names::of(&lists);
            let mut pods: Vec<(String, String)> = lists["pods"]
                .iter()
                .filter(|pod| !pod["metadata"]["deletionTimestamp"].is_string())
                .map(|pod| {
                    let name = pod["metadata"]["name"].as_str().unwrap_or_default().to_owned();
                    (names.replace(&picture::like(pod)).to_string(), name)
                })
                .collect();
            pods.sort();
            if pods.is_empty() {
                continue;
            }
            let name = &pods[which % pods.len()].1;
            let path = format!("/api/v1/namespaces/{}/pods/{name}", self.namespace);
            side.send(method, &path, "application/merge-patch+json", body).await;
        }
        Vec::new()
    }

    /// Real controllers may still be at work after a pause: only a difference that stays counts.
    async fn at_rest(&self) -> Vec<String> {
        let mut out = Vec::new();
        for look in 0..LOOKS {
            if look > 0 {
                self.real.second().await;
            }
            let (real, embedded) =
                futures::join!(self.quiet(&self.real), self.quiet(&self.embedded));
            let (mut real, mut embedded) = (picture::draw(&real), picture::draw(&embedded));
            picture::within_earshot(&mut real, &mut embedded);
            out = normal::differences(&real, &embedded);
            out.retain(|line| !allowed("rest", line));
            if out.is_empty() {
                break;
            }
        }
        out
    }

    async fn quiet(&self, side: &Side) -> Lists {
        if let Side::Embedded(embedded) = side {
            embedded.pass(SignedDuration::from_secs(4));
            return picture::read(side, &self.namespace).await;
        }
        let mut lists = picture::read(side, &self.namespace).await;
        let mut same = 0;
        for _ in 0..200 {
            tokio::time::sleep(BETWEEN).await;
            let now = picture::read(side, &self.namespace).await;
            same = if picture::versions(&now) == picture::versions(&lists) { same + 1 } else { 0 };
            lists = now;
            if same >= QUIET {
                break;
            }
        }
        lists
    }
}

/// The ReplicaSet of the lowest revision that has no Pods.
fn oldest_empty(lists: &Lists) -> Option<String> {
    let revision = |set: &Value| {
        let text = set["metadata"]["annotations"]["deployment.kubernetes.io/revision"].as_str();
        text.and_then(|text| text.parse::<u32>().ok())
    };
    let empty = lists["replicasets"].iter().filter(|set| set["spec"]["replicas"] == 0);
    let oldest = empty.min_by_key(|set| revision(set))?;
    oldest["metadata"]["name"].as_str().map(str::to_owned)
}

/// Whether an object has each field of a part of it.
fn holds(object: &Value, part: &Value) -> bool {
    match part {
        Value::Object(fields) => fields.iter().all(|(name, field)| holds(&object[name], field)),
        other => object == other,
    }
}
