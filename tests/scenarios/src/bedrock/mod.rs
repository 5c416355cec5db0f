//! Scenarios of `StatefulsetRollout`, one file a theme.

pub(crate) mod published;
pub(crate) mod target;
pub(crate) mod order;
pub(crate) mod budget;
pub(crate) mod pause;
pub(crate) mod failure;
pub(crate) mod rollback;
pub(crate) mod scaling;
pub(crate) mod adoption;
pub(crate) mod deletion;
pub(crate) mod leak;
pub(crate) mod prevent;
pub(crate) mod identity;
pub(crate) mod claim;
pub(crate) mod discovery;
pub(crate) mod status;
pub(crate) mod bad_input;
pub(crate) mod admission;
