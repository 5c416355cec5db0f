//! The table of themes and clusters in `docs/testing.md` is made from the registry.

use std::fmt::Write;

use scenarios::{Scenario, all};

const BEGIN: &str =
    "<!-- scenarios: as `cargo test -p scenarios --test documentation` wants it -->\n";
const END: &str = "<!-- scenarios: end -->";

/// A row for each theme in the order of the registry, and their sum.
fn table() -> String {
    let scenarios = all();
    let mut table = String::from(
        "| theme | scenarios | embedded cluster | real control plane |\n| --- | ---: | --- | --- |\n",
    );
    let mut rest = scenarios.as_slice();
    while let [first, ..] = rest {
        let (theme, after) =
            rest.split_at(rest.iter().take_while(|one| one.theme == first.theme).count());
        row(&mut table, first.theme, theme.len(), webhook(first));
        rest = after;
    }
    let embedded: usize = scenarios.iter().map(|scenario| scenario.doors().len()).sum();
    let total = scenarios.len();
    writeln!(table, "| all | {total} | {embedded} runs | {total} runs |").expect("a string");
    table
}

fn row(table: &mut String, theme: &str, count: usize, embedded: &str) {
    let line = writeln!(table, "| `{theme}` | {count} | {embedded} | with the webhook |");
    line.expect("a string takes every line");
}

fn webhook(scenario: &Scenario) -> &'static str {
    match scenario.doors() {
        [false] => "without the webhook",
        [true] => "with the webhook",
        _ => "without and with the webhook",
    }
}

#[test]
fn the_table_of_scenarios_and_clusters_is_current() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/testing.md");
    let page = std::fs::read_to_string(page).expect("docs/testing.md");
    let found = page.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END));
    let found = found.map_or("", |(table, _)| table);
    let table = table();
    assert!(found == table, "docs/testing.md has to hold this:\n{BEGIN}{table}{END}");
}
