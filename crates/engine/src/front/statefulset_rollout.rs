//! The front of `StatefulsetRollout`: one target, by percent.
//!
//! A decision goes through the same questions in the same order: whose is the StatefulSet, does it
//! stand as asked, has its controller seen it, is what was asked for reached, given up, paused, and
//! else: which move comes next.

use jiff::{SignedDuration, Timestamp};

use super::report::{completed, conditions, rows};
use crate::account::Account;
use crate::budget::{self, Hold};
use crate::decision::{Action, Decision};
use crate::mover::{self, Move, Mover, Scene, partition};
use crate::status::{Phase, Reason, Status};
use crate::world::{
    Applied, ApplyRefused, Claim, Discovery, Strategy, Uid, VersionLeak, Workload, World,
};

/// Decides about one rollout.
pub fn decide(world: &World, now: Timestamp) -> Decision {
    match begin(world, now) {
        Some(renewed) => step(&renewed, now),
        None => step(world, now),
    }
}

/// A change of percent, StatefulSet or identity begins a new rollout: the clocks start again, what was
/// given up is taken up again. `None` where nothing begins.
fn begin(world: &World, now: Timestamp) -> Option<World> {
    let (rollout, status) = (&world.rollout, &world.status);
    let template = status.desired_hash != rollout.desired_hash;
    let identity = status.identity != rollout.identity;
    let percent = status.percent_requested != Some(rollout.percent.get());
    let recreate = status.deleted && status.observed_generation != rollout.generation;
    let first = status.phase.is_none();
    let foreign = world.workload.as_ref().is_some_and(|workload| {
        workload.observed_generation >= workload.generation
            && !status.update_revision.is_empty()
            && workload.update_revision != status.update_revision
    });
    if !(first || template || identity || percent || recreate || foreign) {
        return None;
    }
    let mut renewed = world.clone();
    let status = &mut renewed.status;
    let asked = first || template || identity || percent || recreate;
    if asked || status.phase.is_some_and(|phase| phase == Phase::Done) {
        status.phase = Some(Phase::Pending);
        status.reason_code = None;
    }
    if asked && one_revision(world, &status.update_revision) {
        status.stable_revision.clone_from(&status.update_revision);
    }
    if asked && world.workload.is_none() {
        // Whatever was there is not missed: it is to be created.
        status.workload_name.clear();
    }
    if identity {
        for row in &mut status.pods {
            row.leaked = false;
        }
    }
    status.deleted = false;
    status.consul_services.clear();
    status.desired_hash.clone_from(&rollout.desired_hash);
    status.identity.clone_from(&rollout.identity);
    status.percent_requested = Some(rollout.percent.get());
    status.last_progress = Some(now);
    status.progressed = 0;
    status.paused_seconds = 0;
    status.stopped_since = None;
    Some(renewed)
}

/// Whether all Pods run this revision: what came before it is no longer stable.
fn one_revision(world: &World, revision: &str) -> bool {
    !world.pods.is_empty() && world.pods.iter().all(|pod| pod.revision == revision)
}

/// Where a rollout stands after one look.
struct Standing {
    phase: Phase,
    hold: Hold,
    action: Option<Action>,
}

impl Standing {
    fn new(phase: Phase, hold: Hold) -> Self {
        Self { phase, hold, action: None }
    }

    fn act(hold: Hold, action: Action) -> Self {
        Self { phase: Phase::InProgress, hold, action: Some(action) }
    }
}

fn step(world: &World, now: Timestamp) -> Decision {
    let account = world.workload.as_ref().map(|workload| Account::take(world, workload, now));
    let mut status = world.status.clone();
    describe_world(&mut status, world, account.as_ref(), now);
    let mut standing = stand(world, &status, account.as_ref(), now);
    if let Some(hold) = tried_again(world, &standing) {
        standing.hold = hold;
    }
    run_clock(&mut status, account.as_ref(), &standing, now);
    if let Some(given_up) = deadline(world, &status, account.as_ref(), &standing, now) {
        standing = given_up;
    }
    let early = too_early(world, now).filter(|_| standing.action.is_some());
    if early.is_some() {
        standing.action = None;
    }
    announce(&mut status, world, standing.action.as_ref(), now);
    status.paused = standing.phase == Phase::Paused;
    let given_up = standing.phase == Phase::Failed;
    status.deleted = given_up && standing.hold.reason == Reason::StatefulSetDeleted;
    status.phase = Some(standing.phase);
    status.reason.clone_from(&standing.hold.message);
    status.reason_code = Some(standing.hold.reason);
    status.conditions = conditions(world, &status, &standing.hold, now);
    let wake = wake(world, &status, account.as_ref(), &standing, early, now);
    status.reconcile_after = wake;
    status.last_updated = Some(now);
    Decision { status, action: standing.action, wake }
}

