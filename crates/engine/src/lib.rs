//! The pure decisions of Sluice: what is and what is wanted go in, what to do comes out.
//!
//! Nothing here does I/O, reads a clock, draws a random number or can block. The same functions run
//! in the operator, in a rehearsal on a virtual clock, and in thousands of fault simulations.
//!
//! In reading order: the facts ([`world`]), what is remembered ([`status`]), what comes out
//! ([`decision`]), what tells kinds of workload apart ([`nature`]), what account, budget and movers stand
//! on ([`ground`]), the account of Pods that everything is checked on ([`account`]), who says no
//! ([`budget`]), how far a rollout may be ([`front`]), which write brings it there ([`mover`]).

mod names;
pub mod quantity;
pub mod world;
pub mod status;
pub mod decision;
pub mod nature;
pub mod ground;
pub mod account;
pub mod budget;
pub mod front;
pub mod mover;
pub mod notice;
pub mod admit;
pub mod plan;

pub use front::statefulset_rollout::decide;
