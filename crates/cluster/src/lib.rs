//! Between the engine and the API server: watches that feed trimmed caches, worlds read from them,
//! and the writes that decisions ask for.
//!
//! Reading order: [`watch`] feeds [`caches`]; [`observe`] makes a world of them; [`act`] carries out
//! an action by way of [`apply`], [`evict`] and [`delete`]; [`status`] writes what was decided;
//! [`events`] tells people; [`lease`] says who may do all that. Nothing here decides.

pub mod backoff;
pub mod clock;
pub mod delete;
pub mod error;
pub mod evict;
pub mod key;
pub mod watch;
pub mod wire;

pub use clock::Clock;
pub use error::Error;
pub use key::Key;
