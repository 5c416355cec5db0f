//! What ought to be told about a rollout, as levels: they follow from the status alone.
//!
//! Whoever tells (Events, Slack, callbacks) compares the levels that ought to be told with those that
//! were told. So a restart repeats a notice at worst, and never loses the last one.

use crate::status::{ConditionKind, Phase, Reason, Status};

/// One thing that is so and ought to be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// About what; a new notice of a topic supersedes the one before.
    pub topic: Topic,
    /// CamelCase word for Events.
    pub reason: String,
    /// Whether a person ought to look.
    pub warning: bool,
    /// A sentence.
    pub text: String,
}

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// Where the rollout stands.
    Phase,
    /// Which Pods are on their way.
    Group,
    /// What it waits for somebody else to do.
    Blocked,
    /// Which Pods leaked.
    Leaked,
    /// What it names and this operator does not serve.
    NotGated,
}

/// Whether it cannot be said yet what it is a phase of: until the StatefulSet controller has seen the
/// template, the revision in the status is that of the rollout before.
fn unnamed(phase: Phase, status: &Status) -> bool {
    match (phase, status.reason_code) {
        (Phase::Pending, _) => true,
        (Phase::InProgress, Some(reason)) => {
            matches!(reason, Reason::Creating | Reason::Applying | Reason::WaitingForController)
        }
        _ => false,
    }
}

/// What a status says, topic by topic.
pub fn levels(status: &Status) -> Vec<Notice> {
    let mut notices = Vec::new();
    if let Some(phase) = status.phase.filter(|phase| !unnamed(*phase, status)) {
        notices.push(Notice {
            topic: Topic::Phase,
            reason: phase.name().to_owned(),
            warning: phase == Phase::Failed,
            text: match phase {
                Phase::InProgress if status.replicas > 0 => format!(
                    "rolling out {} to {} of {} Pods",
                    status.build.version, status.target_replicas, status.replicas
                ),
                _ => status.reason.clone(),
            },
        });
    }
    if status.reason_code == Some(Reason::Evicting) {
        notices.push(Notice {
            topic: Topic::Group,
            reason: Reason::Evicting.name().to_owned(),
            warning: false,
            text: status.reason.clone(),
        });
    }
    for (kind, topic) in [
        (ConditionKind::Blocked, Topic::Blocked),
        (ConditionKind::Leaked, Topic::Leaked),
        (ConditionKind::NotGated, Topic::NotGated),
    ] {
        if let Some(condition) = status.conditions.iter().find(|c| c.kind == kind && c.holds) {
            notices.push(Notice {
                topic,
                reason: condition.reason.clone(),
                warning: true,
                text: condition.message.clone(),
            });
        }
    }
    notices
}

/// The levels of `new` that `old` did not have. A phase is told again when what it is a phase of has
/// changed, a block when its reason has, and not for every number in its sentence.
pub fn news(old: &Status, new: &Status) -> Vec<Notice> {
    let before = levels(old);
    let same_rollout = old.update_revision == new.update_revision
        && old.percent_requested == new.percent_requested
        && old.identity == new.identity;
    let told = |notice: &Notice| {
        before.iter().any(|other| {
            other.topic == notice.topic
                && other.reason == notice.reason
                && match notice.topic {
                    Topic::Phase => same_rollout,
                    Topic::Group | Topic::Leaked => other.text == notice.text,
                    Topic::Blocked | Topic::NotGated => true,
                }
        })
    };
    levels(new).into_iter().filter(|notice| !told(notice)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(phase: Phase, percent: u8) -> Status {
        Status {
            phase: Some(phase),
            percent_requested: Some(percent),
            reason: "because".to_owned(),
            ..Status::default()
        }
    }

    #[test]
    fn a_rollout_is_told_once_its_revision_is_known() {
        let at = |reason: Reason, revision: &str| Status {
            reason_code: Some(reason),
            update_revision: revision.to_owned(),
            build: crate::world::Build { version: revision.to_owned(), ..Default::default() },
            target_replicas: 2,
            replicas: 4,
            ..status(Phase::InProgress, 100)
        };
        let applying = at(Reason::Applying, "old");
        let seen = at(Reason::WaitingForController, "old");
        let moving = at(Reason::WaitingForPods, "new");
        assert_eq!(news(&Status::default(), &applying), []);
        assert_eq!(news(&applying, &seen), []);
        let told = news(&seen, &moving);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].text, "rolling out new to 2 of 4 Pods");
        assert_eq!(news(&moving, &at(Reason::BudgetExhausted, "new")), []);
    }

    #[test]
    fn a_phase_is_told_once_for_each_rollout() {
        let (half, all) = (status(Phase::Done, 50), status(Phase::Done, 100));
        assert_eq!(news(&Status::default(), &half)[0].reason, "RolloutDone");
        assert_eq!(news(&half, &half), []);
        assert_eq!(news(&half, &all).len(), 1);
    }
}
