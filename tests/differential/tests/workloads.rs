//! Deployments, ReplicaSets, DaemonSets and CloneSets on both clusters, where `SLUICE_CONTROLPLANE`
//! names the binary of a real control plane. The same variables as in `live.rs` pick what is played.
//!
//! Kruise is brought to the real one by ourselves: the same controllers, through its API.

use differential::compared::{Difference, tell};
use differential::plane::Plane;
use differential::settings::{self, ONCE, at_once, kept, number, seeds, setting};
use differential::shrink::shrink;
use differential::workloads::act::Act;
use differential::workloads::grammar::operations;
use differential::workloads::run::run;
use futures::StreamExt;
use kube::Client;

#[test]
fn both_clusters_roll_alike() {
    let Some(plane) = Plane::named() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let failed = runtime.expect("a runtime").block_on(async {
        let client = plane.client().await;
        let kruise = kruise::install_all(&client).await.expect("Kruise's definitions are served");
        let played = async {
            let mut failed = match number("SEED") {
                Some(_) => Vec::new(),
                None => written(&client).await,
            };
            failed.extend(drawn(&client).await);
            failed
        };
        tokio::select! {
            biased;
            failed = played => failed,
            ended = kruise.drive(std::future::pending()) => panic!("{ended:?}"),
        }
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
    let mut runs = futures::stream::iter(runs).buffer_unordered(at_once());
    let mut differed = Vec::new();
    while let Some((name, differences, acts)) = runs.next().await {
        if differences.is_empty() {
            println!("ok     {name}: {} steps", acts.len());
        } else {
            println!("FAILED {name}");
            tell(&acts, &differences);
            differed.push((name, acts));
        }
    }
    let mut failed = Vec::new();
    for (index, (name, acts)) in differed.into_iter().enumerate() {
        match run(client, &format!("u{index}-again"), &acts, true).await.is_empty() {
            true => println!("{name}: {ONCE}"),
            false => failed.push(name.to_owned()),
        }
    }
    failed
}

/// The sequences drawn from seeds; a failing one is made short.
async fn drawn(client: &Client) -> Vec<String> {
    let runs = seeds().map(|seed| async move {
        let all = kept(operations(seed).len());
        let differences = play(client, seed, &all, 0).await;
        (seed, all, differences)
    });
    let mut runs = futures::stream::iter(runs).buffer_unordered(at_once());
    let mut differed = Vec::new();
    while let Some((seed, all, differences)) = runs.next().await {
        if differences.is_empty() {
            println!("ok     seed {seed}: {} operations", all.len());
        } else {
            println!("FAILED seed {seed}");
            tell(&steps(seed, &all), &differences);
            differed.push((seed, all));
        }
    }
    // When nothing else runs any more: what waits meanwhile would fail for that.
    let mut failed = Vec::new();
    for (seed, all) in differed {
        if play(client, seed, &all, AGAIN).await.is_empty() {
            println!("seed {seed}: {ONCE}");
            continue;
        }
        shorten(client, seed, all).await;
        failed.push(format!("seed {seed}"));
    }
    failed
}

/// The number of the attempt that plays a whole seed again.
const AGAIN: u32 = 999;

/// Looks for fewer operations that fail as well.
async fn shorten(client: &Client, seed: u64, all: Vec<usize>) {
    let mut attempt = 0;
    let tries = number("TRIES").and_then(|tries| usize::try_from(tries).ok()).unwrap_or(12);
    let kept = shrink(all.clone(), tries, |kept| {
        attempt += 1;
        async move { !play(client, seed, &kept, attempt).await.is_empty() }
    });
    let kept = kept.await;
    if kept == all {
        println!("seed {seed}: no fewer of its operations fail; it may have been chance");
        return;
    }
    println!("seed {seed}, shorter: {}", settings::again("workloads", seed, &kept));
    tell(&steps(seed, &kept), &play(client, seed, &kept, 1_000).await);
}

/// Some operations of a seed, with a rest after each.
fn steps(seed: u64, kept: &[usize]) -> Vec<Act> {
    let all = operations(seed);
    let chosen = kept.iter().filter_map(|&index| all.get(index).cloned());
    chosen.flat_map(|act| [act, Act::Rest]).collect()
}

/// Plays some operations of a seed in a namespace of their own.
async fn play(client: &Client, seed: u64, kept: &[usize], attempt: u32) -> Vec<Difference> {
    run(client, &format!("t{seed}-{attempt}"), &steps(seed, kept), false).await
}
