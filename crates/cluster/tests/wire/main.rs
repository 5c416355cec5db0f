//! What goes over the wire, and what is made of the answers: against a far side that is played, on
//! a paused clock.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod acting;
mod caching;
mod coming;
mod disrupting;
mod electing;
mod embedded;
mod far;
mod played;
mod releasing;
mod stepping;
mod telling;
mod watching;
mod writing;
