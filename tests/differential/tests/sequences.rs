//! The sequences written by hand, on the embedded cluster alone: each step has to be answered as the
//! real one answered it when `fixtures/sequences.txt` was written.
//!
//! `SLUICE_DIFFERENTIAL_WRITE=1` writes it anew, with what the control plane says that
//! `SLUICE_CONTROLPLANE` or `SLUICE_DIFFERENTIAL_KUBECONFIG` names.

use differential::plane::Plane;
use differential::played;
use differential::run::alone;
use differential::sequences;
use differential::settings::setting;
use differential::side::{Embedded, Side};

const RECORDED: &str = include_str!("fixtures/sequences.txt");
/// How often the real cluster is asked before a line that differs is left out: it has its own time.
const TRIES: usize = 3;

/// What of a line is compared: the words are in the digest too, in an order that means something.
fn counts(line: &str) -> (&str, &str) {
    let mut words = line.split(' ');
    (words.next().unwrap_or_default(), words.next().unwrap_or_default())
}

fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime")
}

async fn embedded(steps: &[differential::step::Step]) -> Vec<String> {
    alone(Side::Embedded(Embedded::new(7)), "played", steps).await
}

#[test]
fn every_step_is_answered_as_the_real_cluster_answered_it() {
    if setting("SLUICE_DIFFERENTIAL_WRITE").is_some() {
        return;
    }
    let recorded = played::parse(RECORDED);
    let all = sequences::all();
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    let known: Vec<&str> = recorded.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, known, "record them anew: see the head of this file");
    let mut wrong = 0;
    for ((name, steps), (_, expected)) in all.iter().zip(&recorded) {
        let found = runtime().block_on(embedded(steps));
        assert_eq!(found.len(), expected.len(), "{name} has other steps: record it anew");
        for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
            if !expected.starts_with('~') && counts(found) != counts(expected) {
                wrong += 1;
                println!("{name}, step {index}: {}", steps[index]);
                println!("    expected {expected}\n    found    {found}");
            }
        }
    }
    assert_eq!(
        wrong, 0,
        "of the answers; which fields differ is told beside a real cluster: tests/live.rs"
    );
}

#[test]
fn the_recording_is_written_anew_where_that_is_asked_for() {
    if setting("SLUICE_DIFFERENTIAL_WRITE").is_none() {
        return;
    }
    let plane = Plane::named().expect("a control plane to record");
    let runtime = runtime();
    let client = runtime.block_on(plane.client());
    let mut text = String::new();
    for (number, (name, steps)) in sequences::all().iter().enumerate() {
        let ours = runtime.block_on(embedded(steps));
        let mut best: Option<(usize, Vec<String>)> = None;
        for attempt in 0..TRIES {
            let namespace =
                differential::settings::of_this_run(&format!("played-{number}-{attempt}"));
            let lines = runtime.block_on(alone(Side::Real(client.clone()), &namespace, steps));
            let differing =
                lines.iter().zip(&ours).filter(|(real, ours)| counts(real) != counts(ours)).count();
            if best.as_ref().is_none_or(|(least, _)| differing < *least) {
                best = Some((differing, lines));
            }
            if differing == 0 {
                break;
            }
        }
        let (differing, lines) = best.expect("it was tried");
        println!("{name}: {differing} of {} steps differ", lines.len());
        text += &format!("# {name}\n");
        for (index, (line, ours)) in lines.iter().zip(&ours).enumerate() {
            let same = counts(line) == counts(ours);
            let sign = if same { "" } else { "~ " };
            if !same {
                println!("  {index}: {}\n    {line}\n    {ours}", steps[index]);
            }
            text += &format!("{sign}{line}\n");
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/sequences.txt");
    std::fs::write(path, text).expect("the recording can be written");
}
