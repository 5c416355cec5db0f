//! Where the embedded cluster may answer otherwise, and why.

use std::sync::LazyLock;

use regex::Regex;

/// What a step's text and a difference's line look like, and the reason. Beside what two runs of the
/// same real server would not share either, which [`crate::normal`] takes out.
#[rustfmt::skip]
const ALLOWED: &[(&str, &str, &str)] = &[
    // Words of Go: struct fields in Go's names and order, diffs by a Go library.
    ("", r#"Invalid value: .{0,6}"\{"#, "a quoted object has its fields in the order of the struct"),
    ("/pods/", "pod updates may not change fields", "followed by a diff"),
    // A number that was another one for a moment has an owner; whether a controller looked then, it
    // doesn't know itself.
    ("^rest$", r"managedFields.*f:status\.f:disruptionsAllowed", "a moment between two looks"),
    // Nobody leans on these.
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
