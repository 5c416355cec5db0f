//! Faults on a real control plane: the operator as a process, with the promises asserted from a watch
//! that is none of its own.
//!
//! `SLUICE_CONTROLPLANE` names the binary that `tests/controlplane/build.sh` makes; without it nothing
//! is tried. `SLUICE_BIN` names the binary of the operator (`target/debug/sluice`).
//! `SLUICE_FAULTS_SEED` plays one seed, `SLUICE_FAULTS_ONLY` the troubles with one of these words, with commas
//! between them, in their name.

mod operator;
mod plane;
mod play;
mod proxy;
mod witness;

use std::path::{Path, PathBuf};

use plane::Plane;
use play::Ending;

#[test]
fn every_promise_is_kept_whatever_part_of_the_cluster_fails() {
    let Some(controlplane) = setting("SLUICE_CONTROLPLANE") else {
        println!("SLUICE_CONTROLPLANE is not set: no faults on a real control plane");
        return;
    };
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/debug/sluice");
    let sluice = setting("SLUICE_BIN").map_or(built, PathBuf::from);
    assert!(sluice.is_file(), "{}: build it first (`cargo build -p cli`)", sluice.display());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let failed = runtime.expect("a runtime").block_on(run(controlplane.into(), sluice));
    assert!(failed.is_empty(), "{} plays failed:\n{}", failed.len(), failed.join("\n"));
}

fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

async fn run(controlplane: PathBuf, sluice: PathBuf) -> Vec<String> {
    let seed = setting("SLUICE_FAULTS_SEED").map(|seed| seed.parse().expect("a number"));
    let only = setting("SLUICE_FAULTS_ONLY").unwrap_or_default().to_lowercase();
    let mut plane = Plane::up(controlplane, &sluice).await;
    let mut failed = Vec::new();
    for (number, trouble) in (1..).zip(play::ALL) {
        let name = format!("{trouble:?}");
        if !only.is_empty() && !only.split(',').any(|part| name.to_lowercase().contains(part)) {
            continue;
        }
        let seed = seed.unwrap_or(number);
        let began = tokio::time::Instant::now();
        let mut ending = play::play(&plane, &sluice, trouble, seed, 1).await;
        if ending.broken.is_empty() && !ending.late.is_empty() {
            // It has kept its promises but not come to its end in time, which a busy machine does too.
            println!("late    {name}, seed {seed}, {:.0?}: {ending:?}", began.elapsed());
            println!("second try: {name}, seed {seed}");
            ending = play::play(&plane, &sluice, trouble, seed, 2).await;
        }
        let Ending { broken, late, deeds } = ending;
        let wrong: Vec<String> = broken.into_iter().chain(late).collect();
        let verdict = if wrong.is_empty() { "ok" } else { "FAILED" };
        println!("{verdict:7} {name}, seed {seed}, {:.0?}: {deeds}", began.elapsed());
        if !wrong.is_empty() {
            let again = format!(
                "SLUICE_FAULTS_SEED={seed} SLUICE_FAULTS_ONLY={name} \
                 cargo test -p scenarios --test faults -- --nocapture"
            );
            println!("        {}\n        replay: {again}", wrong.join("\n        "));
            println!("        logs: {}", plane.keep_logs().display());
            failed.push(format!("{name}, seed {seed}: {wrong:?}; replay: {again}"));
        }
    }
    failed
}
