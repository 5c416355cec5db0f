//! The registry: every scenario by theme and name, once.

/// Hands the themes and their scenarios to a macro: `theme { scenario, .. }`.
#[macro_export]
macro_rules! with_scenarios {
    ($callback:ident) => {
        $callback! {
            published {
                the_published_example_is_rolled_out,
                the_namespace_may_be_written_out,
                what_is_left_out_has_the_published_default,
                labels_and_annotations_of_the_set_are_applied,
                what_is_no_longer_asked_for_goes,
                the_definition_fits_into_an_annotation,
                patches_by_kubectl_work,
                a_replaced_object_works_and_a_stale_one_is_a_conflict,
            }
            target {
                percent_50_of_4_moves_exactly_2,
                a_percentage_rounds_up_and_leaves_at_least_one_pod,
                percent_0_applies_the_template_and_moves_no_pod,
                at_100_percent_no_pod_runs_another_revision,
                raising_the_percentage_moves_the_difference_alone,
                lowering_the_percentage_moves_nothing_back_and_says_so,
                a_later_template_supersedes_the_one_before,
                the_target_is_never_passed_on_the_way,
                a_new_set_comes_up_whole_at_any_percentage,
                a_template_taken_back_before_it_moved_a_pod_moves_none,
            }
            order {
                the_highest_ordinal_goes_first,
                an_old_pod_that_is_not_ready_goes_before_all_others,
                ordinals_may_start_anywhere,
                a_pod_that_is_going_anyway_counts_as_moved,
                no_pod_moves_twice,
            }
            budget {
                the_budget_is_used_and_never_overrun,
                min_available_is_kept,
                without_a_budget_one_pod_moves_at_a_time_and_the_reason_says_so,
                a_budget_that_is_widened_on_the_way_is_used,
                a_budget_that_never_allows_blocks_and_names_the_remedy,
                two_budgets_block_and_are_both_named,
                two_rollouts_under_one_budget_do_not_overrun_it,
                a_budget_used_up_by_others_blocks_and_stops_the_deadline,
                a_blocked_rollout_is_still,
                the_interval_spaces_out_pod_by_pod,
                healthy_pods_go_through_the_eviction_api,
                ordered_ready_moves_one_at_a_time_and_says_so,
                the_next_pod_waits_for_min_ready_seconds_of_the_one_before,
                pods_that_die_while_they_soak_stop_the_rollout,
                unhealthy_pods_behind_a_budget_are_reported_with_the_remedy,
                unhealthy_pods_behind_a_budget_are_replaced_when_asked,
                a_rollout_goes_on_without_waiting_for_a_resync,
            }
            pause {
                a_pause_holds_until_it_is_taken_back,
                a_template_is_applied_in_a_pause_and_moves_no_pod,
                replicas_are_applied_in_a_pause,
                a_pause_stops_the_deadline,
                a_pause_of_a_finished_rollout_changes_nothing,
                a_pause_of_a_half_done_rollout_survives_a_change_of_percent,
            }
            failure {
                a_broken_image_fails_and_names_pod_and_cause,
                a_broken_image_fails_without_a_budget_as_well,
                a_crashing_image_fails_and_names_pod_and_cause,
                a_new_set_with_a_broken_image_fails,
                a_slow_but_steady_rollout_does_not_fail,
                a_new_identity_starts_a_failed_rollout_again,
                a_change_of_channel_does_not_wake_a_failed_rollout,
                a_set_stuck_on_a_broken_image_takes_the_fix,
                a_set_that_is_broken_all_over_takes_the_fix,
                crashing_pods_that_use_up_the_budget_take_the_fix,
                a_pod_that_does_not_go_is_named_and_not_forced,
                a_failed_rollout_leaves_the_template_that_was_asked_for,
                a_change_of_percent_starts_a_failed_rollout_again,
                a_finished_rollout_stays_done_when_a_pod_is_lost,
                an_ordered_rollout_recovers_when_all_pods_are_lost,
                a_broken_pod_stops_the_rollout_though_the_budget_has_room,
            }
            rollback {
                a_rollback_moves_only_what_had_moved,
                rolling_back_a_broken_image_moves_only_the_broken_pods,
                rolling_back_a_broken_image_needs_no_budget,
                the_interval_does_not_hold_back_broken_pods,
                a_rollback_in_mid_rollout_needs_no_verdict_first,
                a_rollback_comes_back_to_the_same_revision,
            }
            scaling {
                the_target_follows_the_replicas,
                progress_lost_by_scaling_down_is_made_good,
                replicas_that_are_not_asked_for_are_never_written,
                giving_up_replicas_leaves_them_as_they_are,
                the_scale_subresource_scales_the_set,
                a_set_at_zero_replicas_is_done_and_comes_up_new,
                scaling_up_in_mid_rollout_keeps_the_budget,
                replicas_that_are_asked_for_are_put_back,
            }
            adoption {
                a_set_that_exists_is_adopted_without_a_restart,
                a_set_adopted_with_another_template_is_paced_by_the_budget,
                a_rolling_update_in_the_spec_does_not_move_pods_by_itself,
                a_rollout_created_again_goes_on_from_the_pods_as_they_are,
                a_restart_by_kubectl_rolls_under_the_same_percent,
                a_field_that_somebody_changed_is_put_back,
                what_others_write_beside_our_fields_stays,
                another_writer_on_both_objects_does_not_stop_the_rollout,
            }
            deletion {
                deleting_the_rollout_leaves_set_and_pods_as_they_are,
                deleting_the_rollout_on_its_way_stops_it,
                a_deleted_set_fails_the_rollout_and_stays_away,
                a_deleted_set_is_created_again_for_a_new_identity,
                a_deleted_set_is_created_again_for_a_new_generation,
            }
            leak {
                a_leaked_pod_is_counted_and_told,
                leaks_are_reported_unless_told_otherwise,
                a_pod_that_somebody_else_evicts_is_a_leak,
                a_leaked_pod_counts_as_moved,
                a_leak_pauses_when_asked_and_a_new_identity_goes_on,
                a_leak_pause_ends_when_the_mode_is_changed,
                an_ignored_leak_is_not_told,
                at_100_percent_nothing_leaks,
                a_moved_pod_that_is_lost_is_no_leak,
            }
            prevent {
                a_held_pod_that_is_lost_returns_at_the_stable_revision,
                a_template_comes_with_its_hold,
                groups_move_in_parallel_within_the_budget,
                a_finished_rollout_settles_and_restarts_nothing,
                a_set_can_be_held_from_its_next_template_on,
                the_order_is_by_ordinal_alone,
                a_pause_draws_the_partition_back,
                a_partition_that_somebody_opens_in_a_pause_is_drawn_back,
                scaling_to_0_in_between_loses_the_hold_and_says_so,
                a_broken_image_under_a_hold_fails_and_rolls_back,
                a_rollback_under_a_hold_moves_only_what_had_moved,
                a_hold_respects_where_ordinals_start,
                a_hold_works_under_ordered_ready,
                a_restart_by_kubectl_waits_behind_the_hold,
                an_adopted_rolling_set_can_be_held,
                the_interval_spaces_pods_out_under_a_hold,
            }
            identity {
                a_new_identity_with_nothing_to_do_moves_no_pod,
                a_change_of_channel_begins_nothing,
                a_verdict_speaks_of_the_generation_that_it_observed,
                done_does_not_wait_for_current_revision,
            }
            claim {
                of_two_rollouts_of_one_set_one_is_refused_with_a_reason,
                the_second_takes_over_when_the_first_is_deleted,
                the_sets_name_defaults_to_the_rollouts,
                the_set_may_have_another_name,
            }
            discovery {
                services_without_a_consul_gate_nothing_and_this_is_said,
                a_channel_without_a_token_is_told_nothing_and_this_is_said,
                a_rollout_that_names_nothing_is_told_nothing,
            }
            status {
                the_status_has_the_published_names,
                each_pod_has_a_row,
                pods_in_motion_are_shown,
                the_conditions_are_those_of_the_interface,
                available_is_false_while_a_pod_is_missing,
                the_columns_are_those_of_the_interface,
                discovery_lists_the_resource_and_its_subresources,
                a_finished_rollout_is_still,
                done_waits_for_min_ready_seconds,
                each_phase_is_told_by_one_event,
            }
            bad_input {
                an_unknown_field_is_refused_by_its_path,
                unknown_fields_live_on_in_the_pod_spec_alone,
                a_wrong_type_is_refused_by_field_and_type,
                containers_as_an_object_are_refused_as_no_list,
                an_impossible_value_is_refused_by_field_and_limit,
                half_a_callback_is_refused,
                a_name_that_is_too_long_is_refused_with_the_limit,
                a_selector_that_misses_its_pods_is_refused,
                a_rollout_of_nothing_is_refused,
                a_malformed_body_is_refused_and_leaves_nothing,
                a_namespace_that_is_not_there_is_named,
                an_immutable_change_is_named_and_moves_nothing,
                a_template_that_the_server_refuses_is_named,
                a_set_in_another_namespace_is_never_made,
            }
            admission {
                a_second_owner_is_turned_away,
                an_immutable_change_is_turned_away_with_the_remedy,
                a_rollout_may_not_change_its_sets_name,
                another_namespace_is_turned_away,
                what_will_block_is_warned_of,
                what_slows_is_warned_of,
                a_dry_run_is_judged_and_leaves_nothing,
            }
            scaled {
                a_set_that_grows_in_a_step_turns_nothing_back,
                an_ordered_set_that_grows_keeps_the_share,
                scaling_in_keeps_the_share_of_the_step,
                scaling_a_step_that_is_on_its_way_ends_at_the_share,
                scaling_a_paused_rollout_adds_pods_and_replaces_none,
                scaling_during_a_roll_back_leaves_no_new_pod,
                a_workload_scaled_to_nothing_gets_to_the_end,
                scaling_at_rest_begins_no_release,
                nodes_that_come_and_go_keep_the_share_of_the_step,
                a_percentage_then_a_number_then_all,
            }
            standstill {
                a_roll_back_in_a_pause_is_done_at_once,
                another_change_in_a_pause_waits_for_its_end,
                other_steps_in_a_pause_wait_for_its_end,
                a_paused_rollout_can_be_disabled,
                a_paused_rollout_can_be_deleted,
                a_jump_to_nowhere_goes_nowhere,
                a_daemonset_is_jumped_and_planned_again,
                a_pause_that_is_set_to_no_time_is_an_approval,
            }
            shapes {
                without_a_threshold_max_unavailable_may_be_unready,
                a_threshold_of_none_waits_for_every_pod,
                a_threshold_in_percent_is_of_what_has_moved,
                an_ordered_set_goes_step_by_step,
                min_ready_seconds_are_kept_and_waited_for,
                a_template_with_a_hash_among_its_labels_is_released,
                a_set_under_on_delete_goes_side_by_side_inside_its_budget,
                a_set_under_on_delete_is_rolled_back,
                a_workload_under_on_delete_goes_batch_by_batch,
                pods_go_side_by_side_inside_max_unavailable,
                a_deployment_that_recreates_says_so_from_the_start,
            }
            mishaps {
                a_lost_pod_comes_back_with_the_label_of_its_batch,
                a_lost_pod_that_has_not_moved_comes_back_stable,
                a_workload_made_anew_keeps_step_and_status,
                a_rollout_without_its_workload_can_be_deleted,
                a_manifest_that_is_applied_again_lets_nothing_go,
                a_strategy_that_is_applied_in_mid_release_is_held_again,
                an_approval_amid_writes_of_the_status_is_kept,
                a_roll_back_in_batches_of_another_kind_goes_at_once,
                what_needs_no_update_is_marked_and_stays,
                a_strategy_that_was_put_aside_and_is_spoilt_is_told,
            }
            release {
                a_deployment_goes_batch_by_batch_and_is_given_back,
                a_statefulset_goes_batch_by_batch_and_is_given_back,
                a_daemonset_goes_batch_by_batch_and_is_given_back,
                a_cloneset_goes_batch_by_batch_and_is_given_back,
                an_advanced_statefulset_goes_batch_by_batch_and_is_given_back,
                an_advanced_daemonset_goes_batch_by_batch_and_is_given_back,
                a_release_without_partition_lets_the_workload_go,
                a_release_that_is_deleted_on_the_way_gives_the_workload_back,
                what_cannot_be_released_says_why_and_is_let_alone,
                a_paused_release_stands_still_until_it_is_resumed,
                a_workload_that_is_scaled_keeps_the_share_of_its_batch,
                a_set_that_is_scaled_reports_what_came_up_too_many,
                a_batch_that_does_not_get_ready_is_called_stuck,
                a_batch_of_a_statefulset_goes_in_parallel_inside_its_budget,
                a_template_that_changes_under_a_release_moves_nothing,
                a_release_that_the_original_left_half_way_goes_on,
            }
            steps {
                a_deployment_goes_step_by_step,
                a_statefulset_goes_step_by_step,
                a_daemonset_goes_step_by_step,
                a_cloneset_goes_step_by_step,
                an_advanced_statefulset_goes_step_by_step,
                an_advanced_daemonset_goes_step_by_step,
                a_duration_goes_on_by_itself,
                percentages_and_numbers_may_be_mixed,
                a_new_rollout_moves_nothing,
                a_release_ends_with_its_pods_labelled_by_the_users_id,
            }
            users {
                a_paused_rollout_stands_still_until_it_is_resumed,
                a_jump_goes_where_it_is_asked_to,
                a_rollout_that_is_disabled_gives_the_workload_back,
                a_rollout_that_is_deleted_gives_the_workload_back,
                a_changed_plan_goes_on_where_it_stands,
                scaling_keeps_the_share_of_the_step,
                a_mark_that_is_removed_is_put_back,
                a_workload_that_is_made_anew_is_released_no_further,
                a_release_that_somebody_deletes_is_made_again,
                a_workload_whose_rollout_is_torn_away_stays_and_is_told_of,
                scaling_up_at_one_percent_moves_no_further_pod,
                a_second_rollout_of_a_workload_stands_back,
            }
            changes {
                a_roll_back_goes_at_once,
                a_roll_back_is_seen_in_a_pause,
                a_roll_back_in_batches_goes_through_the_steps,
                a_change_on_top_begins_anew,
                a_roll_back_after_a_change_on_top_is_one,
                a_change_that_slipped_past_is_held,
                a_broken_image_stops_at_its_step_and_is_rolled_back,
            }
            kruise {
                pods_that_change_in_their_place_are_counted,
                a_roll_back_in_its_place_makes_no_pod,
                a_cloneset_with_a_surge_is_never_short_of_a_pod,
                an_autoscaler_never_passes_the_share_of_a_cloneset,
                a_broken_pod_of_a_cloneset_that_goes_back_is_cleared,
                an_unordered_set_goes_step_by_step_and_back,
                a_set_with_reserved_ordinals_goes_step_by_step,
                a_lost_pod_that_comes_back_new_is_counted_and_told,
                what_is_opened_is_opened_in_slices_inside_the_budget,
                a_budget_that_is_used_up_is_told_by_its_name,
                a_workload_may_be_named_in_another_of_its_versions,
                a_workload_that_is_paused_itself_stands_until_that_is_taken_back,
                a_set_of_the_name_of_an_advanced_one_is_not_made_and_says_why,
            }
        }
    };
}

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use crate::env::{Env, Outcome};

