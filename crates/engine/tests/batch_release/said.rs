//! Decisions in a line, and the helper of all tables.

use engine::decision::Action as Motion;
use engine::front::batch_release::{Action, Decision, Held, Label, Mark, Original, Phase};
use engine::mover::replica_sets::Write;
use engine::world::Strategy;

use crate::fixture::Fixture;

fn strategy(strategy: Strategy) -> String {
    match strategy {
        Strategy::OnDelete => "OnDelete".to_owned(),
        Strategy::RollingUpdate { partition } => format!("partition {partition}"),
    }
}

fn original(original: Original) -> String {
    match original {
        Original::Strategy(it) => strategy(it),
        Original::Rolling(it) => {
            format!("surge {} unavailable {}", it.max_surge, it.max_unavailable)
        }
    }
}

/// What a decision does, in short.
pub(crate) fn deed(action: Option<&Action>) -> String {
    let number = |name: &str| name.trim_start_matches("web-").to_owned();
    let label = |label: &Label| match &label.mark {
        Mark::Batch { batch, .. } => format!(" {}={batch}", number(&label.name)),
        Mark::NoNeedUpdate { .. } => format!(" {}=none", number(&label.name)),
    };
    match action {
        None => "-".into(),
        Some(Action::AddFinalizer) => "add finalizer".into(),
        Some(Action::RemoveFinalizer) => "remove finalizer".into(),
        Some(Action::Take { keep, held }) => {
            let keep = keep.map(|it| format!(", keep {}", original(it))).unwrap_or_default();
            let held = match held {
                Held::AsItIs => "as it is".to_owned(),
                Held::Strategy(it) => strategy(*it),
                Held::Paused => "paused".to_owned(),
            };
            format!("take {held}{keep}")
        }
        Some(Action::Release { restore }) => {
            format!("release to {}", restore.map_or("what it is".into(), original))
        }
        Some(Action::Size(Write::Create { size })) => format!("create {size}"),
        Some(Action::Size(Write::Size { name, size })) => format!("size {name} {size}"),
        Some(Action::Label { pods }) => {
            format!("label{}", pods.iter().map(label).collect::<String>())
        }
        Some(Action::Move(Motion::Open { partition, percent })) => {
            let percent = percent.map(|percent| format!(" as {percent}%")).unwrap_or_default();
            format!("open {partition}{percent}")
        }
        Some(Action::Move(Motion::SetStrategy { strategy: it })) => {
            format!("strategy {}", strategy(*it))
        }
        Some(Action::Move(motion)) => {
            let pods = motion.victims().iter().map(|pod| format!(" {}", number(&pod.name)));
            format!("{}{}", motion.name(), pods.collect::<String>())
        }
    }
}

/// Phase, batch from 1, state and deed, in one line.
pub(crate) fn line(decision: &Decision) -> String {
    let status = &decision.status;
    let phase = status.phase.map(Phase::name).unwrap_or_default();
    let deed = deed(decision.action.as_ref());
    match (status.phase, status.batch_state) {
        (Some(Phase::Progressing), Some(state)) => {
            format!("{} {}: {deed}", status.current_batch + 1, state.name())
        }
        _ => format!("{phase}: {deed}"),
    }
}

/// The table helper: what one look comes to.
#[track_caller]
pub(crate) fn check(fixture: &Fixture, expect: &str) -> Decision {
    let decision = fixture.decide();
    assert_eq!(line(&decision), expect, "{}", decision.status.message);
    decision
}

/// That a sentence names all of these.
#[track_caller]
pub(crate) fn names(sentence: &str, words: &[&str]) {
    for word in words {
        assert!(sentence.contains(word), "`{sentence}` does not name `{word}`");
    }
}
