//! Sessions with a stock `kubectl`: the same commands on both clusters, and the same transcript.
//!
//! A session is a file of `kubectl/`: the commands, and below each what the real cluster says to it.
//! So the file is the script and the fixture in one.

pub mod allowed;
pub mod cluster;
pub mod normal;
pub mod play;
pub mod script;
