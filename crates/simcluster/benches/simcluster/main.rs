//! How long the embedded cluster takes for what is asked of it most.
//!
//! `cargo bench -p simcluster`, or with a part of a name: `cargo bench -p simcluster -- list`. No
//! network, no clock but criterion's, and every cluster is made from the same seed.

mod behaviours;
mod core;
mod fixture;
mod requests;

use std::time::Duration;

use criterion::Criterion;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    requests::all(&mut criterion);
    core::all(&mut criterion);
    behaviours::all(&mut criterion);
    criterion.final_summary();
}
