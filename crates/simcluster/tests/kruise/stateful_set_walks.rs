//! Whatever has been done to an Advanced StatefulSet, it comes to what its spec says in the end, and
//! no moment of an update breaks a bound.

use fastrand::Rng;
use simcluster::json::{Value, json};
use simcluster::object::{self, Key, Object, PODS};

use crate::lab::Lab;
use crate::stateful_sets::{image, images, pods_by_ordinal, rolling, status, web, with};

/// What a walk does, one after another, with a moment or a rest between.
const STEPS: usize = 12;

fn any(rng: &mut Rng, lab: &Lab, broken: bool) {
    let pods = lab.pods();
    let pod = (!pods.is_empty()).then(|| object::name(&pods[rng.usize(..pods.len())]).to_owned());
    let strategy = |field: &str, value: Value| {
        lab.edit(&web(), |set| rolling(&mut set["spec"])[field] = value);
    };
    match (rng.u8(0..9), pod) {
        (0 | 1, _) => {
            let images = ["app:v1", "app:v2", "app:v3", "app:broken", "app:crash"];
            image(lab, images[rng.usize(..if broken { 5 } else { 3 })]);
        }
        (2, _) => {
            let replicas = rng.i64(0..=7);
            lab.edit(&web(), |set| set["spec"]["replicas"] = replicas.into());
        }
        (3, _) => strategy("partition", rng.i64(0..=7).into()),
        (4, _) => strategy("maxUnavailable", format!("{}%", rng.i64(0..=100)).into()),
        (5, _) => {
            let reserved: Vec<i64> = (0..6).filter(|_| rng.u8(0..4) == 0).collect();
            lab.edit(&web(), |set| set["spec"]["reserveOrdinals"] = reserved.into());
        }
        (6, _) => {
            let policies = ["ReCreate", "InPlaceIfPossible", "InPlaceOnly"];
            strategy("podUpdatePolicy", policies[rng.usize(..3)].into());
            strategy("paused", rng.bool().into());
            let unordered = rng.bool();
            lab.edit(&web(), |set| {
                let rolling = rolling(&mut set["spec"]).as_object_mut().unwrap();
                rolling.remove("unorderedUpdate");
                if unordered {
                    rolling.insert("unorderedUpdate".to_owned(), json!({}));
                }
            });
        }
        (7, Some(pod)) => lab.delete(&Key::new(PODS, "default", &pod)),
        (_, Some(pod)) => lab.edit(&Key::new(PODS, "default", &pod), |pod| {
            pod["metadata"]["labels"]["apps.kruise.io/specified-delete"] = "true".into();
        }),
        (_, None) => {}
    }
}

#[test]
fn every_walk_ends_where_the_spec_says() {
    for seed in 0..20 {
        let rng = &mut Rng::with_seed(seed);
        // Under OrderedReady a broken Pod stays until somebody deletes it.
        let parallel = rng.u8(0..4) > 0;
        let mut lab = with(|spec| {
            if !parallel {
                spec["podManagementPolicy"] = "OrderedReady".into();
            }
        });
        for _ in 0..STEPS {
            any(rng, &lab, parallel);
            match rng.u8(0..3) {
                0 => lab.pass(60),
                1 => lab.pass(1),
                _ => (0..rng.usize(1..30)).for_each(|_| lab.step()),
            }
        }
        let replicas = rng.i64(1..=6);
        lab.edit(&web(), |set| {
            set["spec"]["replicas"] = replicas.into();
            // A Pod that is down holds up those above it, as in the original, unless all may be.
            let in_place = "InPlaceIfPossible";
            *rolling(&mut set["spec"]) =
                json!({"podUpdatePolicy": in_place, "maxUnavailable": "100%"});
        });
        image(&lab, "app:v9");
        lab.pass(900);
        let set = lab.get(&web()).unwrap();
        let said = format!("seed {seed}, {}, {}", set["spec"], set["status"]);
        let reserved = set["spec"]["reserveOrdinals"].as_array().cloned().unwrap_or_default();
        let expect: Vec<i64> = (0..)
            .filter(|ordinal| !reserved.contains(&json!(ordinal)))
            .take(usize::try_from(replicas).unwrap())
            .collect();
        let pods = pods_by_ordinal(&lab);
        assert_eq!(pods.iter().map(|(ordinal, _)| *ordinal).collect::<Vec<_>>(), expect, "{said}");
        let seen = images(&lab);
        assert!(seen.split(' ').all(|image| image == "v9"), "{said}: {seen}");
        for (_, pod) in pods {
            let state = object::label(&pod, "lifecycle.apps.kruise.io/state");
            assert_eq!(state, Some("Normal"), "{said}");
        }
        for count in ["replicas", "currentReplicas", "updatedReplicas", "updatedAvailableReplicas"]
        {
            assert_eq!(status(&lab)[count], replicas, "{count} {said}");
        }
        assert_eq!(status(&lab)["currentRevision"], status(&lab)["updateRevision"], "{said}");
    }
}

fn is_ready(pod: &Object) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|one| one["type"] == "Ready" && one["status"] == "True")
}

#[test]
fn no_moment_of_an_update_breaks_a_bound() {
    for seed in 0..20 {
        let rng = &mut Rng::with_seed(seed);
        let (most, partition, unordered) = (rng.usize(1..=4), rng.usize(0..=4), rng.bool());
        let policy = if rng.bool() { "ReCreate" } else { "InPlaceIfPossible" };
        let mut strategy =
            json!({"maxUnavailable": most, "partition": partition, "podUpdatePolicy": policy});
        if unordered {
            strategy["unorderedUpdate"] = json!({});
        }
        let mut lab = with(|spec| *rolling(spec) = strategy.clone());
        image(&lab, "app:v2");
        for _ in 0..600 {
            lab.step();
            let pods = lab.pods();
            let ready = pods.iter().filter(|pod| is_ready(pod)).count();
            let new = images(&lab).matches("v2").count();
            let said = format!("seed {seed}, {strategy}: {ready} serve, {}", images(&lab));
            assert!(ready + most >= 4 && new + partition <= 4, "{said}");
        }
        let expect = [vec!["v1"; partition], vec!["v2"; 4 - partition]].concat().join(" ");
        assert_eq!(images(&lab), expect, "seed {seed}, {strategy}");
    }
}
