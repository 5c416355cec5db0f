//! `sluice lint`: manifests judged without a cluster, each finding with its place.

use std::io::Read;
use std::path::{Path, PathBuf};

use api::ParseError;
use api::bedrock::{Capabilities, denies, validate};
use serde::Serialize;
use serde_json::Value;

use crate::exit::{Exit, Failure, Outcome};
use crate::locate;
use crate::out::{Out, PlainFormat};
use crate::show::paint::{Paint, Tone};

/// Check manifests offline
#[derive(clap::Args, Debug)]
pub(crate) struct Flags {
    /// Manifests in YAML or JSON; - is standard input
    #[arg(short, long = "filename", value_name = "FILE", required = true, num_args = 1..)]
    filename: Vec<PathBuf>,

    /// How the result is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: PlainFormat,
}

/// A remark about a place in a file.
#[derive(Debug, Serialize)]
struct Remark {
    file: String,
    line: usize,
    column: usize,
    /// `error` or `warning`.
    severity: &'static str,
    /// `namespace/name` of the object, as far as it has them.
    #[serde(skip_serializing_if = "String::is_empty")]
    object: String,
    /// The field.
    #[serde(skip_serializing_if = "String::is_empty")]
    path: String,
    message: String,
}

/// What was found.
#[derive(Debug, Default, Serialize)]
struct Report {
    /// How many rollouts were looked at.
    rollouts: usize,
    /// How many objects of other kinds were not.
    others: usize,
    remarks: Vec<Remark>,
}

/// Runs it.
pub(crate) fn run(flags: &Flags, out: &mut Out) -> Outcome {
    let mut report = Report::default();
    for path in &flags.filename {
        let text = read(path)?;
        let name =
            if path.as_os_str() == "-" { "<stdin>".to_owned() } else { path.display().to_string() };
        lint(&name, &text, &mut report);
    }
    let errors = report.remarks.iter().any(|remark| remark.severity == "error");
    if report.rollouts == 0 && !errors {
        let others = report.others;
        return Err(Failure::Failed(format!(
            "nothing to check: no StatefulsetRollout among the {others} objects of the files"
        )));
    }
    out.document(flags.output.into(), &report, |paint| words(&report, paint))?;
    Ok(if errors { Exit::Failed } else { Exit::Done })
}

/// A file whole, or standard input for `-`.
pub(super) fn read(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = if path.as_os_str() == "-" {
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(path)
    };
    read.map_err(|error| {
        let words = format!("cannot read {}: {error}", path.display());
        if error.kind() == std::io::ErrorKind::NotFound {
            Failure::NotFound(words)
        } else {
            Failure::Failed(words)
        }
    })
}

fn lint(file: &str, text: &str, report: &mut Report) {
    let remark = |(line, column), message| Remark {
        file: file.to_owned(),
        line,
        column,
        severity: "error",
        object: String::new(),
        path: String::new(),
        message,
    };
    let objects = match api::parse(text) {
        Ok(objects) => objects,
        Err(ParseError::Malformed { line, column, message }) => {
            let number = |n: u64| usize::try_from(n).unwrap_or(1);
            report.remarks.push(remark((number(line), number(column)), message));
            return;
        }
        Err(error) => return report.remarks.push(remark((1, 1), error.to_string())),
    };
    let places = locate::objects(text);
    for (index, object) in objects.iter().enumerate() {
        let place = |path: &str| places.get(index).map_or((1, 1), |located| located.find(path));
        match kind(object) {
            Kind::Rollout => {}
            Kind::Other => {
                report.others += 1;
                continue;
            }
            Kind::Wrong(field, message) => {
                let object = title(object);
                report.remarks.push(Remark {
                    object,
                    path: field.to_owned(),
                    ..remark(place(field), message)
                });
                continue;
            }
        }
        report.rollouts += 1;
        let findings = validate(object, &Capabilities::default());
        for finding in findings {
            let severe = denies(std::slice::from_ref(&finding));
            report.remarks.push(Remark {
                severity: if severe { "error" } else { "warning" },
                object: title(object),
                path: finding.path.clone(),
                ..remark(place(&finding.path), finding.message)
            });
        }
    }
}