/// The part of the status that says what is.
fn describe_world(
    status: &mut Status,
    world: &World,
    account: Option<&Account<'_>>,
    now: Timestamp,
) {
    let rollout = &world.rollout;
    status.observed_generation = rollout.generation;
    status.build.clone_from(&rollout.build);
    status.consul_services = match &world.discovery {
        // One that was seen in this rollout stays listed, so that it is missed when it vanishes.
        Discovery::Read { services, .. } => {
            let seen = &world.status.consul_services;
            let listed = |name: &&String| services.contains(name) || seen.contains(name);
            rollout.services.iter().filter(listed).cloned().collect()
        }
        Discovery::Unreachable { .. } => world.status.consul_services.clone(),
        Discovery::NotAsked | Discovery::NotConfigured => Vec::new(),
    };
    if let Some(applied) = &world.outcome.applied {
        status.applied = Some(applied.clone());
    }
    let (Some(workload), Some(account)) = (&world.workload, account) else {
        status.spec_current = false;
        status.pods.clear();
        status.evicting.clear();
        (status.replicas, status.target_replicas, status.updated_replicas) = (0, 0, 0);
        (status.ready_replicas, status.available_replicas, status.leaked_replicas) = (0, 0, 0);
        status.discovery_ready = None;
        return;
    };
    status.workload_name.clone_from(&rollout.workload_name);
    status.spec_current =
        workload.matches && applied(world).is_some_and(|a| a.hash == rollout.desired_hash);
    if status.spec_current
        && let Some(applied) = &mut status.applied
    {
        applied.generation = applied.generation.max(workload.generation);
    }
    status.replicas = workload.replicas;
    status.target_replicas = account.target;
    status.ready_replicas = account.ready();
    status.available_replicas = account.available();
    status.discovery_ready = match &world.discovery {
        Discovery::Read { services, .. } if !services.is_empty() => Some(account.discovered()),
        _ => None,
    };
    if workload.observed_generation < workload.generation {
        return;
    }
    if status.stable_revision.is_empty() || status.update_revision != workload.update_revision {
        status.stable_revision = account
            .stable(&workload.update_revision, &status.update_revision)
            .unwrap_or(&workload.update_revision)
            .to_owned();
    }
    status.update_revision.clone_from(&workload.update_revision);
    status.updated_replicas = account.updated();
    status.leaked_replicas = match rollout.version_leak {
        VersionLeak::Ignore => 0,
        _ => account.leaked(),
    };
    status.pods = rows(account, &world.status.pods, now);
}

/// What was last applied, by the latest word.
fn applied(world: &World) -> Option<&Applied> {
    world.outcome.applied.as_ref().or(world.status.applied.as_ref())
}

