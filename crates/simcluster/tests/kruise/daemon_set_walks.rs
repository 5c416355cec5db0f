//! Whatever has been done to an Advanced DaemonSet, it comes to what its spec says in the end, and no
//! moment of an update breaks a bound.

use fastrand::Rng;
use simcluster::json::{Value, json};
use simcluster::object::{Key, PODS, name};

use crate::daemon_sets::{agent, image, images, number, rolling, with};
use crate::lab::Lab;

/// What a walk does, one after another, with a moment or a rest between.
const STEPS: usize = 12;

fn amount(rng: &mut Rng) -> Value {
    if rng.bool() { rng.i64(0..=5).into() } else { format!("{}%", rng.i64(0..=100)).into() }
}

fn any(rng: &mut Rng, lab: &Lab) {
    let pods = lab.pods();
    let pod = (!pods.is_empty()).then(|| name(&pods[rng.usize(..pods.len())]).to_owned());
    let strategy = |field: &str, value: Value| {
        lab.edit(&agent(), |set| rolling(set)[field] = value);
    };
    match (rng.u8(0..9), pod) {
        (0..=2, _) => {
            let images = ["app:v1", "app:v2", "app:v3", "app:broken", "app:crash"];
            image(lab, images[rng.usize(..5)]);
        }
        (3, _) => strategy("partition", amount(rng)),
        (4, _) => strategy("maxUnavailable", amount(rng)),
        (5, _) => strategy("maxSurge", amount(rng)),
        (6, _) => {
            let types = ["Standard", "InPlaceIfPossible"];
            strategy("rollingUpdateType", types[rng.usize(..2)].into());
            strategy("paused", rng.bool().into());
        }
        (_, Some(pod)) => lab.delete(&Key::new(PODS, "default", &pod)),
        (_, None) => {}
    }
}

#[test]
fn every_walk_ends_where_the_spec_says() {
    for seed in 0..20 {
        let rng = &mut Rng::with_seed(seed);
        let mut lab = with(|_| {});
        for _ in 0..STEPS {
            any(rng, &lab);
            match rng.u8(0..3) {
                0 => lab.pass(60),
                1 => lab.pass(1),
                _ => (0..rng.usize(1..30)).for_each(|_| lab.step()),
            }
        }
        let bounds = [
            json!({"maxUnavailable": 1}),
            json!({"maxUnavailable": 2, "rollingUpdateType": "InPlaceIfPossible"}),
            json!({"maxSurge": 1, "maxUnavailable": 0}),
        ];
        lab.edit(&agent(), |set| *rolling(set) = bounds[rng.usize(..3)].clone());
        image(&lab, "app:v9");
        lab.pass(900);
        let said = format!("seed {seed}: {:#}", lab.get(&agent()).unwrap());
        assert_eq!(images(&lab), "v9 v9 v9 v9", "{said}");
        let counts = ["desiredNumberScheduled", "updatedNumberScheduled", "numberAvailable"];
        assert_eq!(counts.map(|count| number(&lab, count)), [4; 3], "{said}");
    }
}

#[test]
fn no_moment_of_an_update_breaks_a_bound() {
    for seed in 0..20 {
        let rng = &mut Rng::with_seed(seed);
        let partition = rng.usize(0..=4);
        let (most, surge) = [(1, 0), (2, 0), (4, 0), (0, 1), (0, 3)][rng.usize(..5)];
        let type_ = if rng.bool() && surge == 0 { "InPlaceIfPossible" } else { "Standard" };
        let strategy = json!({
            "partition": partition, "maxUnavailable": most, "maxSurge": surge,
            "rollingUpdateType": type_,
        });
        let mut lab = with(|set| *rolling(set) = strategy.clone());
        image(&lab, "app:v2");
        for _ in 0..600 {
            lab.step();
            let pods = lab.pods();
            let ready = pods.iter().filter(|pod| {
                let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
                conditions.into_iter().any(|one| one["type"] == "Ready" && one["status"] == "True")
            });
            let ready = ready.count();
            let new = images(&lab).matches("v2").count();
            let said = format!("seed {seed}, {strategy}: {ready} serve, {}", images(&lab));
            assert!(ready + most >= 4 && pods.len() <= 4 + surge, "{said}");
            assert!(new + partition <= 4, "{said}");
        }
        let expect = [vec!["v1"; partition], vec!["v2"; 4 - partition]].concat().join(" ");
        assert_eq!(images(&lab), expect, "seed {seed}, {strategy}");
    }
}
