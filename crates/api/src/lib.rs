//! The custom resources that Sluice serves, and their way into and out of engine values.
//!
//! Reading order: [`bedrock`] holds the group `bedrock.operator.slack.com` (types, desired
//! StatefulSet, validation, conversion), [`batches`] the group `rollouts.kruise.io`; [`crds`] lists what a cluster has to know; [`parse`] reads
//! YAML; [`finding`] is how validation speaks. No client and no clock lives here.

pub mod batches;
pub mod bedrock;
pub mod canonical;
pub mod crds;
pub mod finding;
pub mod parse;
pub mod structural;

pub use crds::{crds, crds_converted_by, generated_files, to_yaml};
pub use finding::{Finding, Severity};
pub use parse::{ParseError, parse};
