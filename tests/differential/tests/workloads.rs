//! Deployments, ReplicaSets and DaemonSets on both clusters, where `SLUICE_CONTROLPLANE` names the
//! binary of a real control plane. The same variables as in `live.rs` pick what is played.

use std::path::PathBuf;

use differential::plane::{BINARY, Plane};
use differential::run::Difference;
use differential::shrink::shrink;
use differential::workloads::act::Act;
use differential::workloads::grammar::operations;
use differential::workloads::run::run;
use futures::StreamExt;
use kube::Client;

/// How many sequences run at once.
const AT_ONCE: usize = 16;

fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn number(name: &str) -> Option<u64> {
    setting(&format!("SLUICE_DIFFERENTIAL_{name}")).and_then(|text| text.parse().ok())
}

#[test]
fn both_clusters_roll_alike() {
    let Some(binary) = setting(BINARY) else {
        println!("{BINARY} names no control plane: the embedded cluster is compared with none");
        return;
    };
    let plane =
        Plane::up(&PathBuf::from(binary)).expect("the control plane that is named comes up");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let failed = runtime.expect("a runtime").block_on(async {
        let client = plane.client().await;
        let mut failed = match number("SEED") {
            Some(_) => Vec::new(),
            None => written(&client).await,
        };
        failed.extend(drawn(&client).await);
        failed
    });
    assert!(failed.is_empty(), "went differently: {failed:?}");
}

/// The sequences written by hand; returns the names of those that went differently.
async fn written(client: &Client) -> Vec<String> {
    let only = setting("SLUICE_DIFFERENTIAL_ONLY").unwrap_or_default();
    let all = differential::workloads::all().into_iter();
    let chosen = all.filter(|(name, _)| only != "-" && name.contains(&only));
    let runs = chosen.enumerate().map(|(index, (name, acts))| async move {
        (name, run(client, &format!("u{index}"), &acts, true).await, acts)
    });
    let mut runs = futures::stream::iter(runs).buffer_unordered(AT_ONCE);
    let mut failed = Vec::new();
    while let Some((name, differences, acts)) = runs.next().await {
        if differences.is_empty() {
            println!("ok     {name}: {} steps", acts.len());
        } else {
            println!("FAILED {name}");
            tell(&acts, &differences);
            failed.push(name.to_owned());
        }
    }
    failed
}

/// The sequences drawn from seeds; a failing one is made short.
async fn drawn(client: &Client) -> Vec<String> {
    let from = number("FROM").unwrap_or(0);
    let seeds = match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => from..from + number("SEEDS").unwrap_or(12),
    };
    let runs = seeds.map(|seed| async move {
        let all: Vec<usize> = match setting("SLUICE_DIFFERENTIAL_KEEP") {
            Some(text) => text.split(',').map(|index| index.parse().expect("a number")).collect(),
            None => (0..operations(seed).len()).collect(),
        };
        let differences = play(client, seed, &all, 0).await.1;
        (seed, all, differences)
    });
    let mut runs = futures::stream::iter(runs).buffer_unordered(AT_ONCE);
    let mut failed = Vec::new();
    while let Some((seed, all, differences)) = runs.next().await {
        if differences.is_empty() {
            println!("ok     seed {seed}: {} operations", all.len());
            continue;
        }
        let mut attempt = 0;
        let kept = shrink(all, number("TRIES").unwrap_or(16) as usize, |kept| {
            attempt += 1;
            async move { !play(client, seed, &kept, attempt).await.1.is_empty() }
        });
        let kept = kept.await;
        let (acts, again) = play(client, seed, &kept, 1_000).await;
        let words: Vec<String> = kept.iter().map(usize::to_string).collect();
        println!(
            "FAILED seed {seed}; again: SLUICE_DIFFERENTIAL_SEED={seed} SLUICE_DIFFERENTIAL_KEEP={} \
             cargo test -p differential --test workloads -- --nocapture",
            words.join(",")
        );
        tell(&acts, if again.is_empty() { &differences } else { &again });
        failed.push(format!("seed {seed}"));
    }
    failed
}

/// Plays some operations of a seed in a namespace of their own, with a rest after each.
async fn play(
    client: &Client,
    seed: u64,
    kept: &[usize],
    attempt: u32,
) -> (Vec<Act>, Vec<Difference>) {
    let all = operations(seed);
    let chosen = kept.iter().filter_map(|&index| all.get(index).cloned());
    let acts: Vec<Act> = chosen.flat_map(|act| [act, Act::Rest]).collect();
    let differences = run(client, &format!("t{seed}-{attempt}"), &acts, false).await;
    (acts, differences)
}

fn tell(acts: &[Act], differences: &[Difference]) {
    for difference in differences {
        println!("  step {}: {}", difference.step, acts[difference.step]);
        for line in &difference.lines {
            println!("    {line}");
        }
    }
    if let [only] = differences
        && only.step < 15
    {
        println!("  after");
        acts[..only.step].iter().for_each(|act| println!("    {act}"));
    }
}
