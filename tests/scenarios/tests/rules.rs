//! `docs/release-rules.md` leaves no rule, fault or kind out, and names no test that is not there.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod page;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use page::{Rule, letters, rules};
use scenarios::all;

/// How many faults of the original were found by reading it.
const FAULTS: usize = 24;

/// What its users reported that concerns these kinds and steps without traffic.
const REPORTS: [&str; 23] = [
    "openkruise/rollouts#308",
    "openkruise/rollouts#197",
    "openkruise/rollouts#305",
    "openkruise/rollouts#321",
    "openkruise/rollouts#309",
    "openkruise/rollouts#310",
    "openkruise/rollouts#174",
    "openkruise/rollouts#186",
    "openkruise/rollouts#49",
    "openkruise/rollouts#180",
    "openkruise/rollouts#95",
    "openkruise/rollouts#257",
    "openkruise/rollouts#266",
    "openkruise/rollouts#244",
    "openkruise/rollouts#261",
    "openkruise/rollouts#272",
    "openkruise/rollouts#278",
    "openkruise/rollouts#152",
    "openkruise/rollouts#297",
    "openkruise/kruise#2000",
    "openkruise/kruise#1356",
    "openkruise/kruise#2239",
    "kubevela/kubevela#7170",
];

#[test]
fn every_rule_is_shown_on_every_kind_or_says_why_not() {
    for rule in rules() {
        let shown = rule.shown.iter().flat_map(|it| &it.kinds);
        let met: BTreeSet<&str> = shown.chain(&rule.left_out).map(String::as_str).collect();
        let wanted: BTreeSet<&str> = letters().into_iter().collect();
        assert_eq!(met, wanted, "{}", rule.words);
        let both = rule.shown.iter().any(|it| !it.kinds.is_disjoint(&rule.left_out));
        assert!(!both, "{}: a kind is shown, and left out", rule.words);
    }
}

#[test]
fn no_fault_and_no_report_is_missing() {
    let rules = rules();
    let starts = |start: &str| rules.iter().any(|rule: &Rule| rule.words.starts_with(start));
    for fault in 1..=FAULTS {
        assert!(starts(&format!("{fault}. ")), "fault {fault} is missing");
    }
    for report in REPORTS {
        assert!(starts(&format!("{report} ")), "{report} is missing");
    }
}

#[test]
fn every_test_that_is_named_exists() {
    let scenarios: BTreeSet<&str> = all().iter().map(|scenario| scenario.name).collect();
    let places = BTreeMap::from([
        ("engine", functions("crates/engine/tests")),
        ("api", functions("crates/api")),
        ("webhooks", functions("tests/scenarios/tests/webhooks")),
        ("rollouts", functions("tests/scenarios/tests/rollouts.rs")),
        ("releases", functions("tests/scenarios/tests/release.rs")),
        ("races", functions("tests/scenarios/tests/races.rs")),
        ("replay", functions("tests/scenarios/tests/replay.rs")),
        ("later", functions("tests/scenarios/tests/later.rs")),
    ]);
    for rule in rules() {
        for test in &rule.shown {
            let exists = match &test.place {
                None => scenarios.contains(test.name.as_str()),
                Some(place) => places[place.as_str()].contains(&test.name),
            };
            assert!(exists, "{}: there is no {:?} {}", rule.words, test.place, test.name);
        }
    }
}

/// Names of functions in all sources below a place.
fn functions(place: &str) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(place);
    let mut found = BTreeSet::new();
    let mut left = vec![root];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            for rest in text.split("fn ").skip(1) {
                let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next();
                found.extend(name.map(str::to_owned));
            }
        }
    }
    found
}
