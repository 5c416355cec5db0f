//! Sequences drawn from a seed: a small grammar of operations on a few names.

use fastrand::Rng;
use serde_json::{Value, json};

use crate::sequences::{self, BUDGETS, CONFIGMAPS, PODS, SETS, WEB, WIDGETS, config_map, image};
use crate::step::{
    Step, apply, delete, delete_with, evict, get, json_patch, merge, post, put, strategic,
};

/// An operation: a request, and a rest where controllers answer it.
pub type Operation = Vec<Step>;

/// The operations of a seed. What comes first in every one, like the CRD, is not among them: see
/// [`whole`].
pub fn operations(seed: u64) -> Vec<Operation> {
    let mut rng = Rng::with_seed(seed);
    match seed % 4 {
        0 => (0..40).map(|_| vec![config(&mut rng)]).collect(),
        1 => (0..40).map(|_| vec![widget(&mut rng)]).collect(),
        _ => (0..14).map(|_| vec![workload(&mut rng), Step::Rest]).collect(),
    }
}

/// Steps of these operations of a seed, with what has to be there before and is looked at after.
pub fn whole(seed: u64, operations: &[Operation]) -> Vec<Step> {
    let mut steps = match seed % 4 {
        0 => vec![Step::Mark(CONFIGMAPS.to_owned())],
        1 => sequences::definition(),
        _ => Vec::new(),
    };
    if seed % 4 == 1 {
        steps.push(Step::Mark(WIDGETS.to_owned()));
    }
    steps.extend(operations.iter().flatten().cloned());
    match seed % 4 {
        0 => steps.push(watch(CONFIGMAPS)),
        1 => steps.push(watch(WIDGETS)),
        _ => {}
    }
    steps
}

fn watch(path: &str) -> Step {
    get(format!("{path}?watch=true&timeoutSeconds=1&resourceVersion=$mark"))
}

fn one_of<'a>(rng: &mut Rng, words: &[&'a str]) -> &'a str {
    words[rng.usize(..words.len())]
}

/// A few of some keys, each with a small number as a text.
fn some(rng: &mut Rng, keys: &[&str]) -> Value {
    let chosen = keys.iter().filter(|_| rng.bool()).copied().collect::<Vec<_>>();
    chosen.into_iter().map(|key| (key.to_owned(), json!(rng.u8(1..=2).to_string()))).collect()
}

fn config(rng: &mut Rng) -> Step {
    let name = one_of(rng, &["a", "b"]);
    let path = format!("{CONFIGMAPS}/{name}");
    let (data, labels) = (some(rng, &["x", "y", "z"]), some(rng, &["l", "m"]));
    let key = one_of(rng, &["x", "y", "z"]);
    match rng.u8(..16) {
        0..=2 => post(CONFIGMAPS, config_map(name, labels, data)),
        3 => merge(path, json!({"data": {key: null}, "metadata": {"labels": labels}})),
        4 => strategic(path, json!({"data": data, "metadata": {"annotations": labels}})),
        5 => json_patch(path, json!([{"op": "add", "path": format!("/data/{key}"), "value": "3"}])),
        6 => json_patch(path, json!([{"op": "remove", "path": format!("/data/{key}")}])),
        7..=9 => {
            let mut body =
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
            if rng.bool() {
                body["data"] = data;
            }
            if rng.bool() {
                body["metadata"]["annotations"] = labels;
            }
            apply(&path, one_of(rng, &["one", "two"]), rng.u8(..4) == 0, body)
        }
        10 => {
            let mut body = config_map(name, labels, data);
            body["metadata"]["resourceVersion"] = format!("$rv({path})").into();
            put(path, body)
        }
        11 => delete(path),
        12 => merge(path, json!({"metadata": {"finalizers": ["example.com/hold"]}})),
        13 => merge(path, json!({"metadata": {"finalizers": null}})),
        14 => get(format!("{CONFIGMAPS}?labelSelector=l%3D{}&limit=1", rng.u8(1..=2))),
        _ => get(CONFIGMAPS),
    }
}

fn widget(rng: &mut Rng) -> Step {
    let name = one_of(rng, &["a", "b"]);
    let path = format!("{WIDGETS}/{name}");
    let fields = [
        ("size", json!(rng.u8(..14))),
        ("limit", json!(rng.u8(5..14))),
        ("color", json!(one_of(rng, &["red", "green", "blue"]))),
        ("name", json!(one_of(rng, &["abc", "de", "toolong"]))),
        ("list", json!(["a", "b", "c"][..rng.usize(..4)])),
        ("annotations", some(rng, &["x", "y"])),
        ("parts", {
            let parts = [json!({"name": "x", "count": rng.u8(..3)}), json!({"name": "y"})];
            json!(parts[..rng.usize(..3)])
        }),
        ("free", json!({"any": some(rng, &["x", "y"])})),
    ];
    let spec: Value = fields
        .into_iter()
        .filter(|(field, _)| rng.u8(..3) == 0 || (*field == "size" && rng.u8(..8) > 0))
        .map(|(field, value)| (field.to_owned(), value))
        .collect();
    match rng.u8(..12) {
        0..=2 => post(WIDGETS, sequences::widget(name, spec)),
        3..=4 => merge(path, json!({"spec": spec})),
        5..=7 => {
            let manager = one_of(rng, &["one", "two"]);
            apply(&path, manager, rng.u8(..4) == 0, sequences::widget(name, spec))
        }
        8 => merge(format!("{path}/status"), json!({"status": {"ready": rng.u8(..3)}})),
        9 => merge(format!("{path}/scale"), json!({"spec": {"replicas": rng.u8(1..14)}})),
        10 => delete(path),
        _ => get(WIDGETS),
    }
}

fn workload(rng: &mut Rng) -> Step {
    let pod = format!("web-{}", rng.u8(..3));
    let partition = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": rng.u8(..4)}});
    let on_delete = json!({"type": "OnDelete", "rollingUpdate": null});
    let strategy = if rng.bool() { partition.clone() } else { on_delete };
    let version = one_of(rng, &["app:v1", "app:v2", "app:v3", "broken:v4"]);
    let spare = one_of(rng, &["spare", "other"]);
    let amount = json!(rng.u8(..4));
    match rng.u8(..22) {
        0..=3 => {
            let mut set = sequences::web(rng.u32(1..4), strategy);
            if rng.u8(..3) == 0 {
                set["spec"]["podManagementPolicy"] = "OrderedReady".into();
            }
            post(SETS, set)
        }
        4..=7 => strategic(WEB, image(version)),
        8..=9 => merge(WEB, json!({"spec": {"updateStrategy": strategy}})),
        10 => merge(WEB, json!({"spec": {"updateStrategy": partition}})),
        11..=12 => merge(format!("{WEB}/scale"), json!({"spec": {"replicas": rng.u8(1..5)}})),
        13..=15 => delete(format!("{PODS}/{pod}")),
        16 => evict(&pod, Value::Null),
        17 => sequences::budget("budget", "web", json!({"maxUnavailable": amount})),
        18 => merge(format!("{BUDGETS}/budget"), json!({"spec": {"maxUnavailable": amount}})),
        19 => delete(format!("{BUDGETS}/budget")),
        20 => post(PODS, sequences::pod(spare, "web", version)),
        _ => {
            let policy = one_of(rng, &["Background", "Foreground", "Orphan"]);
            delete_with(WEB, json!({"propagationPolicy": policy}))
        }
    }
}
