//! The loop: which rollout is looked at next, one look after another, and who may write at all.
//!
//! In reading order: the [`queue`]; what is remembered between two looks ([`memory`]); what the loop
//! is handed (`context`); one look (`pass`: observe, decide, write the status, act); the loop around
//! it ([`run()`]); and the [`admission`] service, which decides by the same engine. Clock, client and
//! randomness are handed in, so that the whole operator replays exactly from a seed.

pub mod queue;
pub mod memory;
pub mod metrics;
mod gates;
mod context;
mod outbox;
mod pass;
mod run;
pub mod admission;

pub use context::{Attention, Context, Settings};
pub use gates::Gates;
pub use metrics::Metrics;
pub use run::{Lost, run};