fn stand(
    world: &World,
    status: &Status,
    account: Option<&Account<'_>>,
    now: Timestamp,
) -> Standing {
    let rollout = &world.rollout;
    let before = world.status.phase.unwrap_or(Phase::Pending);
    if let Some(owner) = world.other_owner() {
        let message = format!(
            "StatefulSet {}/{} belongs to {owner}; delete that one, or name another StatefulSet",
            rollout.namespace, rollout.workload_name
        );
        let phase = if before.is_final() { before } else { Phase::Pending };
        return Standing::new(phase, Hold::new(Reason::OwnedByAnother, message));
    }
    if before == Phase::Failed {
        let reason = world.status.reason_code.unwrap_or(Reason::ProgressDeadlineExceeded);
        let mut standing = Standing::new(before, Hold::new(reason, world.status.reason.clone()));
        standing.action = given_up(world, account, now);
        return standing;
    }
    if let Some(refused) = apply_refused(world).filter(|refused| refused.invalid) {
        let message = format!(
            "the API server refuses StatefulSet {}/{}: {}; correct spec.statefulset",
            rollout.namespace, rollout.workload_name, refused.message
        );
        return Standing::new(Phase::Failed, Hold::new(Reason::InvalidStatefulSet, message));
    }
    let (Some(workload), Some(account)) = (&world.workload, account) else {
        return absent(world, now);
    };
    if workload.terminating {
        let message =
            format!("StatefulSet {}/{} is being deleted", rollout.namespace, rollout.workload_name);
        return Standing::new(Phase::InProgress, Hold::new(Reason::StatefulSetDeleted, message));
    }
    if let Some(standing) = apply(world, workload, account) {
        return standing;
    }
    let ours = applied(world).is_none_or(|applied| workload.generation >= applied.generation);
    if !(ours || caught_up(world, now)) || workload.observed_generation < workload.generation {
        let message = format!(
            "waiting for the StatefulSet controller to see generation {} of StatefulSet {}/{}",
            workload.generation, rollout.namespace, rollout.workload_name
        );
        return Standing::new(Phase::InProgress, Hold::new(Reason::WaitingForController, message));
    }
    advance(&Scene { world, workload, account, now }, status, before)
}

/// What is given up is not gone on with by the StatefulSet controller either.
fn given_up(world: &World, account: Option<&Account<'_>>, now: Timestamp) -> Option<Action> {
    let (workload, account) = (world.workload.as_ref()?, account?);
    let ours = workload.claim == Claim::Ours && !workload.terminating;
    let known = workload.observed_generation >= workload.generation;
    let mover = Mover::of(&world.rollout, workload);
    mover.freeze(&Scene { world, workload, account, now }).filter(|_| ours && known)
}

/// Whether the caches must have seen our last write by now: what they hold is older than that write only
/// because it is another object, deleted and made again by somebody.
fn caught_up(world: &World, now: Timestamp) -> bool {
    world.outcome.acted_at.is_none_or(|at| now.duration_since(at) >= world.settings.slow)
}

fn apply_refused(world: &World) -> Option<&ApplyRefused> {
    world.outcome.apply_refused.as_ref().filter(|r| r.hash == world.rollout.desired_hash)
}

/// That a write to the StatefulSet is tried again. It is cheap and may help; the pace is that of
/// `too_early`.
fn tried_again(world: &World, standing: &Standing) -> Option<Hold> {
    let refused = apply_refused(world).filter(|_| !standing.phase.is_final())?;
    let writes = match standing.action.as_ref()? {
        Action::Apply { .. } | Action::SetStrategy { .. } => true,
        Action::Evict { partition, .. } => partition.is_some(),
        Action::Delete { .. } => false,
    };
    let (namespace, name) = (&world.rollout.namespace, &world.rollout.workload_name);
    let message = format!("StatefulSet {namespace}/{name} cannot be written: {}", refused.message);
    writes.then(|| Hold::new(Reason::CannotWriteStatefulSet, message))
}

/// No StatefulSet: it is created, unless somebody deleted it.
fn absent(world: &World, now: Timestamp) -> Standing {
    let rollout = &world.rollout;
    let place = format!("{}/{}", rollout.namespace, rollout.workload_name);
    let was_there =
        !world.status.workload_name.is_empty() && world.status.phase != Some(Phase::Pending);
    let made = world.outcome.applied.as_ref().is_some_and(|a| a.hash == rollout.desired_hash);
    if made && !caught_up(world, now) {
        let message = format!("StatefulSet {place} was created and is not seen yet");
        return Standing::new(Phase::InProgress, Hold::new(Reason::Creating, message));
    }
    if was_there {
        let message = format!(
            "StatefulSet {place} was deleted; it is created again when the rollout's spec or \
             rolloutIdentity changes"
        );
        return Standing::new(Phase::Failed, Hold::new(Reason::StatefulSetDeleted, message));
    }
    let strategy = match rollout.version_leak {
        VersionLeak::Prevent => Strategy::RollingUpdate { partition: 0 },
        _ => Strategy::OnDelete,
    };
    let hold = Hold::new(Reason::Creating, format!("creating StatefulSet {place}"));
    Standing::act(hold, Action::Apply { strategy })
}

