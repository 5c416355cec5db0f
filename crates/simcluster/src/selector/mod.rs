//! Label and field selectors: parsed as the server parses them, in its words when it refuses.

mod field;
mod label;

pub use field::{FieldSelector, supported_fields};
pub use label::{LabelSelector, Requirement};

/// A selector that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelectorError(pub String);
