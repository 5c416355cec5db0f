//! What the live tests are told by environment variables, and the one word that all of them say alike.

/// A variable that is set to something.
pub fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// `SLUICE_DIFFERENTIAL_` and this name, as a number.
pub fn number(name: &str) -> Option<u64> {
    setting(&format!("SLUICE_DIFFERENTIAL_{name}")).and_then(|text| text.parse().ok())
}

/// How many sequences are played at once, each in a namespace of its own.
///
/// Most of a sequence is waiting for the real cluster to come to rest, so many more than there are
/// cores can run; too many make it so slow that what is looked at isn't at rest yet.
pub fn at_once() -> usize {
    number("AT_ONCE").and_then(|many| usize::try_from(many).ok()).unwrap_or(12).max(1)
}

/// The name of a namespace in this run: `SLUICE_DIFFERENTIAL_RUN` tells it from those that earlier runs
/// left on the same control plane.
pub fn of_this_run(namespace: &str) -> String {
    match setting("SLUICE_DIFFERENTIAL_RUN") {
        Some(run) => format!("{namespace}-{run}"),
        None => namespace.to_owned(),
    }
}

/// The embedded cluster does the same each time: so what differs once and not again, with nothing
/// else going on, came from the time that the real one took.
pub const ONCE: &str = "but not when it was played again: it doesn't count";