/// The apply that is due, if one is.
fn apply(world: &World, workload: &Workload, account: &Account<'_>) -> Option<Standing> {
    let rollout = &world.rollout;
    let prevent = rollout.version_leak == VersionLeak::Prevent;
    let known = applied(world);
    let asked = known.is_none_or(|a| a.hash != rollout.desired_hash);
    let drifted = !workload.matches && known.is_none_or(|a| a.generation < workload.generation);
    let unclaimed = workload.claim == Claim::Free;
    let strategy_drifted = !prevent && workload.strategy != Strategy::OnDelete;
    if !(asked || drifted || unclaimed || strategy_drifted) {
        return None;
    }
    let place = format!("{}/{}", rollout.namespace, rollout.workload_name);
    let hold = Hold::new(Reason::Applying, format!("applying the spec of StatefulSet {place}"));
    if strategy_drifted {
        return Some(Standing::act(hold, partition::LET_GO));
    }
    if !prevent {
        return Some(Standing::act(hold, Action::Apply { strategy: Strategy::OnDelete }));
    }
    if workload.matches {
        // Nothing of the template changes, so there is nothing to hold.
        return Some(Standing::act(hold, Action::Apply { strategy: workload.strategy }));
    }
    Some(match partition::hold(world, Some(workload), Some(account)) {
        partition::Hand::Apply(strategy) => Standing::act(hold, Action::Apply { strategy }),
        partition::Hand::First(action) => {
            let message = if action == partition::LET_GO {
                format!("letting go of the partition of StatefulSet {place}, which holds nothing")
            } else {
                format!("settling StatefulSet {place} before its partition can hold it")
            };
            Standing::act(Hold::new(Reason::Settling, message), action)
        }
        partition::Hand::Wait(hold) => Standing::new(Phase::InProgress, hold),
    })
}

/// The StatefulSet stands as asked: reached, paused, or the next move.
fn advance(scene: &Scene<'_>, status: &Status, before: Phase) -> Standing {
    let Scene { world, workload, account, .. } = *scene;
    let rollout = &world.rollout;
    let mover = Mover::of(rollout, workload);
    if let Some(hold) = stopped_by_leak(world, workload, account, status) {
        return frozen(mover, scene, hold);
    }
    let reached = account.left() == 0;
    let good = account.awaited() == 0 && !opened(account);
    if before == Phase::Done && reached && !opened(account) {
        let mut standing = Standing::new(Phase::Done, completed(account, rollout.percent));
        standing.action = partition::settle(world, workload, account);
        return standing;
    }
    if reached && good {
        if let Some(action) = partition::settle(world, workload, account) {
            let message = format!(
                "preparing StatefulSet {}/{} to hold revision {} when the next template comes",
                rollout.namespace, rollout.workload_name, workload.update_revision
            );
            return Standing::act(Hold::new(Reason::Settling, message), action);
        }
        // What cannot be seen is not yet true.
        if let Some(hold) = budget::unseen(world).filter(|_| account.moved() > 0) {
            return Standing::new(Phase::InProgress, hold);
        }
        return Standing::new(Phase::Done, completed(account, rollout.percent));
    }
    if rollout.pause_requested {
        let message = format!(
            "pauseRequested is true; {} of {} Pods moved, {} wanted",
            account.moved(),
            account.replicas(),
            account.target
        );
        return frozen(mover, scene, Hold::new(Reason::PauseRequested, message));
    }
    // How Pods are paced is of interest only while some are still to be moved.
    let remark =
        budget::room(world, workload, account, scene.now).remark.filter(|_| account.left() > 0);
    let remarked = |mut hold: Hold| {
        if let Some(remark) = &remark {
            hold.message = format!("{}; {remark}", hold.message);
        }
        hold
    };
    match mover.advance(scene) {
        Move::Act(action) => {
            let hold = match action {
                Action::SetStrategy { .. } => drawing_back(scene),
                _ => remarked(Hold::new(Reason::Evicting, moving(scene, &action))),
            };
            Standing::act(hold, action)
        }
        Move::Wait(hold) => Standing::new(Phase::InProgress, remarked(hold)),
        Move::Rest => Standing::new(Phase::InProgress, remarked(budget::waiting(account))),
    }
}

fn opened(account: &Account<'_>) -> bool {
    account.slots.iter().any(|slot| slot.open && slot.movable())
}