/// Whether an object is ours to check.
enum Kind {
    Rollout,
    Other,
    /// Field and message: meant to be ours, and written wrongly.
    Wrong(&'static str, String),
}

const API_VERSION: &str = "bedrock.operator.slack.com/v1";
const KIND: &str = "StatefulsetRollout";

fn kind(object: &Value) -> Kind {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    match (version == API_VERSION, kind == KIND) {
        (true, true) => Kind::Rollout,
        (false, true) => {
            Kind::Wrong("apiVersion", format!("is {version:?}, but a {KIND} is of {API_VERSION:?}"))
        }
        (true, false) => {
            Kind::Wrong("kind", format!("is {kind:?}, but {API_VERSION} has {KIND} only"))
        }
        (false, false) if kind.is_empty() => {
            Kind::Wrong("kind", "is missing: this is no Kubernetes object".to_owned())
        }
        (false, false) => Kind::Other,
    }
}

fn title(object: &Value) -> String {
    let text = |field: &str| object["metadata"][field].as_str();
    let parts: Vec<&str> = [text("namespace"), text("name")].into_iter().flatten().collect();
    parts.join("/")
}

fn words(report: &Report, paint: Paint) -> String {
    let mut text = String::new();
    for remark in &report.remarks {
        let Remark { file, line, column, severity, path, message, .. } = remark;
        let tone = if *severity == "error" { Tone::Bad } else { Tone::Busy };
        let field = if path.is_empty() { String::new() } else { format!("{path}: ") };
        let severity = paint.text(tone, severity);
        text.push_str(&format!("{file}:{line}:{column}: {severity}: {field}{message}\n"));
    }
    let counted = |number: usize, word: &str| {
        format!("{number} {word}{}", if number == 1 { "" } else { "s" })
    };
    let of = |severity| {
        counted(report.remarks.iter().filter(|one| one.severity == severity).count(), severity)
    };
    text.push_str(&format!(
        "{} checked: {}, {}\n",
        counted(report.rollouts, "rollout"),
        of("error"),
        of("warning")
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(text: &str) -> String {
        let mut report = Report::default();
        lint("a.yaml", text, &mut report);
        words(&report, Paint { on: false })
    }

    fn check(text: &str, expect: &[&str]) {
        let said = report(text);
        for expect in expect {
            assert!(said.contains(expect), "{text}\nsays\n{said}");
        }
    }

    const HEAD: &str = "apiVersion: bedrock.operator.slack.com/v1\nkind: StatefulsetRollout\n";

    #[test]
    fn a_malformed_file_is_told_with_line_and_column() {
        check("a:\n  b: 1\n c: 2\n", &["a.yaml:3:"]);
        check("- a\n", &["a.yaml:1:1: error: document 1 is a list"]);
    }

    #[test]
    fn a_wrong_type_and_an_unknown_field_are_told_at_their_keys() {
        let text = format!(
            "{HEAD}metadata: {{name: tester}}\nspec:\n  percent: \"25\"\n  pauzeRequested: true\n  statefulset: {{}}\n"
        );
        check(
            &text,
            &[
                "a.yaml:5:3: error: spec.percent: must be a whole number",
                "leave out the quotes",
                "a.yaml:6:3: error: spec.pauzeRequested: is not a field",
                "did you mean \"pauseRequested\"?",
            ],
        );
    }

    #[test]
    fn containers_as_a_map_are_told_at_their_line() {
        let text = format!(
            "{HEAD}metadata:\n  name: tester\nspec:\n  statefulset:\n    spec:\n      template:\n        spec:\n          containers:\n            image: a\n            name: b\n"
        );
        check(
            &text,
            &[
                "a.yaml:10:11: error: spec.statefulset.spec.template.spec.containers: must be a list",
            ],
        );
    }

    #[test]
    fn a_wrong_kind_or_version_is_no_reason_to_pass() {
        check(
            "apiVersion: v1\nkind: StatefulsetRollout\n",
            &["a.yaml:1:1: error: apiVersion: is \"v1\""],
        );
        check(
            "apiVersion: bedrock.operator.slack.com/v1\nkind: StatefulSetRollout\n",
            &["a.yaml:2:1: error: kind: is \"StatefulSetRollout\""],
        );
        check("apiVersion: v1\nkind: Service\n", &["0 rollouts checked: 0 errors"]);
    }
}
