//! Carries out one action, one request after another, and reports how far it got.
//!
//! Doing part of an action is normal: whatever stops it, the next look sees what is.

use engine::decision::Action;
use engine::world::{Applied, ApplyRefused, Strategy};
use tracing::warn;

use super::work::Work;
use super::{ActReport, GoOn, Hands};
use crate::apply::{self, Write};
use crate::disrupt::Way;
use crate::observe::statefulset_rollout::Observed;
use crate::subject::{Front, Subject};

/// Carries out `action` on what was seen. `go_on` is asked before each request; anything but
/// [`GoOn::Yes`] ends the action there.
pub async fn act(
    hands: &Hands,
    seen: &Observed,
    action: &Action,
    go_on: &(dyn Fn() -> GoOn + Send + Sync),
) -> ActReport {
    let subject = Subject::new(Front::StatefulsetRollout, seen.key.clone());
    let mut writer = Writer { work: Work::new(hands, subject, go_on), seen };
    match action {
        Action::Apply { strategy } => {
            writer.write(*strategy, Part::Whole).await;
        }
        Action::SetStrategy { strategy } => {
            writer.write(*strategy, Part::Strategy).await;
        }
        Action::Open { partition, .. } => {
            let strategy = Strategy::RollingUpdate { partition: *partition };
            writer.write(strategy, Part::Strategy).await;
        }
        Action::Evict { pods } => writer.work.disrupt(pods, Way::Evict).await,
        Action::Delete { pods } => writer.work.disrupt(pods, Way::Delete).await,
    }
    writer.work.report
}

#[derive(Clone, Copy)]
enum Part {
    Whole,
    Strategy,
}

struct Writer<'a> {
    work: Work<'a>,
    seen: &'a Observed,
}

impl Writer<'_> {
    /// One write to the StatefulSet.
    async fn write(&mut self, strategy: Strategy, part: Part) {
        if !self.work.may() {
            return;
        }
        let client = &self.work.hands.client;
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
                self.work.report.applied = hash.map(|hash| Applied { uid, hash, generation });
            }
            Write::Refused(refused) => {
                warn!(rollout = %self.seen.key, message = refused.message, "cannot write the StatefulSet");
                self.work.report.apply_refused = Some(refused);
            }
            Write::Failed(error) => {
                if let crate::Error::Unknown { message, retry_after, .. } = &error {
                    if retry_after.is_some() {
                        self.work.hold(*retry_after);
                    }
                    self.work.report.apply_failed = Some(ApplyRefused {
                        hash: self.seen.world.rollout.desired_hash.clone(),
                        invalid: false,
                        message: message.clone(),
                    });
                }
                self.work.fail(error.to_string());
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
}
