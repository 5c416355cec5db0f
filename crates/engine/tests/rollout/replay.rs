//! The original's recorded releases of a Deployment, replayed: what was seen of workload and BatchRelease
//! goes in, and the status is held against the original's wherever that had come to rest.
//!
//! Our own writes are left out: in each recording the original made them.

use std::collections::BTreeSet;

use engine::front::rollout::{ConditionKind, Reason, Status};

use crate::recording::{Expected, Line, Player, fields, read};

/// A field that differs on purpose: in which case, ours instead of theirs, and what wants it so.
struct Allowed {
    case: &'static str,
    field: &'static str,
    ours: &'static str,
    #[expect(dead_code, reason = "for the reader")]
    wanted_by: &'static str,
}

const ANY: &str = "";

const ALLOWED: &[Allowed] = &[
    Allowed {
        case: ANY,
        field: "condition Progressing InRolling",
        ours: "Rollout is in step(",
        wanted_by: "the condition says what the message says; the original's progress got lost on its way \
                    there",
    },
    Allowed {
        case: "broken-then-back",
        field: "condition Stuck",
        ours: "False Waiting step 1/3: 1 Pods are updated, 0 of them are ready",
        wanted_by: "a batch that does not get ready raises a condition after a deadline",
    },
    Allowed {
        case: "disabled-midway",
        field: "condition Progressing",
        ours: "False Disabled Rollout is disabled",
        wanted_by: "a release that was ended by `disabled` is not under way any more",
    },
];

/// The difference that this is, if it is one on purpose.
fn allowed(case: &str, field: &str, ours: &str) -> Option<usize> {
    ALLOWED.iter().position(|allowed| {
        (allowed.case == ANY || allowed.case == case)
            && field.starts_with(allowed.field)
            && ours.contains(allowed.ours)
    })
}

/// Both statuses, field by field.
#[derive(Default)]
struct Differences {
    on_purpose: BTreeSet<usize>,
    found: Vec<String>,
}

impl Differences {
    fn compare(&mut self, case: &str, field: &str, ours: &str, theirs: Option<&String>) {
        let theirs = theirs.map(String::as_str).unwrap_or_default();
        if ours == theirs {
            return;
        }
        match allowed(case, field, ours) {
            Some(which) => {
                self.on_purpose.insert(which);
            }
            None => self.found.push(format!("{field}: ours `{ours}`, theirs `{theirs}`")),
        }
    }

    fn all(&mut self, case: &str, status: &Status, theirs: &Expected) {
        for (field, ours) in fields(status) {
            self.compare(case, field, &ours, theirs.fields.get(field));
        }
        self.compare(case, "message", &status.message, Some(&theirs.message));
        let says = status.canary.as_ref().map(|canary| canary.message.as_str());
        self.compare(case, "says", says.unwrap_or_default(), Some(&theirs.says));
        let ours = status.conditions.iter().map(|it| it.kind.name());
        let kinds: BTreeSet<&str> =
            ours.chain(theirs.conditions.keys().map(String::as_str)).collect();
        for kind in kinds {
            let ours = ConditionKind::of(kind).and_then(|kind| status.condition(kind));
            let text = ours.map(|it| {
                let holds = if it.holds { "True" } else { "False" };
                let reason = if it.reason == Reason::None { "-" } else { it.reason.name() };
                format!("{holds} {reason} {}", it.message).trim_end().to_owned()
            });
            let reason = ours.map(|it| it.reason.name()).unwrap_or_default();
            let field = format!("condition {kind} {reason}");
            let theirs = theirs.conditions.get(kind);
            self.compare(case, &field, &text.unwrap_or_default(), theirs);
        }
    }
}

/// Replays a recording; which of the allowed differences it met.
#[track_caller]
fn replay(case: &str, text: &str) -> BTreeSet<usize> {
    let mut player = Player::new();
    let mut met = Differences::default();
    let mut settled = 0;
    for (line, words) in read(text) {
        let Line::Settled(at, theirs) = line else {
            player.play(line);
            continue;
        };
        settled += 1;
        match (theirs, player.rest(at)) {
            (Some(theirs), Some(status)) => met.all(case, &status, &theirs),
            (None, None) => {}
            (theirs, _) => panic!("{case}, {words}: theirs is there: {}", theirs.is_some()),
        }
        assert!(met.found.is_empty(), "{case}, {words}\n{}", met.found.join("\n"));
    }
    assert!(settled > 1, "{case} has nothing to compare");
    met.on_purpose
}

macro_rules! replays {
    ($($name:ident: $file:literal,)+) => {
        $(#[test]
        fn $name() {
            replay($file, include_str!(concat!("recorded/", $file, ".txt")));
        })+

        const ALL: &[(&str, &str)] =
            &[$(($file, include_str!(concat!("recorded/", $file, ".txt"))),)+];
    };
}

replays! {
    approved_step_by_step: "approve",
    rolled_back_at_once: "back-at-once",
    rolled_back_at_once_where_batches_cannot_be: "back-in-batches",
    rolled_back_from_pods_that_never_came_up: "broken-then-back",
    released_again_on_top: "continuous",
    deleted_half_way: "deleted-midway",
    disabled_half_way: "disabled-midway",
    jumped_over_a_step: "jump",
    paused_and_resumed: "paused",
    planned_again: "plan-changed",
    labelled_with_a_rollout_id: "rollout-id",
    scaled_half_way: "scaled-midway",
}

#[test]
fn every_difference_that_is_allowed_is_met() {
    let met: BTreeSet<usize> = ALL.iter().flat_map(|(case, text)| replay(case, text)).collect();
    assert_eq!(met, (0..ALLOWED.len()).collect());
}
