//! Where the embedded cluster may answer otherwise, and why.

use std::sync::LazyLock;

use regex::Regex;

/// What a step's text and a difference's line look like, and the reason. Beside what two runs of the
/// same real server would not share either, which [`crate::normal`] takes out.
#[rustfmt::skip]
const ALLOWED: &[(&str, &str, &str)] = &[
    // Words of Go: struct fields in Go's names and order, diffs by a Go library.
    ("", r#"Invalid value: .{0,6}"\{"#, "a quoted object has its fields in the order of the struct"),
    ("", r#"Invalid value: \{\\"[A-Z]"#, "a quoted struct has Go's names"),
    ("/pods/", "pod updates may not change fields", "followed by a diff"),
    ("", "does not match template `labels`", "absent labels are null in one, empty in the other"),
    ("continue=junk", "continue key is not valid", "which byte of rubbish is quoted"),
    ("labelSelector=n%3Ea", "unable to parse requirement", "the path in the message"),
    (r"yaml\)", r"yaml: ", "words of another YAML parser"),
    (r#"yaml\) "\\t"#, "", "a tab at the beginning is space, and nobody's YAML"),
    // Refused by both, with fewer causes or in other words.
    (r#"/configmaps .*"metadata":\{\}"#, r"^\.details", "the details of a missing name"),
    (r"/configmaps/a \{\}$", r"^\.(details|message)", "415 in two wordings"),
    ("/customresourcedefinitions .*Thing", r"^\.(details|message)", "order and number of causes"),
    (r#"statefulsets .*"spec":\{\}"#, r"^\.(details|message)", "causes that follow from the first"),
    (r#"/widgets .*"size":("1"|1.5|-1)\}"#, r"^\.(details|message)", "the scale's accessor complains too"),
    ("/widgets/a/status .*\"phase\":1", r"^\.(details|message)", "the path in the message"),
    ("/widgets/a/scale .*-1", r"^\.(details|message)", "refused as a Scale, not as the object behind it"),
    ("/widgets/a/nonsense", r"^\.(details|message)", "404 in two wordings"),
    // A number that was another one for a moment has an owner; whether a controller looked then, it
    // doesn't know itself.
    ("^rest$", r"managedFields.*f:status\.f:disruptionsAllowed", "a moment between two looks"),
    // Nobody leans on these.
    ("DELETE .*/customresourcedefinitions/", r"^\.status\.conditions", "no Terminating condition"),
    ("PUT .*\"resourceVersion\":\"junk\"", "", "500 for a version that is no number, here 409"),
    ("limit=x", "", "a limit that is no number is taken as none"),
    ("sendInitialEvents=true.*Bookmarks", "items expected", "another bookmark when the time is over"),
];

/// Whether this line may differ in this step.
pub fn allowed(step: &str, line: &str) -> bool {
    static READ: LazyLock<Vec<(Regex, Regex)>> = LazyLock::new(|| {
        let read = |text: &str| Regex::new(text).expect("a constant");
        ALLOWED.iter().map(|(step, line, _)| (read(step), read(line))).collect()
    });
    READ.iter().any(|(of_step, of_line)| of_step.is_match(step) && of_line.is_match(line))
}
