//! Runs a sequence on both sides and compares.

use std::collections::BTreeMap;

use kube::Client;
use serde_json::Value;

use crate::allowed::allowed;
use crate::compared::{Difference, LOOKS, begin, compare, each, end};
use crate::sequences::DEFINITIONS;
use crate::settings::of_this_run;
use crate::side::{ASYNCHRONOUS, Answer, Embedded, Side};
use crate::step::Step;

/// Runs steps in a namespace of this name, which must be a new one; all differences, or the first.
pub async fn run(client: &Client, namespace: &str, steps: &[Step], all: bool) -> Vec<Difference> {
    let mut pair = Pair::new(client.clone(), &of_this_run(namespace)).await;
    let out = each(steps, all, async |step| pair.step(step).await).await;
    pair.tidy().await;
    out
}

/// Runs steps on one side alone; what counts of what each was answered.
pub async fn alone(side: Side, namespace: &str, steps: &[Step]) -> Vec<Vec<Answer>> {
    let mut known = Known::new(side);
    begin(&known.side, namespace).await;
    let mut out = Vec::new();
    for step in steps {
        out.push(known.step(namespace, step).await);
    }
    known.tidy(namespace).await;
    out
}

/// What is known of one side.
struct Known {
    side: Side,
    mark: String,
    continues: String,
    /// Name of a ControllerRevision → how many were known before it.
    revisions: BTreeMap<String, String>,
}

struct Pair {
    namespace: String,
    real: Known,
    embedded: Known,
}

impl Pair {
    async fn new(client: Client, namespace: &str) -> Self {
        let pair = Self {
            namespace: namespace.to_owned(),
            real: Known::new(Side::Real(client)),
            embedded: Known::new(Side::Embedded(Embedded::new(7))),
        };
        begin(&pair.real.side, namespace).await;
        begin(&pair.embedded.side, namespace).await;
        pair
    }

    async fn tidy(&self) {
        self.real.tidy(&self.namespace).await;
    }

    async fn step(&mut self, step: &Step) -> Vec<String> {
        let namespace = self.namespace.clone();
        match step {
            Step::Call { method, path, content_type, body } => {
                let (real, embedded) = futures::join!(
                    self.real.call(&namespace, method, path, content_type, body),
                    self.embedded.call(&namespace, method, path, content_type, body),
                );
                compare(&real, &embedded)
            }
            Step::Quiet(step) => {
                let mut lines = Box::pin(self.step(step)).await;
                lines.retain(|line| line.starts_with("status:"));
                lines
            }
            Step::Mark(path) => {
                self.real.mark(&namespace, path).await;
                self.embedded.mark(&namespace, path).await;
                Vec::new()
            }
            Step::Rest => self.at_rest().await,
            Step::Until(path, pointer, value, seconds) => {
                let path = path.replace("$ns", &namespace);
                let (real, embedded) = futures::join!(
                    until(&self.real.side, &path, pointer, value, *seconds),
                    until(&self.embedded.side, &path, pointer, value, *seconds),
                );
                [("real", real), ("embedded", embedded)]
                    .into_iter()
                    .filter_map(|(who, last)| last.map(|last| format!("{who}: still {last}")))
                    .collect()
            }
        }
    }

    /// Real controllers may still be at work after a pause: only a difference that stays counts.
    async fn at_rest(&mut self) -> Vec<String> {
        let mut out = Vec::new();
        for look in 0..LOOKS {
            if look > 0 {
                self.real.side.second().await;
            }
            out.clear();
            self.real.side.rest(&self.namespace).await;
            self.embedded.side.rest(&self.namespace).await;
            let real = self.real.everything(&self.namespace).await;
            let embedded = self.embedded.everything(&self.namespace).await;
            for (real, embedded) in real.iter().zip(&embedded) {
                out.extend(compare(real, embedded));
            }
            out.retain(|line| !allowed("rest", line));
            if out.is_empty() {
                break;
            }
        }
        out
    }
}

impl Known {
    fn new(side: Side) -> Self {
        Self { side, mark: String::new(), continues: String::new(), revisions: BTreeMap::new() }
    }

    /// Takes away what a night of them would leave in one control plane. The definition first: an
    /// object of it that has a finalizer would keep the namespace.
    async fn tidy(&self, namespace: &str) {
        let path = format!("{DEFINITIONS}/widgets.{namespace}.example.com");
        self.side.send("DELETE", &path, "", &Value::Null).await;
        end(&self.side, namespace).await;
    }

