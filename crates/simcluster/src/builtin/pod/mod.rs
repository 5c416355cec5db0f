//! Pods and Pod templates.

mod container;
mod defaults;
mod update;
mod validate;
mod warn;

pub(in crate::builtin) use defaults::set;
pub(super) use defaults::{admit, default_pod, default_template};
pub(super) use update::{validate_ephemeral, validate_update};
pub(super) use validate::{validate_spec, validate_template};
pub(super) use warn::warnings;
