//! What two runs on one real cluster would not print alike: ages, UIDs, versions, hashes, addresses.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

/// What is replaced in every line, in order.
static REPLACED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let uid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
    [
        (r"\x1b\[[0-9;]*m", ""),
        (uid, "<uid>"),
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| [+-]\d{4})", "<time>"),
        (r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "<time>"),
        (r"https?://127\.0\.0\.1:\d+", "<server>"),
        (r"\b\d{1,3}(\.\d{1,3}){3}\b", "<ip>"),
        (r"/tmp/[^ ]*/?(LIVE|MERGED)-\d+", "/tmp/$1"),
        (r#"[^ "]*/kubectl-edit-\d+"#, "/tmp/kubectl-edit-…"),
        (r"\.[0-9a-f]{16}\b", ".<hash>"),
        (r#"(resourceVersion"?: )"\d+""#, r#"$1"…""#),
        (r"(resourceVersion=)\d+", "$1…"),
        (r"-[bcdf2456789]{8,10}(-[bcdfghjklmnpqrstvwxz2456789]{5})?\b", "-<hash>"),
        (r"-[bcdfghjklmnpqrstvwxz2456789]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b", "-<hash>"),
        (r"-[bcdfghjklmnpqrstvwxz2456789]{8,10}\b", "-<hash>"),
        (r"-[bcdfghjklmnpqrstvwxz2456789]{5}\b", "-<random>"),
        (r"(resource version to be \d+, was )\d+", "$1…"),
        // Who was asked for a name, if anybody was.
        (r" on <ip>:\d+: no such host", ": no such host"),
        // What a cluster calls itself where a Node tells its system.
        (r"\b(controlplane|simcluster)(://1)?(?<after>\s|$)", "<cluster>${after}"),
        (r"(hash[=:] ?)[bcdfghjklmnpqrstvwxz2456789]{8,10}\b", "$1<hash>"),
        // An age: a word of its own, or what stands in `(x3 over 5s)` and `(5s ago)`.
        (
            r"(?<before>^|[\s(])\d+[smhdy](\d+[smhd])?(?<after>( ago)?(\)|\s|$))",
            "${before}<age>${after}",
        ),
        (r"(Resource Version: +)\d+", "$1…"),
        (r#"("resourceVersion":)"\d+""#, r#"$1"…""#),
        (r"(<ip>):\d{4,5}\b", "$1:<port>"),
        // What kubectl itself logs: the time and its process.
        (r"^([EWI])\d{4} [\d:.]+ +\d+ ", "$1… "),
        (r"eyJ[\w-]+\.[\w-]+\.[\w-]*", "<token>"),
        (r"\bnode-\d+\b", "<node>"),
        (r"(containerID|imageID|hostIP): .*", "$1: …"),
        // Controllers write under one name there and each under its own here.
        (
            r"(manager: |Manager: +)(kube-controller-manager|[a-z]+-controller|controlplane)$",
            "$1<controller>",
        ),
    ]
    .into_iter()
    .map(|(pattern, with)| (Regex::new(pattern).expect("a constant"), with))
    .collect()
});

/// What `kubectl` logs when its own deadline meets its own watch, or does not.
static CHATTER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[EWI]\d{4} .* (reflector|streamwatcher)\.go:").expect("a constant")
});

/// A text without what differs from run to run: `kubectl` lays tables out by their widest cell, so
/// gaps are made equal too.
pub fn normal(text: &str) -> String {
    static GAP: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(\S)( {2,}|\t+)").expect("a constant"));
    let lines = text.lines().filter(|line| !CHATTER.is_match(line)).map(|line| {
        let line = REPLACED.iter().fold(line.to_owned(), |line, (pattern, with)| {
            pattern.replace_all(&line, *with).into_owned()
        });
        in_order(GAP.replace_all(&line, "$1   ").trim_end().to_owned())
    });
    let mut out = String::new();
    for line in events_in_order(lines.collect()) {
        out += &line;
        out.push('\n');
    }
    out
}

/// JSON with its keys in the order of the alphabet: `--raw` shows what the server sent.
fn in_order(line: String) -> String {
    match serde_json::from_str::<serde_json::Value>(&line) {
        Ok(value @ serde_json::Value::Object(_)) => value.to_string(),
        _ => line,
    }
}

/// Events of `describe` in the order of the alphabet, each once: many fall into one second.
fn events_in_order(lines: Vec<String>) -> Vec<String> {
    static OFTEN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"<age> \(x\d+ over <age>\)").expect("a constant"));
    let (mut out, mut events) = (Vec::new(), None::<BTreeSet<String>>);
    for line in lines {
        match &mut events {
            Some(known) if line.starts_with("  ") => {
                // The line under the heading is of dashes, and sorts before every letter.
                known.insert(OFTEN.replace_all(&line, "<age>").into_owned());
            }
            _ => {
                out.extend(events.take().into_iter().flatten());
                if line.starts_with("Events:") && !line.contains("<none>") {
                    events = Some(BTreeSet::new());
                }
                out.push(line);
            }
        }
    }
    out.extend(events.into_iter().flatten());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_left_out() {
        fn check(text: &str, expect: &str) {
            assert_eq!(normal(text).trim_end(), expect, "{text}");
        }
        check("web   3/3     12s", "web   3/3   <age>");
        check(
            "web-0   1/1   Running   2 (5s ago)   3m20s",
            "web-0   1/1   Running   2 (<age> ago)   <age>",
        );
        check("delay=0s timeout=1s", "delay=0s timeout=1s");
        check("on http://127.0.0.1:8001/x", "on <server>/x");
        check("    resourceVersion: \"17\"", "    resourceVersion: \"…\"");
        check("rs/web-6b7f9c8d5", "rs/web-<hash>");
        check("to \"/run/me/kubectl-edit-2222222222.yaml\"", "to \"/tmp/kubectl-edit-….yaml\"");
        check("po/web-6b7f9c8d5-x2x4z", "po/web-<hash>");
        check("statefulset.apps/web-server", "statefulset.apps/web-server");
    }

    #[test]
    fn events_have_one_order() {
        let text =
            "Events:\n  Type  Reason\n  ----  ------\n  Normal B  2s (x3 over 5s)\n  Normal A\nx\n";
        let expect =
            "Events:\n  ----   ------\n  Normal A\n  Normal B   <age>\n  Type   Reason\nx\n";
        assert_eq!(normal(text), expect);
    }
}
