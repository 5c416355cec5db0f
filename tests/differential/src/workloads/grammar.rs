//! Sequences drawn from a seed.

use fastrand::Rng;
use serde_json::{Value, json};

use super::act::Act;
use super::{DAEMONSETS, DEPLOYMENTS, daemonsets, deployments};
use crate::step::{delete, post};

/// How many operations a seed has.
const LENGTH: usize = 12;

/// The operations of a seed: even ones about a Deployment, odd ones about a DaemonSet.
pub fn operations(seed: u64) -> Vec<Act> {
    let mut rng = Rng::with_seed(seed);
    let draw = match seed % 4 {
        0 | 2 => deployment,
        1 => daemonset,
        _ => following,
    };
    (0..LENGTH).map(|at| draw(&mut rng, at == 0)).collect()
}

fn one_of<T: Clone>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.usize(..all.len())].clone()
}

fn version(rng: &mut Rng) -> &'static str {
    one_of(rng, &["app:v1", "app:v2", "app:v3", "app:v4", "broken:v5", "broken:v6"])
}

/// A number or a percentage.
fn amount(rng: &mut Rng) -> Value {
    let whole = json!(rng.u8(0..4));
    let part = one_of(rng, &["0%", "10%", "25%", "34%", "50%", "100%"]);
    if rng.bool() { whole } else { json!(part) }
}

fn strategy(rng: &mut Rng) -> Value {
    match rng.u8(..4) {
        0 => json!({"type": "Recreate", "rollingUpdate": null}),
        _ => deployments::bounds(amount(rng), amount(rng)),
    }
}

fn deployment(rng: &mut Rng, first: bool) -> Act {
    if first || rng.u8(..14) == 0 {
        let (replicas, strategy) = (rng.u32(0..7), strategy(rng));
        let limit = rng.u8(0..4);
        let object = deployments::deployment(replicas, |spec| {
            spec["strategy"] = strategy;
            spec["revisionHistoryLimit"] = limit.into();
        });
        return post(DEPLOYMENTS, object).into();
    }
    match rng.u8(..20) {
        0..=8 => deployments::image(version(rng)),
        9..=11 => deployments::scale(rng.u32(0..9)),
        12 => deployments::spec(json!({"strategy": strategy(rng)})),
        13..=14 => deployments::spec(json!({"paused": rng.bool()})),
        15..=16 => Act::Lose(rng.usize(..8)),
        17 => Act::Pod(rng.usize(..8), json!({"metadata": {"labels": {"app": "stray"}}})),
        18 => deployments::spec(json!({"revisionHistoryLimit": rng.u8(0..3)})),
        _ => Act::Quietly(delete("/apis/apps/v1/namespaces/$ns/replicasets/$old")),
    }
}

fn daemon_strategy(rng: &mut Rng) -> Value {
    match rng.u8(..4) {
        0 => json!({"type": "OnDelete", "rollingUpdate": null}),
        1 => daemonsets::surge(amount(rng)),
        _ => daemonsets::unavailable(amount(rng)),
    }
}

/// One whose Nodes change is always rolled out to the end: else it would be chance which of its
/// Nodes has which Pod.
fn following(rng: &mut Rng, first: bool) -> Act {
    if first || rng.u8(..14) == 0 {
        let amount = amount(rng);
        let strategy =
            if rng.bool() { daemonsets::surge(amount) } else { daemonsets::unavailable(amount) };
        let object = daemonsets::daemon(|spec| {
            spec["updateStrategy"] = strategy;
            spec["template"]["spec"]["nodeSelector"] = json!({"$ns": "yes"});
        });
        return post(DAEMONSETS, object).into();
    }
    match rng.u8(..16) {
        0..=5 => daemonsets::image(one_of(rng, &["app:v1", "app:v2", "app:v3"])),
        6..=12 => daemonsets::label(rng.u8(..3), json!(one_of(rng, &["yes", "no"]))),
        13..=14 => Act::Lose(rng.usize(..4)),
        _ => Act::Pod(rng.usize(..4), json!({"metadata": {"labels": {"app": "stray"}}})),
    }
}

fn daemonset(rng: &mut Rng, first: bool) -> Act {
    if first || rng.u8(..14) == 0 {
        let (strategy, limit) = (daemon_strategy(rng), rng.u8(0..4));
        let object = daemonsets::daemon(|spec| {
            spec["updateStrategy"] = strategy;
            spec["revisionHistoryLimit"] = limit.into();
        });
        return post(DAEMONSETS, object).into();
    }
    match rng.u8(..18) {
        0..=9 => daemonsets::image(version(rng)),
        10..=11 => daemonsets::spec(json!({"updateStrategy": daemon_strategy(rng)})),
        12..=15 => Act::Lose(rng.usize(..4)),
        16 => Act::Pod(rng.usize(..4), json!({"metadata": {"labels": {"app": "stray"}}})),
        _ => daemonsets::spec(json!({"revisionHistoryLimit": rng.u8(0..3)})),
    }
}
