//! `sluice lint`: manifests judged without a cluster, each finding with its place.

pub(super) mod cross;
pub(super) mod kind;

use std::io::Read;
use std::path::{Path, PathBuf};

use api::ParseError;
use api::batches::{self, Claim};
use api::bedrock::{Capabilities, denies, validate};
use serde::Serialize;
use serde_json::Value;

use self::kind::{Kind, kind};

use crate::exit::{Exit, Failure, Outcome};
use crate::locate;
use crate::out::{Out, PlainFormat};
use crate::show::paint::{Paint, Tone};

/// Check manifests offline: StatefulsetRollouts, Rollouts and BatchReleases
///
/// A Rollout is checked beside its workload, where that is in one of the files.
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
    let mut files = Vec::new();
    for path in &flags.filename {
        let name =
            if path.as_os_str() == "-" { "<stdin>".to_owned() } else { path.display().to_string() };
        files.push((name, read(path)?));
    }
    let report = lint_all(&files);
    let errors = report.remarks.iter().any(|remark| remark.severity == "error");
    if report.rollouts == 0 && !errors {
        let others = report.others;
        return Err(Failure::Failed(format!(
            "nothing to check: no StatefulsetRollout, Rollout or BatchRelease among the {others} objects \
             of the files"
        )));
    }
    out.document(flags.output.into(), &report, |paint| words(&report, paint))?;
    Ok(if errors { Exit::Failed } else { Exit::Done })
}

/// Name and text of each file; what is in one is known when another is checked.
fn lint_all(files: &[(String, String)]) -> Report {
    let parsed = files.iter().filter_map(|(_, text)| api::parse(text).ok());
    let objects: Vec<Value> = parsed.flatten().collect();
    let claims: Vec<Claim> =
        objects.iter().filter(|one| one["kind"] == "Rollout").filter_map(Claim::of).collect();
    let mut report = Report::default();
    for (name, text) in files {
        lint(name, text, &Around { objects: &objects, claims: &claims }, &mut report);
    }
    report
}

/// What is in all of the files.
struct Around<'a> {
    objects: &'a [Value],
    claims: &'a [Claim],
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

fn lint(file: &str, text: &str, around: &Around<'_>, report: &mut Report) {
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
        let findings = match kind(object) {
            Kind::Percent => validate(object, &Capabilities::default()),
            Kind::Batches => of_batches(object, around),
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
        };
        report.rollouts += 1;
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

/// A Rollout or BatchRelease, beside the others of the files.
fn of_batches(object: &Value, around: &Around<'_>) -> Vec<api::Finding> {
    let context = batches::Context { others: around.claims, ..batches::Context::default() };
    let mut findings = batches::validate(object, &context);
    if !denies(&findings) && object["kind"] == "Rollout" {
        findings.extend(cross::check(object, around.objects));
    }
    findings
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
        let report = lint_all(&[("a.yaml".to_owned(), text.to_owned())]);
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

    const ROLLOUT: &str = "\
apiVersion: rollouts.kruise.io/v1beta1
kind: Rollout
metadata: {name: web, namespace: shop}
spec:
  workloadRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  strategy:
    canary:
      failureThreshold: 100%
      steps:
      - replicas: 1
      - replicas: 20%
      - replicas: 20
      - replicas: 100%
        pause: {duration: 60}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 5}
";

    #[test]
    fn a_rollout_is_checked_beside_its_workload() {
        check(
            ROLLOUT,
            &[
                "a.yaml:8:7: warning: spec.strategy.canary.failureThreshold: tolerates all 5 Pods of \
                 step 3",
                "a.yaml:11:9: warning: spec.strategy.canary.steps[1].replicas: is 1 Pod of 5, as many \
                 as at step 1: step 2 updates none",
                "a.yaml:12:9: warning: spec.strategy.canary.steps[2].replicas: asks for 20 Pods, and \
                 there are 5",
                "steps[3].replicas: is 5 Pods of 5, as many as at step 3",
                "a.yaml:14:9: warning: spec.strategy.canary.steps[3].pause: has no effect",
                "1 rollout checked: 0 errors",
            ],
        );
        let alone = ROLLOUT.split("---").next().unwrap();
        assert!(!report(alone).contains("updates none"), "{}", report(alone));
    }

    #[test]
    fn what_is_not_served_is_refused_in_both_versions() {
        let traffic = ROLLOUT.replace(
            "      steps:",
            "      trafficRoutings: [{service: web, ingress: {name: web}}]\n      steps:",
        );
        check(
            &traffic,
            &["a.yaml:9:7: error: spec.strategy.canary.trafficRoutings: traffic routing"],
        );
        let kind = ROLLOUT.replace("kind: Deployment, name", "kind: ReplicaSet, name");
        check(&kind, &["a.yaml:5:3: error: spec.workloadRef: WorkloadRef kind is not supported"]);
        let older = "\
apiVersion: rollouts.kruise.io/v1alpha1
kind: Rollout
metadata: {name: web, annotations: {rollouts.kruise.io/rolling-style: partition}}
spec:
  objectRef: {workloadRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
  strategy:
    canary:
      steps: [{weight: 20}, {replicas: 100%}]
";
        check(older, &["1 rollout checked: 0 errors, 0 warnings"]);
        check(&older.replace("partition", "canary"), &["a.yaml:3:", "error", "canary Deployment"]);
        check(
            "apiVersion: rollouts.kruise.io/v1beta1\nkind: BatchRelease\nmetadata: {name: a}\nspec:\n  \
             releasePlan: {batches: []}\n",
            &["a.yaml:5:17: error: spec.releasePlan.batches", "one batch at least"],
        );
    }

    #[test]
    fn two_rollouts_of_one_workload_are_told_whichever_file_they_are_in() {
        let other = ROLLOUT.split("---").next().unwrap().replacen("name: web", "name: other", 1);
        let files = [("a.yaml".to_owned(), ROLLOUT.to_owned()), ("b.yaml".to_owned(), other)];
        let said = words(&lint_all(&files), Paint { on: false });
        assert!(said.contains("conflict with Rollout(shop/other)"), "{said}");
        assert!(said.contains("conflict with Rollout(shop/web)"), "{said}");
    }

    #[test]
    fn a_rollout_of_another_group_is_not_ours_and_a_version_that_is_none_is_told() {
        check("apiVersion: argoproj.io/v1alpha1\nkind: Rollout\n", &["0 rollouts checked"]);
        check(
            "apiVersion: rollouts.kruise.io/v1\nkind: Rollout\n",
            &["a.yaml:1:1: error: apiVersion: is \"rollouts.kruise.io/v1\""],
        );
        check(
            "apiVersion: rollouts.kruise.io/v1beta1\nkind: Rolout\n",
            &["a.yaml:2:1: error: kind: is \"Rolout\""],
        );
    }
}
