//! Carries out one action, one request after another, and reports how far it got.
//!
//! Doing part of an action is normal: whatever stops it, the next look sees what is.

use std::collections::{BTreeMap, BTreeSet};

use engine::decision::{Action, Victim};
use engine::world::{Applied, ApplyRefused, Outcome, Refusal, Strategy, Uid};
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use tracing::{debug, info, warn};

use crate::apply::{self, Write};
use crate::clock::Clock;
use crate::delete::delete;
use crate::evict::{Disruption, evict};
use crate::observe::Observed;

/// How long a busy server is left alone when it does not say.
const BUSY: SignedDuration = SignedDuration::from_secs(5);

/// What it takes to act.
#[derive(Clone)]
pub struct Hands {
    /// The API server. Built without a retry of its own, which would hold an eviction for minutes.
    pub client: Client,
    /// The clock of the process.
    pub clock: Clock,
}

/// Whether an action may go on; asked before each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoOn {
    /// It may.
    Yes,
    /// The rollout asks for something else by now: a pause, another template, its end.
    Changed,
    /// Somebody else leads, or may by now.
    NotLeading,
    /// The process is about to stop.
    Stopping,
}

/// How far an action got.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ActReport {
    /// When the last request was made; `None` if none was.
    pub acted_at: Option<Timestamp>,
    /// A write to the StatefulSet that was done.
    pub applied: Option<Applied>,
    /// A write to the StatefulSet that was refused.
    pub apply_refused: Option<ApplyRefused>,
    /// A write to the StatefulSet that the server could not do, or did not answer.
    pub apply_failed: Option<ApplyRefused>,
    /// Pods that are on their way out.
    pub accepted: BTreeSet<Uid>,
    /// Pods that are not, and why.
    pub refused: BTreeMap<Uid, Refusal>,
    /// Until when the API server wants to be left alone.
    pub hold_until: Option<Timestamp>,
    /// What `go_on` said when it stopped the action.
    pub stopped: Option<GoOn>,
    /// The request of which nobody knows what came: no answer, a conflict, a failing server.
    pub failed: Option<String>,
    /// How many requests were made.
    pub requests: u32,
}

impl ActReport {
    /// Adds what came of this action to what is known of earlier ones.
    ///
    /// One that was stopped before its first request says nothing.
    pub fn add_to(self, outcome: &mut Outcome) {
        if self.requests == 0 {
            return;
        }
        outcome.acted_at = self.acted_at.or(outcome.acted_at);
        outcome.applied = self.applied.or(outcome.applied.take());
        outcome.apply_refused = self.apply_refused;
        outcome.accepted.extend(self.accepted);
        outcome.refused = self.refused;
        outcome.hold_until = self.hold_until.or(outcome.hold_until);
    }
}

/// Carries out `action` on what was seen. `go_on` is asked before each request; anything but
/// [`GoOn::Yes`] ends the action there.
pub async fn act(
    hands: &Hands,
    seen: &Observed,
    action: &Action,
    go_on: &(dyn Fn() -> GoOn + Send + Sync),
) -> ActReport {
    let mut work = Work { hands, seen, go_on, report: ActReport::default() };
    match action {
        Action::Apply { strategy } => {
            work.write(*strategy, Part::Whole).await;
        }
        Action::SetStrategy { strategy } => {
            work.write(*strategy, Part::Strategy).await;
        }
        Action::Open { partition } => {
            let strategy = Strategy::RollingUpdate { partition: *partition };
            work.write(strategy, Part::Strategy).await;
        }
        Action::Evict { pods } => work.disrupt(pods, Way::Evict).await,
        Action::Delete { pods } => work.disrupt(pods, Way::Delete).await,
    }
    work.report
}

#[derive(Clone, Copy)]
enum Part {
    Whole,
    Strategy,
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Evict,
    Delete,
}

struct Work<'a> {
    hands: &'a Hands,
    seen: &'a Observed,
    go_on: &'a (dyn Fn() -> GoOn + Send + Sync),
    report: ActReport,
}

