//! The pure decisions of Sluice: what is and what is wanted go in, what to do comes out.
//!
//! Nothing here does I/O, reads a clock, draws a random number or can block. The same functions run
//! in the operator, in a rehearsal on a virtual clock, and in thousands of fault simulations.

pub mod quantity;
pub mod world;
pub mod status;
pub mod decision;
