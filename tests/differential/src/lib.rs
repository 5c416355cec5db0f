//! The embedded cluster measured against a real control plane: what it answers to the same requests.
//!
//! Recorded (`tests/recorded.rs`): exchanges that a real server had once. Live (`tests/live.rs`):
//! sequences, written by hand and drawn from seeds, on both at once; what the real one answered to the
//! written ones is kept as well (`tests/sequences.rs`). Sessions (`tests/kubectl.rs`):
//! what a stock `kubectl` prints on either. The differences that the first two allow are in
//! [`normal`] and, with a reason each, in [`allowed`]; those of the sessions in [`kubectl`].

pub mod allowed;
pub mod compared;
pub mod grammar;
pub mod kubectl;
pub mod normal;
pub mod plane;
pub mod played;
mod quoted;
pub mod run;
#[allow(clippy::needless_pass_by_value, reason = "steps are written with `json!` in place")]
pub mod sequences;
pub mod settings;
pub mod shrink;
pub mod side;
pub mod step;
#[allow(clippy::needless_pass_by_value, reason = "acts are written with `json!` in place")]
pub mod workloads;
