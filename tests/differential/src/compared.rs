//! What differs between the two sides, step by step, and how it is told.

use std::fmt::Display;

use serde_json::{Value, json};

use crate::allowed::allowed;
use crate::normal;
use crate::side::{Answer, Side};

/// How often a comparison at rest is repeated, a second apart, before the difference counts.
pub(crate) const LOOKS: usize = 8;

/// A step whose answers differ, and how.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Which step of the sequence.
    pub step: usize,
    /// One line for each field: `expected` is the real one.
    pub lines: Vec<String>,
}

/// Plays steps one after another; all differences, or the first.
pub(crate) async fn each<S: Display>(
    steps: &[S],
    all: bool,
    mut play: impl AsyncFnMut(&S) -> Vec<String>,
) -> Vec<Difference> {
    let mut out = Vec::new();
    for (step, what) in steps.iter().enumerate() {
        let mut lines = play(what).await;
        let text = what.to_string();
        lines.retain(|line| !allowed(&text, line));
        if !lines.is_empty() {
            out.push(Difference { step, lines });
            if !all {
                break;
            }
        }
    }
    out
}

/// Makes the namespace of a sequence.
pub(crate) async fn begin(side: &Side, namespace: &str) {
    let body = json!({"metadata": {"name": namespace}});
    let answer = side.send("POST", "/api/v1/namespaces", "application/json", &body).await;
    assert_eq!(answer.status, 201, "{namespace}: {}", answer.body);
}

/// Deletes it.
pub(crate) async fn end(side: &Side, namespace: &str) {
    let path = format!("/api/v1/namespaces/{namespace}");
    side.send("DELETE", &path, "", &Value::Null).await;
}

/// How two answers to the same request differ, one line for each field.
pub fn compare(real: &Answer, embedded: &Answer) -> Vec<String> {
    let mut out = Vec::new();
    if real.status != embedded.status {
        out.push(format!("status: expected {}, found {}", real.status, embedded.status));
    }
    if real.headers != embedded.headers {
        out.push(format!(
            "headers: expected {:?}\n      found {:?}",
            real.headers, embedded.headers
        ));
    }
    out.extend(normal::differences(&real.body, &embedded.body));
    out
}

/// Prints the differences, and, where one stands alone near the beginning, what came before it.
pub fn tell<S: Display>(steps: &[S], differences: &[Difference]) {
    for difference in differences {
        println!("  step {}: {}", difference.step, steps[difference.step]);
        for line in &difference.lines {
            println!("    {line}");
        }
    }
    if let [only] = differences
        && only.step < 15
    {
        println!("  after");
        for step in &steps[..only.step] {
            println!("    {:.600}", step.to_string());
        }
    }
}
