//! The demos: an embedded cluster, the operator in the same process, and one rollout step by step.
//!
//! Each story is a folder of one shape: `play` does what a user would do, `view` is what is shown of it.

pub(crate) mod batches;
mod installed;
mod operator;
pub(crate) mod percent;
mod stage;
mod words;

use std::time::Duration;

pub(crate) use installed::install;
pub(crate) use operator::operator;

/// How long one step may take; none takes a tenth of it on a slow machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Time between two looks.
const EVERY: Duration = Duration::from_millis(250);
