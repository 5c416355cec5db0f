//! Exit codes, and what ends a command before its end: the one place where a code is decided.

use std::io;
use std::process::ExitCode;

use thiserror::Error;

/// How a command ended, the same for every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, or the state that was asked for is reached.
    Done,
    /// Failed: the rollout, or what the command tried.
    Failed,
    /// Used wrongly.
    Usage,
    /// Something else has to happen first; waiting doesn't help.
    Blocked,
    /// Not reached in the time given.
    TimedOut,
    /// There is no such object, or it may not be seen or touched.
    Absent,
}

/// The codes as `sluice --help` shows them.
pub(crate) const TABLE: &str = "\
Exit codes, the same for every command:
  0  done, or the state that was asked for is reached
  1  failed: the rollout, or what the command tried
  2  wrong usage
  3  blocked: the rollout cannot go on until something else is changed
  4  time-out
  5  not found or forbidden";

impl Exit {
    /// The number.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Blocked => 3,
            Self::TimedOut => 4,
            Self::Absent => 5,
        }
    }
}

/// What ends a command early. Each names the object and, where there is one, the remedy.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// It could not be done.
    #[error("{0}")]
    Failed(String),
    /// Somebody else changed the object in between.
    #[error("{0}")]
    Conflict(String),
    /// The arguments contradict each other.
    #[error("{0}")]
    Usage(String),
    /// There is no such object.
    #[error("{0}")]
    NotFound(String),
    /// The cluster does not know this kind of object.
    #[error("{0}")]
    NotServed(String),
    /// The cluster does not let us.
    #[error("{0}")]
    Forbidden(String),
    /// The cluster cannot be reached, or did not answer as one does.
    #[error("{0}")]
    Unreachable(String),
    /// Nobody takes what we write.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    /// The exit code that it comes to. A reader that has seen enough (`sluice … | head`) is no
    /// failure.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
            Self::Failed(_) | Self::Conflict(_) | Self::Unreachable(_) | Self::Output(_) => {
                Exit::Failed
            }
            Self::Usage(_) => Exit::Usage,
            Self::NotFound(_) | Self::NotServed(_) | Self::Forbidden(_) => Exit::Absent,
        }
    }
}

/// How a command ended.
pub(crate) type Outcome = Result<Exit, Failure>;

/// Says what went wrong on standard error, and gives the code.
pub(crate) fn conclude(outcome: &Outcome) -> ExitCode {
    let exit = match outcome {
        Ok(exit) => *exit,
        Err(failure) => {
            let exit = failure.exit();
            if exit != Exit::Done {
                crate::out::complain(&format!("error: {failure}"));
            }
            exit
        }
    };
    ExitCode::from(exit.code())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_in_the_help_text_under_its_number() {
        let all =
            [Exit::Done, Exit::Failed, Exit::Usage, Exit::Blocked, Exit::TimedOut, Exit::Absent];
        for (number, exit) in all.into_iter().enumerate() {
            assert_eq!(usize::from(exit.code()), number);
            assert!(TABLE.contains(&format!("\n  {number}  ")), "{number}");
        }
    }

    #[test]
    fn each_failure_has_its_code() {
        fn check(failure: &Failure, code: u8) {
            assert_eq!(failure.exit().code(), code, "{failure:?}");
        }
        let words = || "words".to_owned();
        check(&Failure::Failed(words()), 1);
        check(&Failure::Conflict(words()), 1);
        check(&Failure::Unreachable(words()), 1);
        check(&Failure::Usage(words()), 2);
        check(&Failure::NotFound(words()), 5);
        check(&Failure::NotServed(words()), 5);
        check(&Failure::Forbidden(words()), 5);
        check(&io::Error::from(io::ErrorKind::StorageFull).into(), 1);
        check(&io::Error::from(io::ErrorKind::BrokenPipe).into(), 0);
    }
}
