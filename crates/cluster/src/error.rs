//! What can go wrong between us and the API server, told by what may be done about it.

use thiserror::Error;

/// A request that did not do what it was meant to do. Each names the object.
#[derive(Debug, Error)]
pub enum Error {
    /// Somebody was faster: the object is no longer the one that was read (409).
    #[error("{object} has changed since it was read: {message}")]
    Conflict {
        /// Kind and key.
        object: String,
        /// The server's words.
        message: String,
    },
    /// There is no such object (404), or another one of the same name.
    #[error("{object} is gone: {message}")]
    Gone {
        /// Kind and key.
        object: String,
        /// The server's words.
        message: String,
    },
    /// The server refuses (4xx), and will until something is changed.
    #[error("cannot {verb} {object}: {message}")]
    Refused {
        /// What was tried.
        verb: &'static str,
        /// Kind and key.
        object: String,
        /// The HTTP status.
        code: u16,
        /// The server's words, and the remedy where we know it.
        message: String,
    },
    /// No answer, or one (429, 5xx) that says that the server could not do it now; whether the
    /// write took effect is not known.
    #[error("cannot {verb} {object} now: {message}")]
    Unknown {
        /// What was tried.
        verb: &'static str,
        /// Kind and key.
        object: String,
        /// Words of the server or of the connection.
        message: String,
        /// What the server asked for, in seconds, if it did.
        retry_after: Option<u32>,
    },
    /// The answer was a success but cannot be read.
    #[error("cannot read the answer about {object}: {message}")]
    Unreadable {
        /// Kind and key.
        object: String,
        /// What is missing.
        message: String,
    },
}

impl Error {
    /// Whether the object has changed since it was read: look again.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict { .. })
    }

    /// Whether the object is gone.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Gone { .. })
    }

    /// Whether trying again later may help without anybody changing anything.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Conflict { .. } | Self::Unknown { .. })
    }

    /// One word for metrics and for logs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Conflict { .. } => "conflict",
            Self::Gone { .. } => "gone",
            Self::Refused { .. } => "refused",
            Self::Unknown { .. } => "unknown",
            Self::Unreadable { .. } => "unreadable",
        }
    }
}
