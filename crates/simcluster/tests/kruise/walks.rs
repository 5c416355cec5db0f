//! Whatever has been done to a CloneSet, it comes to what its spec says in the end.

use std::collections::BTreeSet;

use fastrand::Rng;
use simcluster::behaviour::kruise::clone_set::MARK;
use simcluster::json::{Value, json};
use simcluster::object::{self, Object};

use crate::cloned::Cloned;

/// What a walk does, one after another, with a moment or a rest between.
const STEPS: usize = 12;

fn amount(rng: &mut Rng) -> Value {
    match rng.bool() {
        true => rng.i64(0..=7).into(),
        false => format!("{}%", rng.i64(0..=100)).into(),
    }
}

fn any(rng: &mut Rng, cloned: &Cloned) {
    let names = cloned.names();
    let pod = (!names.is_empty()).then(|| names[rng.usize(..names.len())].clone());
    let strategy = |field: &str, value: Value| {
        cloned.lab.edit(&cloned.key, |set| set["spec"]["updateStrategy"][field] = value);
    };
    match (rng.u8(0..9), pod) {
        (0 | 1, _) => {
            let image =
                *rng.choice(&["app:v1", "app:v2", "app:v3", "app:broken", "app:crash"]).unwrap();
            cloned.lab.edit(&cloned.key, |set| {
                set["spec"]["template"]["spec"]["containers"][0]["image"] = image.into();
            });
        }
        (2, _) => {
            let replicas = rng.i64(0..=8);
            cloned.lab.edit(&cloned.key, |set| set["spec"]["replicas"] = replicas.into());
        }
        (3, _) => strategy("partition", amount(rng)),
        (4, _) => strategy("maxUnavailable", amount(rng)),
        (5, _) => strategy("maxSurge", amount(rng)),
        (6, _) => {
            let types = ["ReCreate", "InPlaceIfPossible", "InPlaceOnly"];
            strategy("type", (*rng.choice(&types).unwrap()).into());
            strategy("paused", rng.bool().into());
        }
        (7, Some(pod)) => cloned.lose(&pod),
        (_, Some(pod)) => cloned.label(&pod, MARK, "true"),
        (_, None) => {}
    }
}

/// Whether all is as the spec says it.
#[track_caller]
fn check_settled(cloned: &Cloned, replicas: i64, seed: u64) {
    let set = cloned.lab.get(&cloned.key).unwrap();
    let counts = ["replicas", "updatedReplicas", "availableReplicas", "updatedAvailableReplicas"];
    let counts = counts.map(|field| cloned.status(field));
    assert_eq!(counts, [replicas; 4], "seed {seed}: {set:#}");
    let names: BTreeSet<String> = cloned.names().into_iter().collect();
    assert_eq!(i64::try_from(names.len()).unwrap(), replicas, "seed {seed}");
    for pod in cloned.pods() {
        assert_eq!(pod["spec"]["containers"][0]["image"], "app:v9", "seed {seed}");
        let state = object::label(&pod, "lifecycle.apps.kruise.io/state");
        assert_eq!((state, object::label(&pod, MARK)), (Some("Normal"), None), "seed {seed}");
    }
}

#[test]
fn every_walk_ends_where_the_spec_says() {
    for seed in 0..20 {
        let rng = &mut Rng::with_seed(seed);
        let mut cloned = Cloned::new(&json!({}));
        for _ in 0..STEPS {
            any(rng, &cloned);
            match rng.u8(0..3) {
                0 => cloned.rest(),
                1 => cloned.lab.pass(1),
                _ => (0..rng.usize(1..30)).for_each(|_| cloned.lab.step()),
            }
        }
        let replicas = rng.i64(1..=6);
        let type_ = *rng.choice(&["ReCreate", "InPlaceIfPossible"]).unwrap();
        let (unavailable, surge) = if rng.bool() { (1, 0) } else { (0, 1) };
        cloned.lab.edit(&cloned.key, |set| {
            set["spec"]["replicas"] = replicas.into();
            set["spec"]["updateStrategy"] = json!({
                "type": type_, "partition": 0, "maxUnavailable": unavailable, "maxSurge": surge,
            });
        });
        cloned.image("app:v9");
        cloned.lab.pass(400);
        check_settled(&cloned, replicas, seed);
    }
}

/// Pods that serve, all that are not on their way out, and those with the new image.
fn counts(cloned: &Cloned) -> [usize; 3] {
    let pods = cloned.pods();
    let ready = |pod: &&Object| {
        let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
        conditions.into_iter().any(|one| one["type"] == "Ready" && one["status"] == "True")
    };
    let new = |pod: &&Object| pod["spec"]["containers"][0]["image"] == "app:v2";
    [pods.iter().filter(ready).count(), pods.len(), pods.iter().filter(new).count()]
}

#[test]
fn no_moment_of_an_update_breaks_a_bound() {
    for seed in 0..20 {
        let rng = &mut Rng::with_seed(seed);
        let (unavailable, surge) = [(1, 0), (3, 0), (0, 1), (0, 3), (2, 2)][rng.usize(..5)];
        let partition = rng.usize(0..=5);
        let strategy = json!({
            "type": if rng.bool() { "ReCreate" } else { "InPlaceIfPossible" },
            "partition": partition, "maxUnavailable": unavailable, "maxSurge": surge,
        });
        let mut cloned = Cloned::new(&strategy);
        cloned.lab.edit(&cloned.key, |set| {
            set["spec"]["template"]["spec"]["containers"][0]["image"] = "app:v2".into();
        });
        let mut last = [5, 5, 0];
        for _ in 0..600 {
            cloned.lab.step();
            last = counts(&cloned);
            let [ready, pods, new] = last;
            let said = format!("seed {seed}, {strategy}: {ready} of {pods} serve, {new} are new");
            assert!(
                ready >= 5 - unavailable && pods <= 5 + surge && new <= 5 - partition,
                "{said}"
            );
        }
        assert_eq!(last, [5, 5, 5 - partition], "seed {seed}");
    }
}
