//! Seeds of whole plays: every promise is kept, and a seed is the same play every time.
//!
//! Replay one by hand: `cargo xtask simulate --seed N --log`.

use simcluster::fault::When;
use simulation::bedrock::script::{Script, Start, Step};
use simulation::bedrock::{play, play_script};
use simulation::{Report, Trouble, in_virtual_time};

/// Faults come at this rate of each kind.
const RATE: f64 = 0.02;

fn check(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let report = in_virtual_time(play(seed, Trouble::Rate(seed, RATE)));
        assert!(
            report.broken.is_empty(),
            "seed {seed} broke a promise: {:#?}\nreplay: cargo xtask simulate --seed {seed} --log",
            report.broken
        );
    }
}

/// A shard of the seeds; shards run beside each other.
macro_rules! shards {
    ($($name:ident: $seeds:expr;)*) => {
        $(#[test] fn $name() { check($seeds); })*
    };
}

shards! {
    seeds_0_to_49_keep_every_promise: 0..50;
    seeds_50_to_99_keep_every_promise: 50..100;
    seeds_100_to_149_keep_every_promise: 100..150;
    seeds_150_to_199_keep_every_promise: 150..200;
    seeds_200_to_249_keep_every_promise: 200..250;
    seeds_250_to_319_keep_every_promise: 250..320;
}

#[test]
fn the_same_seed_is_the_same_play_to_the_byte() {
    for seed in [3, 17, 41] {
        let once = in_virtual_time(play(seed, Trouble::Rate(seed, RATE)));
        let again = in_virtual_time(play(seed, Trouble::Rate(seed, RATE)));
        assert_eq!(once.log, again.log, "seed {seed}");
    }
}

/// A short rollout with everything in it: creation, a step, a pause, the rest.
fn short(leak: &'static str) -> Script {
    let start = Start {
        replicas: 4,
        budget: Some(simcluster::json::json!("50%")),
        management: "Parallel",
        leak,
        min_ready: 0,
        interval: 0,
        standby: false,
    };
    let steps = vec![
        Step::Roll { image: "app:v2".to_owned(), percent: 50 },
        Step::Wait(30),
        Step::Pause(10),
        Step::Percent(100),
        Step::Wait(30),
    ];
    Script { start, steps, last_image: "app:v2".to_owned(), last_replicas: 4 }
}

/// Crashes the operator before and after each of its writes, one play each.
fn check_crashes(leak: &'static str) {
    let run =
        |trouble: Trouble| -> Report { in_virtual_time(play_script(1, &short(leak), trouble)) };
    let calm = run(Trouble::None);
    assert!(calm.broken.is_empty(), "{:#?}", calm.broken);
    // The last quarter of an hour is the lease being renewed.
    let lease = |line: &&String| line.contains("/leases");
    let told = calm.log.iter().filter(|line| !lease(line)).count();
    assert!(told > 20, "a rollout takes more than {told} requests");
    let writes = calm.writes_until_done();
    for number in 1..=writes {
        for when in [When::Before, When::After] {
            let report = run(Trouble::Crash(number, when));
            assert!(
                report.broken.is_empty(),
                "a crash {when:?} write {number} broke a promise: {:#?}",
                report.broken
            );
            assert_eq!(report.end, calm.end, "a crash {when:?} write {number}");
        }
    }
}

#[test]
fn a_crash_before_or_after_any_write_loses_nothing() {
    check_crashes("Report");
}

#[test]
fn a_crash_before_or_after_any_write_loses_nothing_under_a_partition() {
    check_crashes("Prevent");
}
