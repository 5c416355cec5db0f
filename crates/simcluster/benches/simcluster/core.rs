//! The same without HTTP and JSON text: what the controllers use, and the store below them.

use criterion::{BatchSize, Criterion};
use simcluster::behaviour::{View, Write};
use simcluster::json::{Value, json};
use simcluster::object::{Key, PODS};
use simcluster::store::Store;

use crate::fixture::{self, pod, start};

pub(crate) fn all(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("core");
    let cluster = fixture::cluster();
    let server = cluster.server();
    let mut number = 0;
    group.bench_function("commit a new Pod", |bencher| {
        bencher.iter_batched(
            || {
                number += 1;
                let mut object = pod(&format!("made-{number}"), "made");
                object["metadata"]["namespace"] = json!("default");
                Write::Create { collection: PODS, object }
            },
            |write| server.commit(write, "bench", start()).expect("it is taken"),
            BatchSize::SmallInput,
        );
    });
    let key = Key::new(PODS, "default", "made-1");
    let mut turn = 0_u64;
    group.bench_function("commit a status", |bencher| {
        bencher.iter_batched(
            || {
                turn += 1;
                let mut object = Value::clone(server.view().get(&key).expect("it was made"));
                object["status"]["message"] = json!(turn.to_string());
                Write::Update { key: key.clone(), subresource: Some("status"), object }
            },
            |write| server.commit(write, "bench", start()).expect("it is taken"),
            BatchSize::PerIteration,
        );
    });
    let mut store = Store::new(4_000);
    let object = Value::clone(server.view().get(&key).expect("it was made"));
    group.bench_function("put into the store", |bencher| {
        bencher.iter_batched(
            || {
                turn += 1;
                let mut object = object.clone();
                object["metadata"]["name"] = json!(format!("put-{}", turn % 10_000));
                (Key::of(PODS, &object), object)
            },
            |(key, object)| store.put(key, object),
            BatchSize::SmallInput,
        );
    });
    group.finish();
}
