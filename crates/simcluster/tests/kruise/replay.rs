//! Plays what was done in a recording against the embedded cluster, and compares every state that
//! it came to rest in.
//!
//! A recording (`tests/fixtures/kruise`) has one JSON object a line: what was done (`act`), or the
//! workload and its Pods when nothing had moved for some seconds (`settled`). Revisions are `REV1`
//! and up, Pods with random names `pod1` and up, in order of appearance. Which of several equal Pods
//! was taken is chance, so such a Pod is compared by what it is and by the state that it was first
//! seen in. Conditions that told of a write conflict have been left out.
//! Of a release (`-release-`) only what the workload's spec was made to say has been kept.

use std::collections::BTreeMap;
use std::fs;

use jiff::SignedDuration;
use simcluster::behaviour::kruise::{ADVANCED_DAEMONSETS, ADVANCED_STATEFULSETS, CLONESETS};
use simcluster::json::{Value, json};
use simcluster::object::{self, Collection, Key, PODS};
use simcluster::patch::merge;

use crate::lab::Lab;

/// What a recording leaves out of a spec.
const TRIMMED: [&str; 6] = [
    "selector",
    "template",
    "revisionHistoryLimit",
    "serviceName",
    "podManagementPolicy",
    "scaleStrategy",
];
/// The labels of a Pod that are recorded.
const LABELS: [&str; 2] = ["lifecycle.apps.kruise.io/state", "apps.kruise.io/specified-delete"];
/// Seconds without a change that are rest, and seconds after which there should have been one.
const REST: i64 = 4;
const PATIENCE: i64 = 90;

/// Plays a recording on three Nodes, as it was made.
#[track_caller]
pub(crate) fn check(name: &str) {
    check_on(3, name);
}

