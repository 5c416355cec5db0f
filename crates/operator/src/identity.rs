//! Who this process is among the replicas.

use jiff::Timestamp;

/// A name that no other process bears: the machine's (in a Pod: the Pod's), and something of this
/// start, since a container that is restarted keeps the name of its Pod.
pub(crate) fn identity(now: Timestamp) -> String {
    // Not from the environment: shells know HOSTNAME but do not always pass it on.
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = host.trim();
    let host = if host.is_empty() { "sluice" } else { host };
    format!("{host}_{:x}-{:x}", now.as_millisecond(), std::process::id())
}

/// A number for spreading pauses; differs between replicas.
pub(crate) fn seed(identity: &str) -> u64 {
    // FNV-1a: any spread will do, and std's hasher promises nothing between versions.
    identity.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_that_is_restarted_is_somebody_else() {
        let at = |second| identity(Timestamp::from_second(second).unwrap());
        assert_ne!(at(1), at(2));
        assert_ne!(seed(&at(1)), seed(&at(2)));
    }
}
