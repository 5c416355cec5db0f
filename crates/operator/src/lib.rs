//! The process around the controller: flags, certificates, lease, metrics, health, signals.
//!
//! [`run`] serves until its `shutdown` argument resolves; it reads no signal itself. The binary
//! hands it [`signals::shutdown`].

mod error;
mod run;
pub mod flags;
pub mod logs;
pub mod signals;

mod client;
mod identity;
mod election;
mod patience;
pub mod probes;
pub mod ready;

mod admission;
mod certificates;
mod https;
mod servers;
mod stopping;
mod registration;
mod standing;

pub mod permissions;
pub mod manifests;

pub use error::Error;
pub use flags::Flags;
pub use run::run;
