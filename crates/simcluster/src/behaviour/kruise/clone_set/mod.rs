//! The CloneSet controller.

pub mod history;

/// The kind, as owner references name it.
pub const KIND: &str = "CloneSet";
