//! The black-box suite: one scenario a rule, through the Kubernetes API alone, so that it runs
//! against any cluster.
//!
//! A scenario has a namespace of its own, tells Pods what to do by the words of their image and by
//! annotations alone, and takes nothing for granted about timing but generous limits.

pub mod env;
pub mod kinds;
mod kit;
mod order;
#[macro_use]
mod registry;
mod batches;
mod bedrock;

pub use env::{Env, Failure, Outcome};
pub use order::longest_first;
pub use registry::{Scenario, all};
