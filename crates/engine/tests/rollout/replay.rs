//! The original's recorded releases of all six kinds, replayed: what was seen of workload and BatchRelease
//! goes in, and the status is held against the original's wherever that had come to rest.
//!
//! Our own writes are left out: in each recording the original made them.

use std::collections::BTreeSet;

use engine::front::rollout::{ConditionKind, Reason, Status};

use crate::recording::{Expected, Line, Player, fields, read};

/// A field that differs on purpose: in which cases, ours instead of theirs, and what wants it so.
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
        ours: "False Waiting step 1/3: 1 Pod updated, 0 of them ready",
        wanted_by: "a batch that does not get ready raises a condition after a deadline",
    },
    Allowed {
        case: "disabled-midway",
        field: "condition Progressing",
        ours: "False Disabled Rollout is disabled",
        wanted_by: "a release that was ended by `disabled` is not under way any more",
    },
    Allowed {
        case: "daemonset",
        field: "generation",
        ours: "",
        wanted_by: "the generation follows the workload after the release too; the original forgets the \
                    revision of a DaemonSet with its end",
    },
];

/// The difference that this is, if it is one on purpose.
fn allowed(case: &str, field: &str, ours: &str) -> Option<usize> {
    ALLOWED.iter().position(|allowed| {
        (case.starts_with(allowed.case) || case.ends_with(allowed.case))
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
    a_deployment_approved_step_by_step: "deployment-approve",
    a_deployment_rolled_back_at_once: "deployment-back-at-once",
    a_deployment_rolled_back_in_batches: "deployment-back-in-batches",
    a_deployment_rolled_back_from_pods_that_never_came_up: "deployment-broken-then-back",
    a_deployment_released_again_on_top: "deployment-continuous",
    a_deployment_deleted_half_way: "deployment-deleted-midway",
    a_deployment_disabled_half_way: "deployment-disabled-midway",
    a_deployment_jumped_over_a_step: "deployment-jump",
    a_deployment_paused_and_resumed: "deployment-paused",
    a_deployment_planned_again: "deployment-plan-changed",
    a_deployment_labelled_with_a_rollout_id: "deployment-rollout-id",
    a_deployment_scaled_half_way: "deployment-scaled-midway",
    a_statefulset_approved_step_by_step: "statefulset-approve",
    a_statefulset_rolled_back_at_once: "statefulset-back-at-once",
    a_statefulset_rolled_back_in_batches: "statefulset-back-in-batches",
    a_statefulset_rolled_back_from_pods_that_never_came_up: "statefulset-broken-then-back",
    a_statefulset_released_again_on_top: "statefulset-continuous",
    a_statefulset_deleted_half_way: "statefulset-deleted-midway",
    a_statefulset_disabled_half_way: "statefulset-disabled-midway",
    a_statefulset_jumped_over_a_step: "statefulset-jump",
    a_statefulset_paused_and_resumed: "statefulset-paused",
    a_statefulset_planned_again: "statefulset-plan-changed",
    a_statefulset_labelled_with_a_rollout_id: "statefulset-rollout-id",
    a_statefulset_scaled_half_way: "statefulset-scaled-midway",
    a_daemonset_approved_step_by_step: "daemonset-approve",
    a_daemonset_rolled_back_at_once: "daemonset-back-at-once",
    a_daemonset_rolled_back_in_batches: "daemonset-back-in-batches",
    a_daemonset_rolled_back_from_pods_that_never_came_up: "daemonset-broken-then-back",
    a_daemonset_released_again_on_top: "daemonset-continuous",
    a_daemonset_deleted_half_way: "daemonset-deleted-midway",
    a_daemonset_disabled_half_way: "daemonset-disabled-midway",
    a_daemonset_jumped_over_a_step: "daemonset-jump",
    a_daemonset_paused_and_resumed: "daemonset-paused",
    a_daemonset_planned_again: "daemonset-plan-changed",
    a_daemonset_labelled_with_a_rollout_id: "daemonset-rollout-id",
    a_cloneset_approved_step_by_step: "cloneset-approve",
    a_cloneset_rolled_back_at_once: "cloneset-back-at-once",
    a_cloneset_rolled_back_in_batches: "cloneset-back-in-batches",
    a_cloneset_rolled_back_from_pods_that_never_came_up: "cloneset-broken-then-back",
    a_cloneset_released_again_on_top: "cloneset-continuous",
    a_cloneset_deleted_half_way: "cloneset-deleted-midway",
    a_cloneset_disabled_half_way: "cloneset-disabled-midway",
    a_cloneset_jumped_over_a_step: "cloneset-jump",
    a_cloneset_paused_and_resumed: "cloneset-paused",
    a_cloneset_planned_again: "cloneset-plan-changed",
    a_cloneset_labelled_with_a_rollout_id: "cloneset-rollout-id",
    a_cloneset_scaled_half_way: "cloneset-scaled-midway",
    an_advanced_statefulset_approved_step_by_step: "advanced-statefulset-approve",
    an_advanced_statefulset_rolled_back_at_once: "advanced-statefulset-back-at-once",
    an_advanced_statefulset_rolled_back_in_batches: "advanced-statefulset-back-in-batches",
    an_advanced_statefulset_rolled_back_from_pods_that_never_came_up: "advanced-statefulset-broken-then-back",
    an_advanced_statefulset_released_again_on_top: "advanced-statefulset-continuous",
    an_advanced_statefulset_deleted_half_way: "advanced-statefulset-deleted-midway",
    an_advanced_statefulset_disabled_half_way: "advanced-statefulset-disabled-midway",
    an_advanced_statefulset_jumped_over_a_step: "advanced-statefulset-jump",
    an_advanced_statefulset_paused_and_resumed: "advanced-statefulset-paused",
    an_advanced_statefulset_planned_again: "advanced-statefulset-plan-changed",
    an_advanced_statefulset_labelled_with_a_rollout_id: "advanced-statefulset-rollout-id",
    an_advanced_statefulset_scaled_half_way: "advanced-statefulset-scaled-midway",
    an_advanced_daemonset_approved_step_by_step: "advanced-daemonset-approve",
    an_advanced_daemonset_rolled_back_at_once: "advanced-daemonset-back-at-once",
    an_advanced_daemonset_rolled_back_in_batches: "advanced-daemonset-back-in-batches",
    an_advanced_daemonset_rolled_back_from_pods_that_never_came_up: "advanced-daemonset-broken-then-back",
    an_advanced_daemonset_released_again_on_top: "advanced-daemonset-continuous",
    an_advanced_daemonset_deleted_half_way: "advanced-daemonset-deleted-midway",
    an_advanced_daemonset_disabled_half_way: "advanced-daemonset-disabled-midway",
    an_advanced_daemonset_jumped_over_a_step: "advanced-daemonset-jump",
    an_advanced_daemonset_paused_and_resumed: "advanced-daemonset-paused",
    an_advanced_daemonset_planned_again: "advanced-daemonset-plan-changed",
    an_advanced_daemonset_labelled_with_a_rollout_id: "advanced-daemonset-rollout-id",
}

#[test]
fn every_difference_that_is_allowed_is_met() {
    let met: BTreeSet<usize> = ALL.iter().flat_map(|(case, text)| replay(case, text)).collect();
    assert_eq!(met, (0..ALLOWED.len()).collect());
}
