//! The whole operator on the embedded cluster, in virtual time, with seeded faults.
//!
//! [`harness`] starts cluster and operator; [`script`] says what a user does, drawn from a seed;
//! [`witness`] holds every write of the operator against the promises, by what the cluster's store
//! ([`facts`]) says; [`play`] puts it together.

pub mod harness;
pub mod facts;
pub mod witness;
pub mod script;
pub mod play;
pub mod bench;

pub use harness::{Harness, Operator, in_virtual_time, send, wait_for};
pub use play::{Report, Trouble, play};
