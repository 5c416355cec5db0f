//! Carries out one action, one request after another, and reports how far it got.
//!
//! Doing part of an action is normal: whatever stops it, the next look sees what is.

use engine::decision::{Action, Victim};
use engine::world::{Applied, ApplyRefused, Refusal, Strategy};
use jiff::SignedDuration;
use tracing::{debug, info, warn};

use super::{ActReport, BUSY, GoOn, Hands};
use crate::apply::{self, Write};
use crate::delete::delete;
use crate::evict::{Disruption, evict};
use crate::observe::statefulset_rollout::Observed;

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