/// Plays a recording on so many Nodes.
#[track_caller]
pub(crate) fn check_on(nodes: usize, name: &str) {
    let path = format!("{}/tests/fixtures/kruise/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let recorded = fs::read_to_string(&path).unwrap();
    let mut replay = Replay::new(nodes);
    for (number, line) in recorded.lines().enumerate() {
        let line: Value = serde_json::from_str(line).unwrap();
        match line["act"].as_str() {
            Some(act) => replay.act(act, &line["object"]),
            None => replay.compare(&line, &format!("{name}, line {}", number + 1)),
        }
    }
    assert!(replay.states > 1, "{name} has states to compare");
}

struct Replay {
    lab: Lab,
    /// The one workload.
    key: Option<Key>,
    /// Hashes of revisions, in order of appearance.
    revisions: Vec<String>,
    /// How many states have been compared.
    states: usize,
    /// The state in which each Pod was first seen, by the recording's names and by ours.
    born: [BTreeMap<String, usize>; 2],
    /// Our Pods that were like a recorded one at the last state.
    twins: BTreeMap<String, Vec<String>>,
    /// The last state's recorded Pods as they were compared.
    likeness: BTreeMap<String, String>,
}

impl Replay {
    fn new(nodes: usize) -> Self {
        let lab = Lab::of(7, |options| {
            options.kruise = true;
            options.nodes = nodes;
            options.start_up = SignedDuration::from_secs(1);
        });
        Self {
            lab,
            key: None,
            revisions: Vec::new(),
            states: 0,
            born: Default::default(),
            twins: BTreeMap::new(),
            likeness: BTreeMap::new(),
        }
    }

    fn key(&self) -> &Key {
        self.key.as_ref().expect("the first act creates it")
    }

    fn workload(&self) -> Value {
        self.lab.get(self.key()).expect("nothing deletes it")
    }

    fn act(&mut self, act: &str, object: &Value) {
        if act.starts_with("create ") {
            return self.create(object);
        }
        if let Some(pod) = act.strip_prefix("delete Pod ") {
            return self.delete(pod);
        }
        let (_, what) = act.split_once(": ").unwrap();
        let (words, value) = what.rsplit_once(' ').unwrap();
        let patch = match words.split(' ').next().unwrap() {
            "image" => {
                let edit = |set: &mut Value| {
                    set["spec"]["template"]["spec"]["containers"][0]["image"] = value.into();
                };
                return self.lab.edit(self.key(), edit);
            }
            "spec" => return self.patch(serde_json::from_str(value).unwrap()),
            "update" => {
                let json = what.strip_prefix("update strategy ").unwrap();
                json!({"updateStrategy": serde_json::from_str::<Value>(json).unwrap()})
            }
            field => json!({field: serde_json::from_str::<Value>(value).unwrap()}),
        };
        self.lab.edit(self.key(), |set| {
            set["spec"] = merge::apply(&set["spec"], &patch);
        });
    }

    /// Changes a spec as the recording of a release has it: the image beside the other fields.
    fn patch(&mut self, mut patch: Value) {
        let image = patch.as_object_mut().unwrap().remove("image");
        self.lab.edit(self.key(), |set| {
            set["spec"] = merge::apply(&set["spec"], &patch);
            if let Some(image) = image {
                set["spec"]["template"]["spec"]["containers"][0]["image"] = image;
            }
        });
    }

    fn create(&mut self, object: &Value) {
        let mut object = object.clone();
        let collection: Collection = match object["kind"].as_str().unwrap() {
            "CloneSet" => CLONESETS,
            "StatefulSet" => ADVANCED_STATEFULSETS,
            "DaemonSet" => ADVANCED_DAEMONSETS,
            other => panic!("{other}"),
        };
        object["metadata"]["namespace"] = "default".into();
        self.key = Some(Key::of(collection.clone(), &object));
        self.lab.create(collection, object);
    }

    /// Deletes the Pod of this name, or one that is like the recorded one of this name.
    fn delete(&mut self, recorded: &str) {
        let twins = self.twins.get_mut(&self.likeness[recorded]).unwrap();
        let name = match twins.iter().position(|twin| twin == recorded) {
            Some(same) => twins.remove(same),
            None => twins.remove(0),
        };
        self.lab.delete(&Key::new(PODS, "default", &name));
    }

    fn rest(&mut self) {
        let collection = self.key().collection.clone();
        let versions = |lab: &Lab| -> Vec<String> {
            let all = lab.list(&PODS).into_iter().chain(lab.list(&collection));
            all.map(|one| object::resource_version(&one).to_owned()).collect()
        };
        let mut waited = 0;
        loop {
            let before = versions(&self.lab);
            self.lab.pass(REST);
            waited += REST;
            if before == versions(&self.lab) || waited > PATIENCE {
                return;
            }
        }
    }

    #[track_caller]
    fn compare(&mut self, recorded: &Value, place: &str) {
        self.rest();
        let workload = self.workload();
        for field in ["updateRevision", "daemonSetHash"] {
            if let Some(name) = workload["status"][field].as_str() {
                self.note(name);
            }
        }
        let kind = recorded["settled"][0]["kind"].clone();
        let ours: Vec<Value> = self.lab.list(&PODS).iter().map(|pod| self.seen(pod)).collect();
        let theirs = recorded["pods"].as_array().unwrap();
        self.twins.clear();
        self.likeness.clear();
        let mut like = |pods: &[Value], which: usize| -> Vec<String> {
            let mut all: Vec<String> = Vec::new();
            for pod in pods {
                let name = pod["name"].as_str().unwrap().to_owned();
                let born = *self.born[which].entry(name.clone()).or_insert(self.states);
                let mut pod = pod.clone();
                pod["first seen in state"] = born.into();
                if kind != "AdvancedStatefulSet" {
                    pod.as_object_mut().unwrap().remove("name");
                }
                let text = pod.to_string();
                match which {
                    0 => drop(self.likeness.insert(name, text.clone())),
                    _ => self.twins.entry(text.clone()).or_default().push(name),
                }
                all.push(text);
            }
            all.sort();
            all
        };
        let (theirs, ours) = (like(theirs, 0), like(&ours, 1));
        let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap();
        assert_eq!(
            pretty(&self.trimmed(&workload, &kind)),
            pretty(&recorded["settled"][0]),
            "{place}"
        );
        assert_eq!(ours, theirs, "{place}");
        self.states += 1;
    }

    /// Numbers a revision when it is first seen.
    fn note(&mut self, name: &str) {
        let hash = hash(name).to_owned();
        if !self.revisions.contains(&hash) {
            self.revisions.push(hash);
        }
    }

    /// A revision's name as recordings write it.
    fn revision(&self, name: &str) -> String {
        let hash = hash(name);
        let number = self.revisions.iter().position(|known| known == hash);
        let number = number.map_or_else(|| "?".to_owned(), |index| (index + 1).to_string());
        format!("{}REV{number}", name.strip_suffix(hash).unwrap_or_default())
    }

    /// A workload as recordings have it.
    fn trimmed(&self, workload: &Value, kind: &Value) -> Value {
        let mut spec = workload["spec"].clone();
        let image = spec["template"]["spec"]["containers"][0]["image"].clone();
        let fields = spec.as_object_mut().unwrap();
        TRIMMED.iter().for_each(|field| drop(fields.remove(field)));
        fields.insert("image".to_owned(), image);
        // The original's webhook reads and writes a CloneSet, and leaves out what says nothing.
        if spec["updateStrategy"]["paused"] == false && kind == "CloneSet" {
            spec["updateStrategy"].as_object_mut().unwrap().remove("paused");
        }
        let mut status = workload["status"].clone();
        for field in ["currentRevision", "updateRevision", "daemonSetHash"] {
            if let Some(name) = status[field].as_str() {
                status[field] = self.revision(name).into();
            }
        }
        let conditions = status.get_mut("conditions").and_then(Value::as_array_mut);
        for condition in conditions.into_iter().flatten() {
            condition["lastTransitionTime"] = "TIME".into();
        }
        json!({
            "kind": kind, "name": object::name(workload),
            "generation": object::generation(workload), "labels": object::labels(workload),
            "spec": spec, "status": status,
        })
    }

    /// A Pod as recordings have it.
    fn seen(&self, pod: &Value) -> Value {
        let conditions = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let ready = conditions.iter().find(|one| one["type"] == "Ready");
        let mut labels = object::labels(pod).as_object().cloned().unwrap_or_default();
        let revision = labels["controller-revision-hash"].as_str().map(|name| self.revision(name));
        labels.retain(|name, _| LABELS.contains(&name.as_str()));
        let mut seen = json!({
            "name": object::name(pod), "image": pod["spec"]["containers"][0]["image"],
            "ready": ready.map(|ready| ready["status"].clone()), "revision": revision,
        });
        if !labels.is_empty() {
            seen["labels"] = labels.into();
        }
        if object::is_terminating(pod) {
            seen["deleting"] = true.into();
        }
        seen
    }
}

/// A revision's hash: what follows the last dash of its name, or the whole of it.
fn hash(name: &str) -> &str {
    name.rsplit('-').next().unwrap_or(name)
}
