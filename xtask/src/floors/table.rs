//! The floors: the one table of which crate stands where and what it must not hold.

/// One crate of `crates/`, and the walls around it.
#[derive(Debug)]
pub(crate) struct Floor {
    pub(crate) name: &'static str,
    /// A crate may use crates of lower floors only.
    pub(crate) floor: u8,
    pub(crate) holds: &'static str,
    /// Crates that may not be in its graph, however far away.
    pub(crate) must_not_reach: &'static [&'static str],
    /// Crates that may not be named in its own `Cargo.toml`.
    pub(crate) must_not_name: &'static [&'static str],
    /// Words that may not stand in its source, comments and test modules aside.
    pub(crate) must_not_say: &'static [&'static str],
}

/// Highest floor first, as the picture shows them.
pub(crate) const FLOORS: &[Floor] = &[
    Floor {
        name: "cli",
        floor: 5,
        holds: "the sluice binary: one file per command",
        must_not_reach: &["aws-lc-rs", "openssl"],
        must_not_name: &[],
        must_not_say: &[],
    },
    Floor {
        name: "operator",
        floor: 4,
        holds: "the process: flags, TLS, lease, metrics, health, signals",
        must_not_reach: &["simcluster", "aws-lc-rs", "openssl"],
        // Decisions are made below.
        must_not_name: &["engine"],
        must_not_say: &[],
    },
    Floor {
        name: "controller",
        floor: 3,
        holds: "the loop over an ordered queue, the admission service",
        must_not_reach: &["clap", "axum", "simcluster", "aws-lc-rs"],
        must_not_name: &["hyper", "hyper-util", "rustls", "tokio-rustls"],
        must_not_say: &["std::net", "tokio::net", "std::env", "HashMap", "HashSet"],
    },
    Floor {
        name: "cluster",
        floor: 2,
        holds: "observe and act: watches, caches, evictions, events, lease",
        must_not_reach: &["axum", "clap", "simcluster", "aws-lc-rs"],
        must_not_name: &[],
        must_not_say: &["std::net", "tokio::net", "std::env"],
    },
    Floor {
        name: "api",
        floor: 1,
        holds: "the custom resources, into and out of engine values",
        must_not_reach: &["kube-client", "kube-runtime", "tokio", "hyper", "axum"],
        must_not_name: &[],
        must_not_say: &["HashMap", "HashSet", "Timestamp::now"],
    },
    Floor {
        name: "engine",
        floor: 0,
        holds: "pure decisions: world in, decision out",
        must_not_reach: &[
            "tokio",
            "kube",
            "kube-core",
            "k8s-openapi",
            "http",
            "hyper",
            "axum",
            "serde_json",
            "tracing",
            "fastrand",
            "rand",
            "getrandom",
        ],
        must_not_name: &[],
        must_not_say: &[
            "HashMap",
            "HashSet",
            "Timestamp::now",
            "Zoned::now",
            "SystemTime",
            "Instant",
            "std::env",
            "std::fs",
            "std::io",
            "std::net",
            "std::thread",
            "println!",
            "async fn",
        ],
    },
    Floor {
        name: "simcluster",
        floor: 0,
        holds: "an in-process Kubernetes API server and its controllers",
        must_not_reach: &["kube", "kube-client", "kube-runtime", "aws-lc-rs"],
        must_not_name: &[],
        must_not_say: &["Timestamp::now", "SystemTime", "std::time::Instant", "thread::spawn"],
    },
];
