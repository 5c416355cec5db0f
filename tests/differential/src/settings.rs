//! What the live tests are told by environment variables, and the one word that all of them say alike.

/// A variable that is set to something.
pub fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// `SLUICE_DIFFERENTIAL_` and this name, as a number.
pub fn number(name: &str) -> Option<u64> {
    setting(&format!("SLUICE_DIFFERENTIAL_{name}")).and_then(|text| text.parse().ok())
}

/// The embedded cluster does the same each time: so what differs once and not again, with nothing
/// else going on, came from the time that the real one took.
pub const ONCE: &str = "but not when it was played again: it doesn't count";