fn frozen(mover: Mover, scene: &Scene<'_>, hold: Hold) -> Standing {
    Standing { phase: Phase::Paused, hold, action: mover.freeze(scene) }
}

fn drawing_back(scene: &Scene<'_>) -> Hold {
    let Scene { world, account, .. } = *scene;
    Hold::new(
        Reason::Applying,
        format!(
            "drawing back the partition of StatefulSet {}/{}: {} Pods have moved or may, {} wanted",
            world.rollout.namespace,
            world.rollout.workload_name,
            account.moved(),
            account.target
        ),
    )
}

fn moving(scene: &Scene<'_>, action: &Action) -> String {
    let names: Vec<&str> = action.victims().iter().map(|pod| pod.name.as_str()).take(5).collect();
    let more = action.victims().len().saturating_sub(names.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let account = scene.account;
    let budget = match scene.world.budgets.as_slice() {
        [budget] => {
            format!(
                "; PodDisruptionBudget {} ({}) allows {}",
                budget.name, budget.limit, budget.allowed
            )
        }
        _ => String::new(),
    };
    format!(
        "moving {}{more}; {} of {} moved before, {} wanted{budget}",
        names.join(", "),
        account.moved(),
        account.replicas(),
        account.target
    )
}

/// A leak under `Pause`, or a partition that was lost under `Prevent`: both go on with a new
/// `rolloutIdentity` or another `versionLeak`.
fn stopped_by_leak(
    world: &World,
    workload: &Workload,
    account: &Account<'_>,
    status: &Status,
) -> Option<Hold> {
    let rollout = &world.rollout;
    if rollout.percent.is_all() {
        return None;
    }
    let go_on = "it goes on with a new rolloutIdentity, or when versionLeak is changed";
    match rollout.version_leak {
        VersionLeak::Pause if account.leaked() > 0 => {
            let names: Vec<&str> = account
                .slots
                .iter()
                .filter(|slot| slot.leaked)
                .map(|slot| slot.name.as_str())
                .take(5)
                .collect();
            Some(Hold::new(
                Reason::LeakFound,
                format!(
                    "{} came back at the update revision though no step released {} ({}); {go_on}",
                    super::report::pods(account.leaked()),
                    super::report::them(account.leaked()),
                    names.join(", ")
                ),
            ))
        }
        VersionLeak::Prevent => {
            let two = !status.stable_revision.is_empty()
                && status.stable_revision != workload.update_revision;
            let lost_before = world.status.reason_code == Some(Reason::HoldLost);
            (lost_before || (two && workload.replicas == 0)).then(|| {
                Hold::new(
                    Reason::HoldLost,
                    format!(
                        "StatefulSet {}/{} was scaled to 0, so its partition no longer holds revision {}: \
                         Pods come up at {}; {go_on}",
                        rollout.namespace,
                        rollout.workload_name,
                        status.stable_revision,
                        workload.update_revision
                    ),
                )
            })
        }
        _ => None,
    }
}

/// The deadline's clock runs only while the rollout waits for Pods that it moved itself.
fn run_clock(
    status: &mut Status,
    account: Option<&Account<'_>>,
    standing: &Standing,
    now: Timestamp,
) {
    let Some(account) = account else { return };
    let goes_on = status.phase.is_some_and(Phase::is_final) && !standing.phase.is_final();
    if goes_on || status.last_progress.is_none() {
        // As when a scaled set is to move more Pods: its clock starts here.
        status.last_progress = Some(now);
        status.progressed = 0;
        status.paused_seconds = 0;
    }
    let progress = account.moved().saturating_add(account.good());
    if progress > status.progressed {
        status.progressed = progress;
        status.last_progress = Some(now);
        status.paused_seconds = 0;
        status.stopped_since = None;
    }
    let waits = account.awaited() > 0 && standing.phase == Phase::InProgress;
    match (waits, status.stopped_since) {
        (true, Some(since)) => {
            status.paused_seconds += now.duration_since(since).as_secs().max(0);
            status.stopped_since = None;
        }
        (false, None) if !standing.phase.is_final() => status.stopped_since = Some(now),
        _ => {}
    }
    if standing.phase.is_final() {
        status.stopped_since = None;
    }
}

/// When the rollout is given up, if it waits that long.
fn deadline_at(world: &World, status: &Status) -> Option<Timestamp> {
    if status.stopped_since.is_some() {
        return None;
    }
    let stood_still = SignedDuration::from_secs(status.paused_seconds);
    let patience = world.rollout.progress_deadline.checked_add(stood_still)?;
    status.last_progress?.checked_add(patience).ok()
}

fn deadline(
    world: &World,
    status: &Status,
    account: Option<&Account<'_>>,
    standing: &Standing,
    now: Timestamp,
) -> Option<Standing> {
    let account = account.filter(|account| account.awaited() > 0)?;
    if standing.phase != Phase::InProgress || standing.action.is_some() {
        return None;
    }
    deadline_at(world, status).filter(|at| *at <= now)?;
    let worst = account.worst().map(super::describe).unwrap_or_default();
    let message = format!(
        "no progress for {} s with {} of {} Pods not good; {worst}; roll back by applying the earlier \
         template, or try again with a new rolloutIdentity",
        world.rollout.progress_deadline.as_secs(),
        account.awaited(),
        account.replicas()
    );
    let hold = Hold::new(Reason::ProgressDeadlineExceeded, message);
    let action = given_up(world, Some(account), now);
    Some(Standing { phase: Phase::Failed, hold, action })
}

/// The next action comes no earlier than one interval after the last; a change of the rollout at once.
fn too_early(world: &World, now: Timestamp) -> Option<Timestamp> {
    if world.rollout.generation != world.status.observed_generation {
        return None;
    }
    let pause = match apply_refused(world) {
        Some(_) => world.settings.slow,
        None => world.settings.interval,
    };
    let next = world.outcome.acted_at?.checked_add(pause).ok()?;
    (next > now).then_some(next)
}

/// Writes the intent down: the UIDs that are about to go, beside those that have not been seen going.
fn announce(status: &mut Status, world: &World, action: Option<&Action>, now: Timestamp) {
    let (workload, outcome) = (&world.workload, &world.outcome);
    let known = |uid: &Uid| {
        status.evicting.contains(uid) && !outcome.refused.contains_key(uid)
            || outcome.accepted.contains(uid)
    };
    let mut evicting: Vec<Uid> = world
        .pods
        .iter()
        .filter(|_| workload.is_some())
        .map(|pod| &pod.uid)
        .filter(|uid| known(uid))
        .cloned()
        .collect();
    let victims = action.map(Action::victims).unwrap_or_default();
    for victim in victims {
        if !evicting.contains(&victim.uid) {
            evicting.push(victim.uid.clone());
        }
    }
    evicting.sort();
    status.evicting = evicting;
    let ready =
        |uid: &Uid| world.pods.iter().any(|pod| pod.uid == *uid && pod.ready_since.is_some());
    if victims.iter().any(|victim| ready(&victim.uid)) {
        status.last_eviction = Some(now);
    }
}

fn wake(
    world: &World,
    status: &Status,
    account: Option<&Account<'_>>,
    standing: &Standing,
    early: Option<Timestamp>,
    now: Timestamp,
) -> Option<Timestamp> {
    if standing.action.is_some() {
        return now.checked_add(world.settings.interval).ok();
    }
    if early.is_some() {
        return early;
    }
    let slow = now.checked_add(world.settings.slow).ok();
    if standing.phase.is_final() && standing.hold.reason != Reason::OwnedByAnother {
        return None;
    }
    let idle = account.is_none_or(|account| account.awaited() == 0);
    if standing.phase == Phase::Paused && idle {
        return None;
    }
    let ripe = account.into_iter().flat_map(|account| &account.slots).filter_map(|slot| {
        let workload = world.workload.as_ref()?;
        let since = slot.pod?.ready_since.filter(|_| !slot.available)?;
        since.checked_add(workload.min_ready).ok()
    });
    let next_pod = status.last_eviction.and_then(|at| {
        let interval = world.rollout.min_eviction_interval;
        (interval > SignedDuration::ZERO).then(|| at.checked_add(interval).ok())?
    });
    ripe.chain(next_pod)
        .chain(deadline_at(world, status))
        .chain(world.outcome.hold_until)
        .chain(mover::refusal_over(world))
        .chain(slow)
        .filter(|at| *at > now)
        .min()
}
