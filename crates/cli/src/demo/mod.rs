//! The demo: an embedded cluster, the operator in the same process, and one rollout step by step.

mod operator;
mod script;
mod view;

pub(crate) use operator::operator;
pub(crate) use script::{NAME, install, play};
