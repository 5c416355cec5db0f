//! `sluice status`: waits until a rollout is where it is wanted, and says every change on the way.

use std::time::Duration;

use serde::Serialize;
use tokio::time::Instant;

use super::verdict::{Goal, Verdict};
use crate::exit::{Exit, Failure, Outcome};
use crate::find::{Found, Front, find};
use crate::look::{Look, Way};
use crate::name::Named;
use crate::out::{Format, Out, PlainFormat, complain};
use crate::session::{Connection, Session};
use crate::show::brief::Row;
use crate::show::line::line;

/// Wait for a rollout
///
/// Never judges by an old status: it waits until the operator has seen what is asked for now, by the
/// rollout and by its workload. A release by steps that is rolled back while it is waited for has failed.
#[derive(clap::Args, Debug)]
pub(crate) struct Flags {
    /// The rollout, as NAME or TYPE/NAME
    #[arg(value_name = "NAME", value_parser = crate::name::object)]
    name: Named,

    /// What to wait for: done, paused (by steps: or waiting for an approval), percent=N (N percent of
    /// the Pods updated and available), or step=N (the Pods of that step updated and ready); several:
    /// whichever comes first
    #[arg(long = "for", value_name = "STATE", default_value = "done")]
    goals: Vec<Goal>,

    /// How long to wait, as in 90s or 10m; 0 is without end
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = operator::flags::go::duration)]
    timeout: Duration,

    /// How long a rollout may be blocked before the wait ends with code 3
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = operator::flags::go::duration)]
    blocked_after: Duration,

    /// Wait on, however long it is blocked
    #[arg(long, conflicts_with = "blocked_after")]
    keep_waiting: bool,

    /// How the result is written; in JSON and YAML the end alone
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: PlainFormat,

    #[command(flatten)]
    connection: Connection,
}

/// Time between two looks.
const EVERY: Duration = Duration::from_millis(500);

/// How long a block that only a person can lift is given: it may have been true for a moment only.
const LASTING: Duration = Duration::from_secs(5);

/// How long a change may be unseen without a word.
const MOMENT: Duration = Duration::from_secs(2);

/// After how long without an operator's look its absence is worth a word.
const UNSEEN: Duration = Duration::from_secs(10);

/// The end of the wait.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct End {
    /// `reached`, `failed`, `blocked` or `timeout`.
    result: &'static str,
    exit_code: u8,
    message: String,
    #[serde(flatten)]
    rollout: Row,
}

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    wait(&flags.connection.open().await?, flags, out).await
}

async fn wait(session: &Session, flags: &Flags, out: &mut Out) -> Outcome {
    let mut watch = Watch::new(flags);
    let mut found = find(session, &flags.name).await?;
    let by_step = flags.goals.iter().any(|goal| matches!(goal, Goal::Step(_)));
    if by_step && found.front == Front::Percent {
        return Err(Failure::Usage(format!("{} has no steps: wait for percent=N", found.title())));
    }
    let mut seen = look(session, flags, &found).await?;
    loop {
        watch.tell(&seen, out)?;
        if let Some((exit, message)) = watch.judge(&seen) {
            return end(flags, exit, message, seen.row, out);
        }
        tokio::time::sleep(watch.pause()).await;
        let again = async {
            let found = found.again(session).await?;
            let seen = look(session, flags, &found).await?;
            Ok::<(Found, Look), Failure>((found, seen))
        };
        match again.await {
            Ok(now) => {
                watch.lost = None;
                (found, seen) = now;
            }
            Err(Failure::Unreachable(why)) => watch.lost(&why),
            Err(failure) => return Err(failure),
        }
    }
}

async fn look(session: &Session, flags: &Flags, found: &Found) -> Result<Look, Failure> {
    Look::at(session, found, &flags.goals).await
}

fn end(flags: &Flags, exit: Exit, message: String, rollout: Row, out: &mut Out) -> Outcome {
    let result = match exit {
        Exit::Done => "reached",
        Exit::Blocked => "blocked",
        Exit::TimedOut => "timeout",
        Exit::Failed | Exit::Usage | Exit::Absent => "failed",
    };
    let text = format!("{}: {message}", rollout.brief.title());
    let end = End { result, exit_code: exit.code(), message, rollout };
    match Format::from(flags.output) {
        Format::Text | Format::Wide if exit == Exit::Done => out.line(&text)?,
        Format::Text | Format::Wide => complain(&format!("error: {text}")),
        format => out.document(format, &end, |_| String::new())?,
    }
    Ok(exit)
}

