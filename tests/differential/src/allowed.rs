//! Where the embedded cluster may answer otherwise, and why.

use std::sync::LazyLock;

use regex::Regex;

/// What of a message is compared, up to its end, and why no more of it.
const CUT: &[(&str, &str)] = &[(
    r"pod updates may not change fields other than [^\n]*",
    "a diff follows of structs inside the server, which have other fields and names than the API",
)];

/// What a step's text and a difference's line look like, and the reason. Beside what two runs of the
/// same real server would not share either, which [`crate::normal`] takes out.
const ALLOWED: &[(&str, &str, &str)] = &[(
    "^rest$|/poddisruptionbudgets",
    r"managedFields.*f:status\.f:disruptionsAllowed",
    "a number that was another one for a moment has an owner; of several Pods that go at once, the real \
     controller may see some before the others, ours sees all",
)];

/// The message without what is not compared of it.
pub(crate) fn compared(message: &str) -> &str {
    static READ: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        CUT.iter().map(|(pattern, _)| Regex::new(pattern).expect("a constant")).collect()
    });
    READ.iter().fold(message, |rest, cut| match cut.find(rest) {
        Some(found) => &rest[..found.end()],
        None => rest,
    })
}

/// Whether this line may differ in this step.
pub fn allowed(step: &str, line: &str) -> bool {
    static READ: LazyLock<Vec<(Regex, Regex)>> = LazyLock::new(|| {
        let read = |text: &str| Regex::new(text).expect("a constant");
        ALLOWED.iter().map(|(step, line, _)| (read(step), read(line))).collect()
    });
    READ.iter().any(|(of_step, of_line)| of_step.is_match(step) && of_line.is_match(line))
}
