//! What a sequence is answered, short enough to be kept: a line for each step, with the status and a
//! digest of everything else, and of a refusal the beginning of its words.

use serde_json::Value;

use crate::normal;
use crate::side::Answer;

/// How much of a refusal's message is kept, for whoever reads the file.
const SHOWN: usize = 90;

/// The line of one step; of a step that looks at many things at once, all of them in one.
pub fn line(namespace: &str, answers: &[Answer]) -> String {
    let Some(first) = answers.first() else { return "-".to_owned() };
    let digest = answers.iter().fold(FNV, |hash, answer| digest(hash, namespace, answer));
    let message = first.body["message"].as_str().filter(|_| first.status >= 400);
    let message = message.unwrap_or_default().replace(namespace, "$ns").replace('\n', " ");
    let shown: String = message.chars().take(SHOWN).collect();
    format!("{} {digest:016x} {shown}", first.status).trim_end().to_owned()
}

const FNV: u64 = 0xcbf2_9ce4_8422_2325;

fn digest(hash: u64, namespace: &str, answer: &Answer) -> u64 {
    let body = match &answer.body {
        // Fewer kinds are served, so that not all of it is the same.
        list if is_discovery(list) => String::new(),
        body => normal::form(body).to_string().replace(namespace, "$ns"),
    };
    let headers = answer.headers.iter().map(|(name, value)| format!("{name}: {value}\n"));
    let text = format!("{}\n{}{body}", answer.status, headers.collect::<String>());
    let text = text.replace(namespace, "$ns");
    text.bytes().fold(hash, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

fn is_discovery(body: &Value) -> bool {
    let kind = body["kind"].as_str().unwrap_or_default();
    matches!(kind, "APIResourceList" | "APIGroupList" | "APIGroupDiscoveryList")
}

/// The lines of a recording by the name of their sequence.
pub fn parse(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut out: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("# ") {
            Some(name) => out.push((name, Vec::new())),
            None => out.last_mut().expect("a line belongs to a sequence").1.push(line),
        }
    }
    out
}

/// What of a line is compared, the status and the digest: the words are in the digest too.
pub fn counts(line: &str) -> (&str, &str) {
    let mut words = line.split(' ');
    (words.next().unwrap_or_default(), words.next().unwrap_or_default())
}