    /// One step on this side; the answers that count.
    async fn step(&mut self, namespace: &str, step: &Step) -> Vec<Answer> {
        match step {
            Step::Call { method, path, content_type, body } => {
                vec![self.call(namespace, method, path, content_type, body).await]
            }
            Step::Quiet(step) => {
                let mut answers = Box::pin(self.step(namespace, step)).await;
                for answer in &mut answers {
                    answer.headers.clear();
                    answer.body = Value::Null;
                }
                answers
            }
            Step::Mark(path) => {
                self.mark(namespace, path).await;
                Vec::new()
            }
            Step::Rest => {
                self.side.rest(namespace).await;
                self.everything(namespace).await
            }
            Step::Until(path, pointer, value, seconds) => {
                let path = path.replace("$ns", namespace);
                until(&self.side, &path, pointer, value, *seconds).await;
                Vec::new()
            }
        }
    }

    async fn mark(&mut self, namespace: &str, path: &str) {
        let path = path.replace("$ns", namespace);
        let answer = self.side.send("GET", &path, "", &Value::Null).await;
        self.mark = text(&answer.body["metadata"]["resourceVersion"]);
    }

    async fn call(
        &mut self,
        namespace: &str,
        method: &str,
        path: &str,
        content_type: &str,
        body: &Value,
    ) -> Answer {
        let path = self.fill(namespace, path).await;
        let body = match body {
            Value::Null => Value::Null,
            Value::String(text) => self.fill(namespace, text).await.into(),
            other => {
                let text = self.fill(namespace, &other.to_string()).await;
                serde_json::from_str(&text).expect("what is filled in are plain words")
            }
        };
        let mut answer = self.side.send(method, &path, content_type, &body).await;
        if let Some(token) = answer.body["metadata"]["continue"].as_str() {
            token.clone_into(&mut self.continues);
        }
        self.name_revisions(&mut answer);
        answer
    }

    /// Puts values in the place of `$…`.
    async fn fill(&self, namespace: &str, text: &str) -> String {
        let mut out = text
            .replace("$ns", namespace)
            .replace("$mark", &self.mark)
            .replace("$continue", &self.continues);
        for (word, field) in [("$uid(", "uid"), ("$rv(", "resourceVersion")] {
            while let Some(start) = out.find(word) {
                let end = start + out[start..].find(')').expect("it is closed");
                let path = out[start + word.len()..end].to_owned();
                let answer = self.side.send("GET", &path, "", &Value::Null).await;
                let value = crate::run::text(&answer.body["metadata"][field]);
                out.replace_range(start..=end, &value);
            }
        }
        out
    }

    async fn everything(&mut self, namespace: &str) -> Vec<Answer> {
        let mut all = Vec::new();
        for path in ASYNCHRONOUS {
            let path = path.replace("$ns", namespace);
            all.push(self.side.send("GET", &path, "", &Value::Null).await);
        }
        let listed = all.iter().find(|answer| answer.body["kind"] == "ControllerRevisionList");
        let mut items = listed.map(|answer| answer.body["items"].clone()).unwrap_or_default();
        if let Some(items) = items.as_array_mut() {
            items.sort_by_key(|item| item["revision"].as_i64());
            for item in items {
                let next = format!("revision number {}", self.revisions.len() + 1);
                self.revisions.entry(text(&item["metadata"]["name"])).or_insert(next);
            }
        }
        for answer in &mut all {
            self.name_revisions(answer);
            if let Some(items) = answer.body["items"].as_array_mut() {
                items.sort_by_key(|item| item["metadata"]["name"].to_string());
            }
        }
        all
    }

    /// Hashes are made differently, and mean the same: the order in which revisions came.
    fn name_revisions(&self, answer: &mut Answer) {
        if self.revisions.is_empty() {
            return;
        }
        let mut all = answer.body.to_string();
        for (name, label) in &self.revisions {
            all = all.replace(&format!("\"{name}\""), &format!("\"{label}\""));
            if let Some(hash) = name.rsplit('-').next() {
                all = all.replace(&format!("\"{hash}\""), &format!("\"{label}\""));
            }
        }
        answer.body = serde_json::from_str(&all).expect("labels are plain words");
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// What the field was at the end, if not the value.
async fn until(
    side: &Side,
    path: &str,
    pointer: &str,
    value: &Value,
    seconds: u32,
) -> Option<Value> {
    let mut last = Value::Null;
    for _ in 0..seconds {
        let answer = side.send("GET", path, "", &Value::Null).await;
        last = answer.body.pointer(pointer).cloned().unwrap_or_default();
        if last == *value {
            return None;
        }
        side.second().await;
    }
    Some(last)
}
