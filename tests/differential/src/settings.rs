//! What the live tests are told by environment variables, and the one word that all of them say alike.

/// A variable that is set to something.
pub fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// `SLUICE_DIFFERENTIAL_` and this name, as a number.
pub fn number(name: &str) -> Option<u64> {
    setting(&format!("SLUICE_DIFFERENTIAL_{name}")).and_then(|text| text.parse().ok())
}

/// The seeds that are played: `SEED` alone, or as many as `SEEDS` says (12) from `FROM` on.
pub fn seeds() -> std::ops::Range<u64> {
    let from = number("FROM").unwrap_or(0);
    match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => from..from + number("SEEDS").unwrap_or(12),
    }
}

/// Which of so many operations of a seed are played: those that `KEEP` names, or all.
///
/// # Panics
/// When it names anything but numbers.
pub fn kept(operations: usize) -> Vec<usize> {
    match setting("SLUICE_DIFFERENTIAL_KEEP") {
        Some(text) => text.split(',').map(|index| index.parse().expect("a number")).collect(),
        None => (0..operations).collect(),
    }
}

/// How some operations of a seed are played again, by the test of this name.
pub fn again(test: &str, seed: u64, kept: &[usize]) -> String {
    let words: Vec<String> = kept.iter().map(usize::to_string).collect();
    format!(
        "SLUICE_DIFFERENTIAL_SEED={seed} SLUICE_DIFFERENTIAL_KEEP={} cargo test -p differential \
         --test {test} -- --nocapture",
        words.join(",")
    )
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
