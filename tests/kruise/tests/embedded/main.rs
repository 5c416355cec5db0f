//! Controllers that stand outside of the embedded cluster and go through its API, in virtual time:
//! they come to what they come to inside, whatever becomes of their requests.

mod stage;
mod workloads;

use kruise::resource::Kinds;
use kruise::{Driver, Failure, install};
use kube::Client;
use simcluster::behaviour::statefulset::StatefulSets;
use simcluster::json::{Value, json};
use simcluster::object::{CLAIMS, Collection, Key, PODS, REPLICASETS, STATEFULSETS};
use stage::{Driven, Stage};

fn template(image: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": image}]},
    })
}

fn set() -> Value {
    json!({
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 4, "serviceName": "web",
            "selector": {"matchLabels": {"app": "web"}}, "template": template("app:v1"),
            "volumeClaimTemplates": [{
                "metadata": {"name": "data"},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}},
                },
            }],
        },
    })
}

/// Where a StatefulSet is after each of some acts; its revisions have names of their own on each cluster
/// only if their content differs, so names are compared as well.
async fn story(seed: u64, driven: Driven) -> (Vec<Value>, usize, usize) {
    let stage = Stage::new(seed, driven);
    let key = Key::new(STATEFULSETS, "default", "web");
    let mut seen = Vec::new();
    stage.create(STATEFULSETS, set());
    let acts: [&dyn Fn(); 5] = [
        &|| {},
        &|| {
            stage.edit(&key, |set| {
                set["spec"]["template"] = template("app:v2");
                set["spec"]["updateStrategy"]["rollingUpdate"] = json!({"partition": 2});
            });
        },
        &|| stage.delete(&Key::new(PODS, "default", "web-0")),
        &|| stage.edit(&key, |set| set["spec"]["replicas"] = 6.into()),
        &|| {
            stage.edit(&key, |set| {
                set["spec"]["replicas"] = 3.into();
                set["spec"]["updateStrategy"]["rollingUpdate"] = json!({"partition": 0});
            });
        },
    ];
    for act in acts {
        act();
        stage.pass(600).await;
        seen.push(json!([stage.get(&key)["status"], stage.pods()]));
    }
    let (made, faults) = (stage.made(), stage.faults());
    assert_eq!(stage.stop().await, Ok(()));
    (seen, made, faults)
}

#[tokio::test(start_paused = true)]
async fn a_set_goes_the_same_way_through_the_api_as_inside_the_server() {
    let (inside, made, _) = story(1, Driven::Inside).await;
    assert_eq!(inside[1][0]["updatedReplicas"], 2, "the story is one of a partition");
    assert_eq!(inside[4][0]["updatedReplicas"], 3);
    let outside = story(1, Driven::Outside { faults: 0.0 }).await;
    assert_eq!(outside, (inside, made, 0));
}

#[tokio::test(start_paused = true)]
async fn whatever_becomes_of_its_requests_a_set_comes_to_the_same() {
    let (inside, made, _) = story(2, Driven::Inside).await;
    let (outside, made_outside, faults) = story(2, Driven::Outside { faults: 0.05 }).await;
    assert!(faults > 20, "only {faults}");
    let again = story(2, Driven::Outside { faults: 0.05 }).await;
    assert_eq!(again, (outside.clone(), made_outside, faults), "a seed is one history");
    assert_eq!((outside, made_outside), (inside, made));
}

#[tokio::test(start_paused = true)]
async fn a_pod_with_a_name_by_chance_is_made_once_though_answers_are_lost() {
    for seed in 0..12 {
        let stage = Stage::new(seed, Driven::Outside { faults: 0.1 });
        stage.create(
            REPLICASETS,
            json!({
                "metadata": {"name": "web", "namespace": "default"},
                "spec": {
                    "replicas": 20, "selector": {"matchLabels": {"app": "web"}},
                    "template": template("app:v1"),
                },
            }),
        );
        stage.pass(600).await;
        let key = Key::new(REPLICASETS, "default", "web");
        assert_eq!(stage.get(&key)["status"]["readyReplicas"], 20, "seed {seed}");
        assert_eq!(stage.made(), 20, "seed {seed}");
        stage.edit(&key, |set| set["spec"]["replicas"] = 5.into());
        stage.pass(600).await;
        stage.edit(&key, |set| set["spec"]["replicas"] = 9.into());
        stage.pass(600).await;
        assert_eq!(stage.get(&key)["status"]["readyReplicas"], 9, "seed {seed}");
        assert_eq!(stage.made(), 24, "seed {seed}");
        assert!(stage.faults() > 5, "seed {seed}");
        assert_eq!(stage.stop().await, Ok(()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_driver_that_does_not_watch_what_is_looked_at_says_so() {
    let stage = Stage::new(3, Driven::Inside);
    stage.create(STATEFULSETS, set());
    let client = Client::new(stage.cluster.router(), "default");
    let clock = stage.cluster.clock().clone();
    let driver = Driver::new(client, clock, Kinds::with(&[]), &[STATEFULSETS, PODS, CLAIMS], 3);
    let ended = driver.with(StatefulSets, 1..=1).drive(std::future::pending()).await;
    let Err(Failure::Unwatched { actor, group, plural }) = ended else { panic!("{ended:?}") };
    assert_eq!((actor, group.as_str()), ("statefulset-controller", "apps"));
    assert_eq!(plural, "controllerrevisions");
}

#[tokio::test(start_paused = true)]
async fn definitions_are_installed_once_they_are_served() {
    let stage = Stage::new(4, Driven::Inside);
    let client = Client::new(stage.cluster.router(), "default");
    let version = |name: &str, storage: bool| {
        json!({
            "name": name, "served": true, "storage": storage, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }},
        })
    };
    let things = json!({
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "versions": [version("v1alpha1", true), version("v1beta1", false)],
        },
    });
    for _again in 0..2 {
        install::install(&client, std::slice::from_ref(&things)).await.unwrap();
    }
    stage.create(
        Collection::known("example.com", "things"),
        json!({"metadata": {"name": "one", "namespace": "default"}}),
    );
    let mut odd = things;
    odd["spec"]["scope"] = "Everywhere".into();
    let refused = install::install(&client, &[odd]).await.unwrap_err();
    assert!(refused.to_string().contains("spec.scope"), "{refused}");
}
