//! One action under way, whichever front decided it: whether the next request may be made, Pods that are
//! asked to go one after another, and what came of it all.

use engine::decision::Victim;
use engine::world::Refusal;
use jiff::SignedDuration;
use tracing::{debug, info, warn};

use super::{ActReport, BUSY, GoOn, Hands};
use crate::delete::delete;
use crate::evict::{Disruption, evict};
use crate::subject::Subject;

/// How a Pod is asked to go.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Way {
    Evict,
    Delete,
}

/// An action that is under way.
pub(super) struct Work<'a> {
    pub(super) hands: &'a Hands,
    /// Whose action it is.
    subject: Subject,
    go_on: &'a (dyn Fn() -> GoOn + Send + Sync),
    pub(super) report: ActReport,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        hands: &'a Hands,
        subject: Subject,
        go_on: &'a (dyn Fn() -> GoOn + Send + Sync),
    ) -> Self {
        Self { hands, subject, go_on, report: ActReport::default() }
    }

    /// Asks whether the next request may be made, and notes that it is.
    pub(super) fn may(&mut self) -> bool {
        match (self.go_on)() {
            GoOn::Yes => {
                self.report.acted_at = Some(self.hands.clock.now());
                self.report.requests += 1;
                true
            }
            stop => {
                info!(subject = %self.subject, ?stop, "the action stops here");
                self.report.stopped = Some(stop);
                false
            }
        }
    }

    /// One Pod after another; stops at the first that is refused for a reason that would hold for
    /// the next as well.
    pub(super) async fn disrupt(&mut self, pods: &[Victim], way: Way) {
        for (done, pod) in pods.iter().enumerate() {
            if !self.may() {
                self.leave(&pods[done..]);
                return;
            }
            let (client, namespace) = (&self.hands.client, &self.subject.key.namespace);
            let disruption = match way {
                Way::Evict => evict(client, namespace, pod).await,
                Way::Delete => delete(client, namespace, pod).await,
            };
            debug!(subject = %self.subject, pod = pod.name, ?disruption, "asked a Pod to go");
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

    /// The server wants to be left alone.
    pub(super) fn hold(&mut self, seconds: Option<u32>) {
        let pause = seconds.map_or(BUSY, |seconds| SignedDuration::from_secs(seconds.into()));
        self.report.hold_until = self.hands.clock.now().checked_add(pause).ok();
    }

    pub(super) fn fail(&mut self, message: String) {
        warn!(subject = %self.subject, message, "what came of the last request is not known");
        self.report.failed = Some(message);
    }
}
