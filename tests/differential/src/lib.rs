//! The embedded cluster measured against a real control plane: what it answers to the same requests.
//!
//! Recorded (`tests/recorded.rs`): exchanges that a real server had once. Live (`tests/live.rs`):
//! sequences, written by hand and drawn from seeds, on both at once. The differences that both allow
//! are in [`normal`] and, with a reason each, in [`allowed`].

pub mod allowed;
pub mod grammar;
pub mod normal;
pub mod plane;
pub mod run;
#[allow(clippy::needless_pass_by_value, reason = "steps are written with `json!` in place")]
pub mod sequences;
pub mod shrink;
pub mod side;
pub mod step;
