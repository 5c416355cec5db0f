//! Seeds of whole releases in batches: every promise is kept, and a seed is the same play every time.
//!
//! Replay one by hand: `cargo xtask simulate --batches --seed N --log`.

use simcluster::fault::When;
use simcluster::json::json;
use simulation::batches::kind::{KRUISE, Kind, NATIVE};
use simulation::batches::script::{Script, Start, Step};
use simulation::batches::{play, play_script};
use simulation::{Report, Trouble, in_virtual_time};

/// Faults come at this rate of each kind.
const RATE: f64 = 0.02;

fn check(seeds: std::ops::Range<u64>, kinds: &'static [Kind]) {
    for seed in seeds {
        let report = in_virtual_time(play(seed, kinds, Trouble::Rate(seed, RATE)));
        assert!(
            report.broken.is_empty(),
            "seed {seed} broke a promise: {:#?}\nreplay: cargo xtask simulate --batches --seed {seed} --log{}",
            report.broken,
            if kinds[0].is_kruise() { " --kruise" } else { "" }
        );
    }
}

/// A shard of the seeds; shards run beside each other, and are small, so that no core waits long for the last.
macro_rules! shards {
    ($($name:ident: $seeds:expr, $kinds:expr;)*) => {
        $(#[test] fn $name() { check($seeds, $kinds); })*
    };
}

shards! {
    seeds_0_to_39_keep_every_promise: 0..40, &NATIVE;
    seeds_40_to_79_keep_every_promise: 40..80, &NATIVE;
    seeds_80_to_119_keep_every_promise: 80..120, &NATIVE;
    seeds_120_to_159_keep_every_promise: 120..160, &NATIVE;
    seeds_160_to_199_keep_every_promise: 160..200, &NATIVE;
    seeds_200_to_239_keep_every_promise: 200..240, &NATIVE;
    seeds_240_to_279_keep_every_promise: 240..280, &NATIVE;
    seeds_280_to_319_keep_every_promise: 280..320, &NATIVE;
    seeds_0_to_39_keep_every_promise_on_kruise: 0..40, &KRUISE;
    seeds_40_to_79_keep_every_promise_on_kruise: 40..80, &KRUISE;
    seeds_80_to_119_keep_every_promise_on_kruise: 80..120, &KRUISE;
    seeds_120_to_159_keep_every_promise_on_kruise: 120..160, &KRUISE;
}

#[test]
fn the_same_seed_is_the_same_play_to_the_byte() {
    for (seed, kinds) in [(3, &NATIVE), (17, &NATIVE), (41, &NATIVE), (3, &KRUISE), (17, &KRUISE)] {
        let run = || in_virtual_time(play(seed, kinds, Trouble::Rate(seed, RATE)));
        assert_eq!(run().log, run().log, "seed {seed}");
    }
}

/// A short release: one Pod, an approval, the rest.
fn short(kind: &'static str) -> Script {
    let kind = Kind::named(kind).expect("a kind");
    let strategy = match kind.name {
        "StatefulSet" => json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}),
        "CloneSet" => json!({"type": "ReCreate", "maxUnavailable": 1}),
        "AdvancedStatefulSet" | "AdvancedDaemonSet" => {
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}})
        }
        _ => {
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}})
        }
    };
    let start = Start {
        kind,
        replicas: 3,
        management: "Parallel",
        strategy,
        budget: None,
        min_ready: 0,
        steps: json!([{"replicas": 1, "pause": {}}, {"replicas": "100%"}]),
        back_in_batches: false,
        rollout_id: false,
        standby: false,
    };
    let steps =
        vec![Step::Roll("app:v2".to_owned()), Step::Wait(20), Step::Approve, Step::Wait(20)];
    Script { start, steps, last_image: "app:v2".to_owned(), last_replicas: 3 }
}

/// Crashes the operator before and after each of its writes, one play each.
fn check_crashes(kind: &'static str) {
    let run =
        |trouble: Trouble| -> Report { in_virtual_time(play_script(1, &short(kind), trouble)) };
    let calm = run(Trouble::None);
    assert!(calm.broken.is_empty(), "{:#?}", calm.broken);
    let writes = calm.writes_until_done();
    assert!(writes > 10, "a release takes more than {writes} writes");
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
fn a_crash_at_any_write_loses_nothing_of_a_deployment() {
    check_crashes("Deployment");
}

#[test]
fn a_crash_at_any_write_loses_nothing_of_a_statefulset() {
    check_crashes("StatefulSet");
}

#[test]
fn a_crash_at_any_write_loses_nothing_of_a_daemonset() {
    check_crashes("DaemonSet");
}

#[test]
fn a_crash_at_any_write_loses_nothing_of_a_cloneset() {
    check_crashes("CloneSet");
}

#[test]
fn a_crash_at_any_write_loses_nothing_of_an_advanced_statefulset() {
    check_crashes("AdvancedStatefulSet");
}

#[test]
fn a_crash_at_any_write_loses_nothing_of_an_advanced_daemonset() {
    check_crashes("AdvancedDaemonSet");
}
