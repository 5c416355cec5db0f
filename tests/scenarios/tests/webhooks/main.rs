//! The webhooks on the embedded cluster, with the operator behind them and with nobody: what is held on its
//! way in, what is refused, what is converted.
//!
//! Beside the registry, as a cluster of one's own is needed to take the webhook away.

mod conversion;
mod gone;
mod held;
mod refused;
mod stage;
