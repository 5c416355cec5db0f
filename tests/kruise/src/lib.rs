//! Controllers of the embedded cluster, driven through the API of a real server.
//!
//! A real control plane has no Kruise. `simcluster` has its controllers as pure steps
//! (`simcluster::behaviour`), and a step cares little where its picture comes from: here it is kept
//! by watches ([`picture`]), and what a step wants is sent as requests ([`carry`]). So the same rules
//! stand behind CloneSets on both clusters, and what is found on the real one is true of the embedded.
//!
//! [`Driver`] never looks at a key before its picture shows what the last look at it wrote: a Pod whose
//! name is drawn by chance would be made twice.

pub mod carry;
pub mod clock;
pub mod driver;
pub mod install;
pub mod picture;
pub mod resource;
pub mod watch;

pub use driver::{Driver, Failure};
