//! Progressing: batch after batch, as far as `batchPartition` allows.

use jiff::Timestamp;

use super::begin::restart;
use super::count::{Count, unready, worst};
use super::decision::Action;
use super::labels::labels;
use super::motion::{Motion, Next};
use super::standing::{Course, Remark, Standing};
use super::status::{BatchState, Status};
use super::take;
use super::terms::{last_batch, target};
use super::world::{Body, World};

/// The next write of the batch, or what it waits for.
pub(super) fn advance(
    world: &World,
    status: &mut Status,
    body: &Body,
    count: Count,
    now: Timestamp,
) -> Standing {
    let seen = status.clone();
    let wanted = target(&world.release, &seen, body, seen.current_batch);
    let motion = Motion::new(world, &seen, body, wanted, now);
    if let Some(action) = take::missing(body, motion.account(), false) {
        let message = format!(
            "{} {} was let go by somebody else, and is taken over again",
            world.release.kind, world.release.workload_name
        );
        begun(status);
        return Standing::act(Remark::on("TakingOver", message), action);
    }
    if world.release.paused {
        return paused(status, &motion, count, wanted);
    }
    if body.stopped {
        return stopped(world, status, &motion, count, wanted);
    }
    let held = match motion.advance() {
        Next::Act(remark, action) => {
            begun(status);
            return Standing::act(remark, action);
        }
        Next::Wait(remark) => Some(remark),
        Next::Rest => None,
    };
    let labels = labels(world, &seen, body);
    if !labels.missing.is_empty() {
        begun(status);
        let message = format!("labelling {} Pods with their batch", labels.missing.len());
        let action = Action::Label { pods: labels.missing };
        return Standing::act(Remark::on("Labelling", message), action);
    }
    let batch = format!("batch {} of {}", seen.current_batch + 1, world.release.batches.len());
    if let Some(why) = unready(world, &seen, body, count, labels.carried) {
        let state = if motion.moved() < wanted || count.updated < wanted {
            BatchState::Upgrading
        } else {
            BatchState::Verifying
        };
        status.batch_state = Some(state);
        status.batch_ready_time = None;
        let pod = motion.worst().or_else(|| worst(world, body, now));
        return Standing::new(waiting(&batch, &why, held, pod));
    }
    ready(world, status, &batch, now)
}

/// The batch has work to do.
fn begun(status: &mut Status) {
    status.batch_state = Some(BatchState::Upgrading);
    status.batch_ready_time = None;
}

fn paused(status: &mut Status, motion: &Motion<'_>, count: Count, wanted: u32) -> Standing {
    let message =
        format!("the Rollout is paused; {} of {wanted} Pods run the new revision", count.updated);
    let remark = Remark::held("Paused", message);
    if count.updated < wanted {
        begun(status);
    }
    let mut standing = Standing::new(remark);
    standing.action = motion.freeze().map(|(_, action)| action);
    standing
}

/// Its own controller stands still because somebody told it to, and it is not for a release to know better.
fn stopped(
    world: &World,
    status: &mut Status,
    motion: &Motion<'_>,
    count: Count,
    wanted: u32,
) -> Standing {
    let message = format!(
        "{} {} was paused in mid-release (`paused: true` in its updateStrategy), and stands still until that \
         is taken back; {} of {wanted} Pods run the new revision",
        world.release.kind, world.release.workload_name, count.updated
    );
    if count.updated < wanted {
        begun(status);
    }
    let mut standing = Standing::new(Remark::held("WorkloadPaused", message));
    standing.action = motion.freeze().map(|(_, action)| action);
    standing
}

fn waiting(batch: &str, why: &str, held: Option<Remark>, pod: Option<String>) -> Remark {
    let pod = pod.map(|pod| format!("; {pod}")).unwrap_or_default();
    match held {
        // What waits for Pods waits for this one; what somebody else holds does not.
        Some(held) => {
            let unsaid =
                held.course == Course::On && !held.message.contains(pod.trim_start_matches("; "));
            let pod = if unsaid { pod.as_str() } else { "" };
            Remark { message: format!("{batch}: {why}; {}{pod}", held.message), ..held }
        }
        None => Remark::on("WaitingForPods", format!("{batch}: {why}{pod}")),
    }
}

/// The batch is as wanted: the next one, if it is allowed.
fn ready(world: &World, status: &mut Status, batch: &str, now: Timestamp) -> Standing {
    let release = &world.release;
    let allowed = release.batch_partition.unwrap_or(0).min(last_batch(release));
    let was = status.batch_state == Some(BatchState::Ready);
    if was && allowed > status.current_batch {
        let next = status.current_batch + 1;
        restart(status, next);
        let message = format!("batch {} of {} begins", next + 1, release.batches.len());
        return Standing { again: true, ..Standing::new(Remark::on("NextBatch", message)) };
    }
    status.batch_state = Some(BatchState::Ready);
    status.batch_ready_time.get_or_insert(now);
    let again = allowed > status.current_batch;
    let remark = if again {
        Remark::on("BatchReady", format!("{batch} is ready"))
    } else {
        Remark::rest("BatchReady", format!("{batch} is ready, and none after it is allowed yet"))
    };
    Standing { again, ..Standing::new(remark) }
}