/// All themes, whichever resource they are of; no two have one name.
mod themes {
    pub(super) use crate::batches::*;
    pub(super) use crate::bedrock::*;
}

/// One scenario.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// What it is about; the name of its file.
    pub theme: &'static str,
    /// The claim.
    pub name: &'static str,
    /// Runs it; the namespace of `Env` must be empty.
    pub run: fn(Env) -> LocalBoxFuture<'static, Outcome>,
}

impl Scenario {
    /// Without and with the admission webhook, as the embedded cluster runs it: what is refused at
    /// the door by a webhook has to be answered without one too.
    pub fn doors(&self) -> &'static [bool] {
        match self.theme {
            "admission" => &[true],
            "bad_input" | "claim" | "published" | "release" | "steps" | "users" | "changes"
            | "scaled" | "standstill" | "shapes" | "mishaps" | "kruise" => &[false, true],
            _ => &[false],
        }
    }

    /// Whether it goes over kinds of workloads that a cluster has from Kruise.
    pub fn needs_kruise(&self) -> bool {
        matches!(
            self.theme,
            "scaled"
                | "standstill"
                | "shapes"
                | "mishaps"
                | "release"
                | "steps"
                | "users"
                | "changes"
                | "kruise"
        )
    }

    /// Whether the cluster must call the admission webhook for the claim to hold.
    pub fn needs_admission(&self) -> bool {
        !self.doors().contains(&false)
    }
}

macro_rules! list {
    ($($theme:ident { $($name:ident,)* })*) => {
        /// All scenarios, theme by theme.
        pub fn all() -> Vec<Scenario> {
            vec![$($(Scenario {
                theme: stringify!($theme),
                name: stringify!($name),
                run: |env| themes::$theme::$name(env).boxed_local(),
            },)*)*]
        }
    };
}

with_scenarios!(list);
