//! The sequences written by hand, on the embedded cluster alone: each step has to be answered as the
//! real one answered it when `fixtures/sequences.txt` was written.
//!
//! `SLUICE_DIFFERENTIAL_WRITE=1` writes it anew, with what the control plane says that
//! `SLUICE_CONTROLPLANE` or `SLUICE_DIFFERENTIAL_KUBECONFIG` names; `SLUICE_DIFFERENTIAL_ONLY` picks
//! sequences by a part of their name, and leaves the others as they are.

use differential::compared::compare;
use differential::plane::Plane;
use differential::played::{self, counts};
use differential::run::alone;
use differential::sequences;
use differential::settings::{of_this_run, setting};
use differential::side::{Answer, Embedded, Side};
use differential::step::Step;

const RECORDED: &str = include_str!("fixtures/sequences.txt");
/// How often the real cluster is asked before a difference counts: it has its own time.
const TRIES: usize = 3;
/// The namespace on the embedded one.
const OURS: &str = "played";

fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime")
}

async fn embedded(namespace: &str, steps: &[Step]) -> Vec<Vec<Answer>> {
    alone(Side::Embedded(Embedded::new(7)), namespace, steps).await
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
        let found = runtime().block_on(embedded(OURS, steps));
        assert_eq!(found.len(), expected.len(), "{name} has other steps: record it anew");
        for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
            let found = played::line(OURS, found);
            if counts(&found) != counts(expected) {
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
    let only = setting("SLUICE_DIFFERENTIAL_ONLY").unwrap_or_default();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/sequences.txt");
    let recorded = std::fs::read_to_string(path).expect("the recording can be read");
    let before = played::parse(&recorded);
    let plane = Plane::named().expect("a control plane to record");
    let runtime = runtime();
    let client = runtime.block_on(plane.client());
    let (mut text, mut differing) = (String::new(), 0);
    for (number, (name, steps)) in sequences::all().iter().enumerate() {
        text += &format!("# {name}\n");
        if let Some((_, lines)) = before.iter().find(|(known, _)| known == name)
            && !name.contains(&only)
        {
            lines.iter().for_each(|line| text += &format!("{line}\n"));
            continue;
        }
        let mut best: Option<Take> = None;
        for attempt in 0..TRIES {
            let namespace = of_this_run(&format!("played-{number}-{attempt}"));
            let real = runtime.block_on(alone(Side::Real(client.clone()), &namespace, steps));
            let ours = runtime.block_on(embedded(&namespace, steps));
            let take = Take::of(steps, &namespace, &real, &ours);
            if best.as_ref().is_none_or(|best| take.differing.len() < best.differing.len()) {
                best = Some(take);
            }
            if best.as_ref().is_some_and(|best| best.differing.is_empty()) {
                break;
            }
        }
        let take = best.expect("it was tried");
        println!("{name}: {} of {} steps differ", take.differing.len(), steps.len());
        take.differing.iter().for_each(|step| println!("  {step}"));
        differing += take.differing.len();
        take.lines.iter().for_each(|line| text += &format!("{line}\n"));
    }
    assert_eq!(differing, 0, "steps differ: nothing is written");
    std::fs::write(path, text).expect("the recording can be written");
}

/// What the real cluster said once.
struct Take {
    lines: Vec<String>,
    /// How each step differs that does.
    differing: Vec<String>,
}

impl Take {
    fn of(steps: &[Step], namespace: &str, real: &[Vec<Answer>], ours: &[Vec<Answer>]) -> Self {
        let lines = |answers: &[Vec<Answer>]| -> Vec<String> {
            answers.iter().map(|answers| played::line(namespace, answers)).collect()
        };
        let mut take = Self { lines: lines(real), differing: Vec::new() };
        for (index, (real_line, our_line)) in take.lines.iter().zip(lines(ours)).enumerate() {
            if counts(real_line) != counts(&our_line) {
                let answers = real[index].iter().zip(&ours[index]);
                let how: Vec<String> =
                    answers.flat_map(|(real, ours)| compare(real, ours)).collect();
                take.differing.push(format!(
                    "{index}: {}\n    {real_line}\n    {our_line}\n    {}",
                    steps[index],
                    how.join("\n    ")
                ));
            }
        }
        take
    }
}
