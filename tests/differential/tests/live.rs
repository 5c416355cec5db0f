//! Both clusters at once, where `SLUICE_CONTROLPLANE` names the binary of a real control plane.
//!
//! `SLUICE_DIFFERENTIAL_ONLY` picks sequences by a part of their name.

use std::path::PathBuf;

use differential::plane::{BINARY, Plane};
use differential::run::run;
use differential::sequences;
use futures::StreamExt;

fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[test]
fn both_clusters_answer_alike() {
    let Some(binary) = setting(BINARY) else {
        println!("{BINARY} names no control plane: the embedded cluster is compared with none");
        return;
    };
    let plane =
        Plane::up(&PathBuf::from(binary)).expect("the control plane that is named comes up");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let failed = runtime.expect("a runtime").block_on(written(&plane));
    assert!(failed.is_empty(), "answered differently: {failed:?}");
}

/// The sequences written by hand; returns the names of those that were answered differently.
async fn written(plane: &Plane) -> Vec<&'static str> {
    let client = plane.client().await;
    let only = setting("SLUICE_DIFFERENTIAL_ONLY").unwrap_or_default();
    let chosen = sequences::all().into_iter().filter(|(name, _)| name.contains(&only));
    let runs = chosen.enumerate().map(|(index, (name, steps))| {
        let client = client.clone();
        async move { (name, run(&client, &format!("w{index}"), &steps, true).await, steps) }
    });
    let mut runs = futures::stream::iter(runs).buffer_unordered(12);
    let mut failed = Vec::new();
    while let Some((name, differences, steps)) = runs.next().await {
        println!(
            "{} {name}: {} steps",
            if differences.is_empty() { "ok    " } else { "FAILED" },
            steps.len()
        );
        for difference in &differences {
            println!("  step {}: {}", difference.step, steps[difference.step]);
            for line in &difference.lines {
                println!("    {line}");
            }
        }
        if !differences.is_empty() {
            failed.push(name);
        }
    }
    failed
}
