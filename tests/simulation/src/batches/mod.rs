//! Plays of a `Rollout` and its `BatchRelease`.

pub mod kind;
pub mod facts;
pub mod script;
pub mod judge;
pub mod play;
pub mod bench;

pub use play::{play, play_script};
