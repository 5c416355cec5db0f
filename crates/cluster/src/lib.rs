//! Between the engine and the API server: watches that feed trimmed caches, worlds read from them,
//! and the writes that decisions ask for.
//!
//! Reading order: [`watch`] feeds [`caches`]; [`mod@observe`] makes a world of them; [`mod@act`]
//! carries out an action by way of `apply` and [`mod@disrupt`]; [`status`] writes what was decided;
//! [`events`] tells people; [`lease`] and [`elector`] say who may do all that. Nothing here decides.

pub mod act;
mod apply;
pub mod backoff;
pub mod caches;
pub mod clock;
mod concern;
pub mod disrupt;
pub mod elector;
pub mod error;
pub mod events;
pub mod key;
pub mod kind;
pub mod lease;
pub mod observe;
pub mod original;
pub mod seen;
pub mod subject;
pub mod status;
mod definition;
mod table;
pub mod unseen;
pub mod watch;
pub mod wire;
pub mod workload;
pub mod written;

pub use act::{ActReport, GoOn, Hands};
pub use caches::{Caches, Wakes, Why};
pub use clock::Clock;
pub use elector::{Elector, Leadership};
pub use error::Error;
pub use events::{About, Events, Told};
pub use key::Key;
pub use kind::Kind;
pub use lease::Durations;
pub use original::Original;
pub use subject::{Front, Subject, Workload};
pub use unseen::Unseen;
pub use wire::{FIELD_MANAGER, TIME_OUT, chain};
