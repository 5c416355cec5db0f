//! One look of a controller at a workload of 1,000 Pods that has come to rest.

use criterion::Criterion;
use simcluster::behaviour::Behaviour;
use simcluster::behaviour::View;
use simcluster::behaviour::budget::Budgets;
use simcluster::behaviour::deployment::Deployments;
use simcluster::behaviour::replicaset::ReplicaSets;
use simcluster::behaviour::statefulset::StatefulSets;
use simcluster::json::{Value, json};
use simcluster::object::{BUDGETS, Collection, DEPLOYMENTS, Key, REPLICASETS, STATEFULSETS};

use crate::fixture::{self, Session, pod, start};

const APPS: &str = "/apis/apps/v1/namespaces/default";

pub(crate) fn all(criterion: &mut Criterion) {
    let runtime = fixture::runtime();
    let cluster = fixture::cluster();
    let session = Session::new(cluster.router());
    let template = |app: &str| {
        let pod = pod("", app);
        json!({"metadata": {"labels": pod["metadata"]["labels"]}, "spec": pod["spec"]})
    };
    let selector = |app: &str| json!({"matchLabels": {"app": app}});
    let post = |path: String, body: Value| {
        runtime.block_on(session.send("POST", &path, "application/json", &body));
    };
    post(
        format!("{APPS}/statefulsets"),
        json!({
            "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "set"},
            "spec": {"replicas": 1_000, "podManagementPolicy": "Parallel", "serviceName": "set",
                "selector": selector("set"), "template": template("set")},
        }),
    );
    post(
        format!("{APPS}/deployments"),
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
            "spec": {"replicas": 1_000, "selector": selector("web"), "template": template("web")},
        }),
    );
    post(
        "/apis/policy/v1/namespaces/default/poddisruptionbudgets".to_owned(),
        json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "set"},
            "spec": {"maxUnavailable": 1, "selector": selector("set")},
        }),
    );
    let mut driver = cluster.driver();
    let mut now = start();
    driver.run_due(now);
    while let Some(due) = driver.next_due() {
        now = due;
        driver.run_due(now);
    }
    let mut group = criterion.benchmark_group("one look, 1,000 Pods");
    let mut look = |behaviour: &dyn Behaviour, collection: Collection| {
        let view = cluster.server().view();
        let found = view.list(&collection, None).next().expect("there is one");
        let key = Key::of(collection, found);
        let mut rng = fastrand::Rng::with_seed(1);
        group.bench_function(behaviour.name(), |bencher| {
            bencher.iter(|| behaviour.step(&*view, &key, now, &mut rng));
        });
    };
    look(&StatefulSets, STATEFULSETS);
    look(&Deployments::default(), DEPLOYMENTS);
    look(&ReplicaSets::default(), REPLICASETS);
    look(&Budgets, BUDGETS);
    group.finish();
}