/// What has been seen so far.
struct Watch<'a> {
    flags: &'a Flags,
    began: Instant,
    told: Option<Row>,
    /// A release by steps was seen to go forward.
    forward: bool,
    uid: Option<String>,
    blocked_since: Option<Instant>,
    /// Since when the status does not speak of what is asked for.
    unseen_since: Option<Instant>,
    unseen_told: bool,
    /// Why the cluster cannot be reached just now.
    lost: Option<String>,
    hinted: bool,
}

impl<'a> Watch<'a> {
    fn new(flags: &'a Flags) -> Self {
        Self {
            flags,
            began: Instant::now(),
            told: None,
            forward: false,
            uid: None,
            blocked_since: None,
            unseen_since: None,
            unseen_told: false,
            lost: None,
            hinted: false,
        }
    }

    /// A line for each change.
    fn tell(&mut self, seen: &Look, out: &mut Out) -> std::io::Result<()> {
        let text = self.flags.output == PlainFormat::Text;
        let anew = self.uid.is_some() && self.uid != seen.uid;
        self.uid.clone_from(&seen.uid);
        if anew {
            complain("the rollout was deleted and created again; waiting for the new one");
            self.blocked_since = None;
        }
        let all = &seen.row.brief;
        match &all.unseen {
            None => {
                (self.unseen_since, self.unseen_told) = (None, false);
                if self.told.as_ref().is_none_or(|told| told.brief != *all) && text {
                    out.line(&line(all, out.paint()))?;
                }
            }
            Some(unseen) => self.tell_unseen(unseen, out)?,
        }
        self.told = Some(seen.row.clone());
        Ok(())
    }

    /// The first look, or one of several in a row: a change of the operator's own is not seen for a moment
    /// either.
    fn tell_unseen(&mut self, unseen: &str, out: &mut Out) -> std::io::Result<()> {
        let first = self.told.is_none();
        let since = *self.unseen_since.get_or_insert_with(Instant::now);
        if !self.unseen_told && (first || since.elapsed() >= MOMENT) {
            self.unseen_told = true;
            if self.flags.output == PlainFormat::Text {
                out.line(&format!("waiting for the operator to see {unseen}"))?;
            }
        }
        if !self.hinted && since.elapsed() >= UNSEEN {
            self.hinted = true;
            complain("no operator has looked at it yet: is `sluice operator` running?");
        }
        Ok(())
    }

    /// Whether the wait is over, how and why.
    fn judge(&mut self, seen: &Look) -> Option<(Exit, String)> {
        let verdict = seen.verdict.clone();
        self.forward |= seen.way == Way::Forward;
        if self.forward && seen.way == Way::Back {
            return Some((Exit::Failed, "the release was rolled back".to_owned()));
        }
        let blocked = matches!(verdict, Verdict::Blocked { .. });
        self.blocked_since = blocked.then(|| self.blocked_since.unwrap_or_else(Instant::now));
        let blocked_for = self.blocked_since.map(|since| since.elapsed());
        let timeout = self.flags.timeout;
        let over = !timeout.is_zero() && self.began.elapsed() >= timeout;
        match verdict {
            Verdict::Reached(message) => Some((Exit::Done, message)),
            Verdict::Failed(message) => Some((Exit::Failed, message)),
            Verdict::Blocked { message, lasting } => {
                let patience = if lasting {
                    self.flags.blocked_after.min(LASTING)
                } else {
                    self.flags.blocked_after
                };
                let stuck = !self.flags.keep_waiting && blocked_for >= Some(patience);
                (stuck || over).then_some((Exit::Blocked, format!("blocked: {message}")))
            }
            Verdict::Waiting(message) => over.then(|| {
                let why = self.lost.clone().unwrap_or(message);
                let message = format!("not there after {timeout:?}: {why}");
                (Exit::TimedOut, message)
            }),
        }
    }

    /// Until the next look, or until the time-out if that comes first.
    fn pause(&self) -> Duration {
        let timeout = self.flags.timeout;
        if timeout.is_zero() {
            return EVERY;
        }
        EVERY.min(timeout.saturating_sub(self.began.elapsed()))
    }

    fn lost(&mut self, why: &str) {
        if self.lost.is_none() {
            complain(&format!("{why}; trying on"));
        }
        self.lost = Some(why.to_owned());
    }
}

#[cfg(test)]
mod tests;
