//! What validation has to say about a manifest: one finding per field, with its path.

use std::fmt;

use serde::Serialize;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Severity {
    /// The object cannot be rolled out as it is; the webhook denies it.
    Error,
    /// The object is accepted, but will do something that its author may not expect, or will block.
    Warning,
}

/// One remark about one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub severity: Severity,
    /// Field path as the API server writes it, such as `spec.statefulset.spec.template`.
    pub path: String,
    /// What is wrong and what to write instead; without the path.
    pub message: String,
}

impl Finding {
    pub fn error(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, path: path.into(), message: message.into() }
    }

    pub fn warning(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, path: path.into(), message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity}: {}: {}", self.path, self.message)
    }
}
