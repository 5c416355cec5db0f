//! The demo: an embedded cluster, the operator in the same process, and one rollout step by step.

mod operator;
mod script;
mod view;

pub use operator::operator;
pub use script::{NAME, install, play};
