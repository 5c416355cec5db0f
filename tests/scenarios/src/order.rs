//! The order in which scenarios begin where many run side by side and time is real.

use crate::Scenario;

/// Those that take 100 s and more, the longest first, by what the tests on the embedded cluster say with
/// `--nocapture`: on a real cluster that isn't short of time they take as long as in virtual time.
const LONGEST: &[&str] = &[
    "a_set_under_on_delete_goes_side_by_side_inside_its_budget",
    "a_workload_that_is_paused_itself_stands_until_that_is_taken_back",
    "a_paused_rollout_stands_still_until_it_is_resumed",
    "a_cloneset_with_a_surge_is_never_short_of_a_pod",
    "a_batch_of_a_statefulset_goes_in_parallel_inside_its_budget",
    "a_broken_image_stops_at_its_step_and_is_rolled_back",
    "a_threshold_of_none_waits_for_every_pod",
    "another_change_in_a_pause_waits_for_its_end",
    "other_steps_in_a_pause_wait_for_its_end",
    "a_strategy_that_is_applied_in_mid_release_is_held_again",
    "a_change_on_top_begins_anew",
    "min_ready_seconds_are_kept_and_waited_for",
    "a_manifest_that_is_applied_again_lets_nothing_go",
    "scaling_a_step_that_is_on_its_way_ends_at_the_share",
    "a_percentage_then_a_number_then_all",
    "a_new_identity_starts_a_failed_rollout_again",
    "a_lost_pod_comes_back_with_the_label_of_its_batch",
    "scaling_a_paused_rollout_adds_pods_and_replaces_none",
    "a_paused_release_stands_still_until_it_is_resumed",
    "a_threshold_in_percent_is_of_what_has_moved",
    "a_workload_may_be_named_in_another_of_its_versions",
    "an_approval_amid_writes_of_the_status_is_kept",
    "pods_that_change_in_their_place_are_counted",
    "a_budget_that_is_used_up_is_told_by_its_name",
    "a_roll_back_after_a_change_on_top_is_one",
    "a_roll_back_goes_at_once",
    "a_workload_made_anew_keeps_step_and_status",
    "a_pause_that_is_set_to_no_time_is_an_approval",
    "a_finished_rollout_is_still",
    "a_strategy_that_was_put_aside_and_is_spoilt_is_told",
    "a_partition_that_somebody_opens_in_a_pause_is_drawn_back",
    "a_release_that_somebody_deletes_is_made_again",
    "without_a_threshold_max_unavailable_may_be_unready",
    "a_change_that_slipped_past_is_held",
    "a_release_ends_with_its_pods_labelled_by_the_users_id",
    "a_mark_that_is_removed_is_put_back",
    "a_jump_to_nowhere_goes_nowhere",
];

/// The longest first, so that nobody waits in the end for a few that began last; the others as they came.
pub fn longest_first(mut scenarios: Vec<Scenario>) -> Vec<Scenario> {
    let place = |scenario: &Scenario| LONGEST.iter().position(|name| *name == scenario.name);
    scenarios.sort_by_key(|scenario| place(scenario).unwrap_or(LONGEST.len()));
    scenarios
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::all;

    #[test]
    fn all_that_are_named_come_first_and_in_that_order() {
        let names: Vec<&str> = longest_first(all()).iter().map(|scenario| scenario.name).collect();
        assert_eq!(names[..LONGEST.len()], *LONGEST);
        assert_eq!(names.len(), all().len());
    }
}
