//! Scenarios of the group `rollouts.kruise.io`, one file a theme.

pub(crate) mod changes;
pub(crate) mod kruise;
pub(crate) mod mishaps;
pub(crate) mod release;
pub(crate) mod scaled;
pub(crate) mod shapes;
pub(crate) mod standstill;
pub(crate) mod steps;
pub(crate) mod users;
