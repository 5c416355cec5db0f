//! Kruise's workloads: exact counts, and no Pod more than it takes, whatever becomes of requests.

use simcluster::behaviour::kruise::{ADVANCED_DAEMONSETS, ADVANCED_STATEFULSETS, CLONESETS};
use simcluster::json::{Value, json};
use simcluster::object::{Collection, Key};

use super::stage::{Driven, Stage};
use super::template;

/// One workload `web` on a stage.
struct Play {
    stage: Stage,
    key: Key,
}

impl Play {
    async fn begin(collection: Collection, spec: Value, driven: Driven, seed: u64) -> Self {
        let stage = Stage::new(seed, driven);
        let mut object = json!({
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template("app:v1")},
        });
        for (name, field) in spec.as_object().into_iter().flatten() {
            object["spec"][name.as_str()] = field.clone();
        }
        stage.create(collection.clone(), object);
        stage.pass(600).await;
        Self { stage, key: Key::new(collection, "default", "web") }
    }

    async fn edit(&self, edit: impl FnOnce(&mut Value)) {
        self.stage.edit(&self.key, |object| edit(&mut object["spec"]));
        self.stage.pass(600).await;
    }

    /// A count of the status, and how many Pods there ever were.
    fn seen(&self, count: &str) -> (Value, usize) {
        (self.stage.get(&self.key)["status"][count].clone(), self.stage.made())
    }

    async fn end(self) {
        assert_eq!(self.stage.stop().await, Ok(()));
    }
}

/// Inside, outside, and outside under faults of several seeds.
fn all() -> impl Iterator<Item = (Driven, u64)> {
    let faults = (0..6).map(|seed| (Driven::Outside { faults: 0.05 }, seed));
    [(Driven::Inside, 0), (Driven::Outside { faults: 0.0 }, 0)].into_iter().chain(faults)
}

#[tokio::test(start_paused = true)]
async fn a_clone_set_makes_a_pod_for_each_that_it_replaces_and_none_beside() {
    for (driven, seed) in all() {
        let spec = json!({"replicas": 10, "updateStrategy": {"partition": 10}});
        let play = Play::begin(CLONESETS, spec, driven, seed).await;
        assert_eq!(play.seen("updatedReadyReplicas"), (json!(10), 10), "{driven:?} {seed}");
        play.edit(|spec| {
            spec["template"] = template("app:v2");
            spec["updateStrategy"]["partition"] = 6.into();
        })
        .await;
        assert_eq!(play.seen("updatedReadyReplicas"), (json!(4), 14), "{driven:?} {seed}");
        play.edit(|spec| spec["updateStrategy"]["partition"] = "20%".into()).await;
        assert_eq!(play.seen("updatedReadyReplicas"), (json!(8), 18), "{driven:?} {seed}");
        play.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_clone_set_that_updates_in_place_makes_no_pod() {
    for (driven, seed) in all() {
        let strategy = json!({"type": "InPlaceOnly", "partition": 6});
        let spec = json!({"replicas": 6, "updateStrategy": strategy});
        let play = Play::begin(CLONESETS, spec, driven, seed).await;
        play.edit(|spec| {
            spec["template"] = template("app:v2");
            spec["updateStrategy"]["partition"] = 2.into();
        })
        .await;
        assert_eq!(play.seen("updatedReadyReplicas"), (json!(4), 6), "{driven:?} {seed}");
        let new = |pod: &&Value| pod[2] == "app:v2" && pod[3] == true;
        assert_eq!(play.stage.pods().iter().filter(new).count(), 4, "{driven:?} {seed}");
        play.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_other_two_kinds_make_a_pod_for_each_that_they_replace() {
    let rolling = json!({"updateStrategy": {"rollingUpdate": {"partition": 0}}});
    for (driven, seed) in all() {
        for (collection, count) in [
            (ADVANCED_STATEFULSETS, "updatedReadyReplicas"),
            (ADVANCED_DAEMONSETS, "updatedNumberScheduled"),
        ] {
            let mut spec = rolling.clone();
            if collection == ADVANCED_STATEFULSETS {
                spec["replicas"] = 3.into();
            }
            let play = Play::begin(collection, spec, driven, seed).await;
            assert_eq!(play.seen(count), (json!(3), 3), "{count} {driven:?} {seed}");
            play.edit(|spec| {
                spec["template"] = template("app:v2");
                spec["updateStrategy"]["rollingUpdate"]["partition"] = 1.into();
            })
            .await;
            assert_eq!(play.seen(count), (json!(2), 5), "{count} {driven:?} {seed}");
            play.end().await;
        }
    }
}
