//! Both clusters at once, where `SLUICE_CONTROLPLANE` names the binary of a real control plane.
//!
//! `SLUICE_DIFFERENTIAL_ONLY` picks written sequences by a part of their name (`-` for none);
//! `SLUICE_DIFFERENTIAL_SEEDS` says how many seeds are played (12), `SLUICE_DIFFERENTIAL_FROM` where
//! they begin (0); `SLUICE_DIFFERENTIAL_SEED` plays a single one, `SLUICE_DIFFERENTIAL_KEEP=0,3,5`
//! only these of its operations. `SLUICE_DIFFERENTIAL_AT_ONCE` says how many are played side by side
//! (12), `SLUICE_DIFFERENTIAL_KUBECONFIG` names a control plane that is up
//! already, and `SLUICE_DIFFERENTIAL_RUN` a word for the names of this run's namespaces on it.

use differential::compared::{Difference, tell};
use differential::grammar::{operations, whole};
use differential::plane::Plane;
use differential::run::run;
use differential::sequences;
use differential::settings::{self, ONCE, at_once, kept, number, seeds, setting};
use differential::shrink::shrink;
use differential::step::Step;
use futures::StreamExt;
use kube::Client;

/// How many of those that failed run at once.
const AGAIN_AT_ONCE: usize = 4;

#[test]
fn both_clusters_answer_alike() {
    let Some(plane) = Plane::named() else { return };
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
    assert!(failed.is_empty(), "answered differently: {failed:?}");
}

/// The sequences written by hand; returns the names of those that were answered differently.
async fn written(client: &Client) -> Vec<String> {
    let only = setting("SLUICE_DIFFERENTIAL_ONLY").unwrap_or_default();
    let chosen =
        sequences::all().into_iter().filter(|(name, _)| only != "-" && name.contains(&only));
    let runs = chosen.enumerate().map(|(index, (name, steps))| async move {
        let differences = run(client, &format!("w{index}"), &steps, true).await;
        tell_one(name, steps.len(), &differences);
        (index, name, steps, differences)
    });
    let runs: Vec<_> = futures::stream::iter(runs).buffer_unordered(at_once()).collect().await;
    // Only now, with little else going on.
    let again = runs.into_iter().filter(|run| !run.3.is_empty()).map(|run| async move {
        let (index, name, steps, first) = run;
        let second = run_again(client, index, &steps).await;
        println!("FAILED {name}");
        tell(&steps, &first);
        if second.is_empty() {
            println!("  {ONCE}");
            return None;
        }
        Some(name.to_owned())
    });
    let failed: Vec<_> =
        futures::stream::iter(again).buffer_unordered(AGAIN_AT_ONCE).collect().await;
    failed.into_iter().flatten().collect()
}

async fn run_again(client: &Client, index: usize, steps: &[Step]) -> Vec<Difference> {
    run(client, &format!("w{index}-again"), steps, true).await
}

fn tell_one(name: &str, length: usize, differences: &[Difference]) {
    if differences.is_empty() {
        println!("ok     {name}: {length} steps");
    }
}

/// The sequences drawn from seeds; a failing one is made short.
async fn drawn(client: &Client) -> Vec<String> {
    let runs = seeds().map(|seed| async move {
        let all = kept(operations(seed).len());
        let (steps, differences) = play(client, seed, &all, 0).await;
        tell_one(&format!("seed {seed}"), steps.len(), &differences);
        if let Some(first) = differences.first() {
            println!("differs seed {seed}, step {}: {}", first.step, first.lines.join("\n    "));
        }
        (seed, all, steps, differences)
    });
    let runs: Vec<_> = futures::stream::iter(runs).buffer_unordered(at_once()).collect().await;
    // Only now, with nothing else going on: their steps have to be few, and played alike.
    let failing = runs.into_iter().filter(|run| !run.3.is_empty()).map(|run| async move {
        let (seed, all, steps, first) = run;
        if play(client, seed, &all, 1).await.1.is_empty() {
            println!("FAILED seed {seed}");
            tell(&steps, &first);
            println!("  {ONCE}");
            return None;
        }
        let mut attempt = 1;
        let short = shrink(all, 40, |kept| {
            attempt += 1;
            async move { !play(client, seed, &kept, attempt).await.1.is_empty() }
        });
        let kept = short.await;
        let (short, again) = play(client, seed, &kept, 1_000).await;
        println!("FAILED seed {seed}; again: {}", settings::again("live", seed, &kept));
        if again.is_empty() {
            tell(&steps, &first);
        } else {
            tell(&short, &again);
        }
        Some(format!("seed {seed}"))
    });
    let failed: Vec<_> =
        futures::stream::iter(failing).buffer_unordered(AGAIN_AT_ONCE).collect().await;
    failed.into_iter().flatten().collect()
}

/// Plays some operations of a seed in a namespace of their own.
async fn play(
    client: &Client,
    seed: u64,
    kept: &[usize],
    attempt: u32,
) -> (Vec<Step>, Vec<Difference>) {
    let all = operations(seed);
    let chosen: Vec<_> = kept.iter().filter_map(|&index| all.get(index).cloned()).collect();
    let steps = whole(seed, &chosen);
    let differences = run(client, &format!("s{seed}-{attempt}"), &steps, false).await;
    (steps, differences)
}
