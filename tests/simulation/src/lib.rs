//! The whole operator on the embedded cluster, in virtual time, with seeded faults.
//!
//! [`harness`] starts cluster and operator; [`witness`] writes down every request of the operator and
//! has each write judged; [`pods`] says what is judged alike; [`stage`] is where a user, faults and crashes play. For each side,
//! [`bedrock`] and [`batches`], the same four: what the cluster's store says (`facts`), what a user
//! does, drawn from a seed (`script`), what a write must keep (`judge`), and all of it put together
//! (`play`).

pub mod harness;
pub mod witness;
pub mod pods;
pub mod stage;
pub mod bedrock;
pub mod batches;

pub use harness::{Harness, Operator, in_virtual_time, send, wait_for};
pub use stage::{Report, Trouble};
