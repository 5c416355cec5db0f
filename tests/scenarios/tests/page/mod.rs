//! `docs/release-rules.md`, read: rules, the tests that are said to show them, and on which kinds.

use std::collections::BTreeSet;

/// One row.
#[derive(Debug)]
#[allow(dead_code, reason = "each test file that reads the page reads another part of it")]
pub(crate) struct Rule {
    pub(crate) words: String,
    pub(crate) shown: Vec<Shown>,
    /// Kinds that are left out, for a reason.
    pub(crate) left_out: BTreeSet<String>,
}

/// A test that shows it.
#[derive(Debug)]
pub(crate) struct Shown {
    /// The word of its place; none of a scenario.
    pub(crate) place: Option<String>,
    pub(crate) name: String,
    pub(crate) kinds: BTreeSet<String>,
}

/// Letters of all kinds.
pub(crate) fn letters() -> Vec<&'static str> {
    scenarios::kinds::ALL.into_iter().map(|facts| facts.letter).collect()
}

/// All rows of the page.
pub(crate) fn rules() -> Vec<Rule> {
    let page = include_str!("../../../../docs/release-rules.md");
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---"));
    let rules = rows.filter(|line| !line.contains("| shown by |"));
    rules.map(rule).collect()
}

fn rule(line: &str) -> Rule {
    let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
    let [words, shown, left_out] = cells[..] else { panic!("not three cells: {line}") };
    Rule {
        words: words.to_owned(),
        shown: shown.split(';').map(|test| this(test.trim(), line)).collect(),
        left_out: left_out
            .split(". ")
            .filter(|reason| !reason.is_empty())
            .flat_map(|reason| {
                let (kinds, reason) = reason.split_once(": ").expect("kinds, and the reason");
                assert!(!reason.is_empty(), "a reason: {line}");
                kinds.split_whitespace().map(str::to_owned)
            })
            .collect(),
    }
}

/// `` `place name` D S N ``, or `all` for every kind.
fn this(test: &str, line: &str) -> Shown {
    let (quoted, kinds) = test.rsplit_once('`').unwrap_or_else(|| panic!("no test: {line}"));
    let quoted = quoted.trim_start_matches('`');
    let (place, name) = match quoted.split_once(' ') {
        Some((place, name)) => (Some(place.to_owned()), name),
        None => (None, quoted),
    };
    let kinds = kinds.split_whitespace().flat_map(|word| match word {
        "all" => letters(),
        letter => vec![letter],
    });
    let kinds: BTreeSet<String> = kinds.map(str::to_owned).collect();
    assert!(!kinds.is_empty(), "{name} is of no kind: {line}");
    Shown { place, name: name.to_owned(), kinds }
}