impl Work<'_> {
    /// Asks whether the next request may be made, and notes that it is.
    fn may(&mut self) -> bool {
        match (self.go_on)() {
            GoOn::Yes => {
                self.report.acted_at = Some(self.hands.clock.now());
                self.report.requests += 1;
                true
            }
            stop => {
                info!(rollout = %self.seen.key, ?stop, "the action stops here");
                self.report.stopped = Some(stop);
                false
            }
        }
    }

    /// One write to the StatefulSet.
    async fn write(&mut self, strategy: Strategy, part: Part) {
        if !self.may() {
            return;
        }
        let client = &self.hands.client;
        let write = match part {
            Part::Whole => apply::apply(client, self.seen, strategy).await,
            Part::Strategy => apply::set_strategy(client, self.seen, strategy).await,
        };
        match write {
            Write::Done { uid, generation } => {
                let hash = match part {
                    Part::Whole => Some(self.seen.world.rollout.desired_hash.clone()),
                    Part::Strategy => self.standing_hash(),
                };
                self.report.applied = hash.map(|hash| Applied { uid, hash, generation });
            }
            Write::Refused(refused) => {
                warn!(rollout = %self.seen.key, message = refused.message, "cannot write the StatefulSet");
                self.report.apply_refused = Some(refused);
            }
            Write::Failed(error) => {
                if let crate::Error::Unknown { message, retry_after, .. } = &error {
                    if retry_after.is_some() {
                        self.hold(*retry_after);
                    }
                    self.report.apply_failed = Some(ApplyRefused {
                        hash: self.seen.world.rollout.desired_hash.clone(),
                        invalid: false,
                        message: message.clone(),
                    });
                }
                self.fail(error.to_string());
            }
        }
    }

    /// What was applied last, if it still stands: a strategy alone leaves it so, under a new
    /// generation. A foreign change since is not ours to cover up.
    fn standing_hash(&self) -> Option<String> {
        let world = &self.seen.world;
        let workload = world.workload.as_ref()?;
        let applied = [&world.outcome.applied, &world.status.applied];
        let applied = applied.into_iter().flatten().find(|applied| applied.uid == workload.uid)?;
        let stands = workload.matches || workload.generation <= applied.generation;
        stands.then(|| applied.hash.clone())
    }

    /// One Pod after another; stops at the first that is refused for a reason that would hold for
    /// the next as well.
    async fn disrupt(&mut self, pods: &[Victim], way: Way) {
        for (done, pod) in pods.iter().enumerate() {
            if !self.may() {
                self.leave(&pods[done..]);
                return;
            }
            let (client, namespace) = (&self.hands.client, &self.seen.key.namespace);
            let disruption = match way {
                Way::Evict => evict(client, namespace, pod).await,
                Way::Delete => delete(client, namespace, pod).await,
            };
            debug!(rollout = %self.seen.key, pod = pod.name, ?disruption, "asked a Pod to go");
            match disruption {
                Disruption::Accepted => {
                    self.report.accepted.insert(pod.uid.clone());
                }
                Disruption::Refused { refusal: Refusal::Gone, .. } => {
                    self.report.refused.insert(pod.uid.clone(), Refusal::Gone);
                }
                Disruption::Refused { refusal, retry_after } => {
                    if refusal == Refusal::Overloaded {
                        self.hold(retry_after);
                    }
                    self.report.refused.insert(pod.uid.clone(), refusal);
                    self.leave(&pods[done + 1..]);
                    return;
                }
                Disruption::Unknown(message) => {
                    self.fail(message);
                    self.leave(&pods[done + 1..]);
                    return;
                }
            }
        }
    }

    fn leave(&mut self, pods: &[Victim]) {
        let left = pods.iter().map(|pod| (pod.uid.clone(), Refusal::NotTried));
        self.report.refused.extend(left);
    }

    fn hold(&mut self, seconds: Option<u32>) {
        let pause = seconds.map_or(BUSY, |seconds| SignedDuration::from_secs(seconds.into()));
        self.report.hold_until = self.hands.clock.now().checked_add(pause).ok();
    }

    fn fail(&mut self, message: String) {
        warn!(rollout = %self.seen.key, message, "what came of the last request is not known");
        self.report.failed = Some(message);
    }
}
