//! A namespace in rest, as it can be compared with that of another run.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::side::Side;

/// What is in a picture, by plural.
const LISTS: &[(&str, &str)] = &[
    ("deployments", "/apis/apps/v1/namespaces/$ns/deployments"),
    ("replicasets", "/apis/apps/v1/namespaces/$ns/replicasets"),
    ("daemonsets", "/apis/apps/v1/namespaces/$ns/daemonsets"),
    ("clonesets", "/apis/apps.kruise.io/v1alpha1/namespaces/$ns/clonesets"),
    ("advancedstatefulsets", "/apis/apps.kruise.io/v1alpha1/namespaces/$ns/statefulsets"),
    ("advanceddaemonsets", "/apis/apps.kruise.io/v1alpha1/namespaces/$ns/daemonsets"),
    ("controllerrevisions", "/apis/apps/v1/namespaces/$ns/controllerrevisions"),
    ("pods", "/api/v1/namespaces/$ns/pods"),
    ("events", "/api/v1/namespaces/$ns/events"),
];
/// Events of these objects are theirs alone; a Pod's are the scheduler's and the kubelet's.
const SPEAKERS: [&str; 5] = ["Deployment", "ReplicaSet", "DaemonSet", "CloneSet", "StatefulSet"];
/// An object of which more is said is no longer listened to: a recorder lets no more through, and
/// sums up.
const EARSHOT: i64 = 7;

/// Reasons of a rollout that is neither over nor stuck.
const ON_ITS_WAY: [&str; 3] =
    ["NewReplicaSetCreated", "ReplicaSetUpdated", "NewReplicaSetAvailable"];

/// Everything in a namespace, by plural.
pub type Lists = BTreeMap<&'static str, Vec<Value>>;

/// Reads everything.
pub async fn read(side: &Side, namespace: &str) -> Lists {
    let mut out = Lists::new();
    for (plural, path) in LISTS {
        let answer = side.send("GET", &path.replace("$ns", namespace), "", &Value::Null).await;
        out.insert(plural, answer.body["items"].as_array().cloned().unwrap_or_default());
    }
    out
}

/// The version of each object but Events: as long as they stay, nothing happens.
pub fn versions(lists: &Lists) -> BTreeSet<String> {
    let all = lists.iter().filter(|(plural, _)| **plural != "events").flat_map(|(_, items)| items);
    all.map(|item| format!("{} {}", item["metadata"]["uid"], item["metadata"]["resourceVersion"]))
        .collect()
}

/// What names stand for: hashes and generated names, by what they belong to.
#[derive(Debug, Default)]
pub struct Names(Vec<(String, String)>);

impl Names {
    /// Of what there is.
    pub fn of(lists: &Lists) -> Self {
        let mut out = Vec::new();
        let mut numbered = |plural: &str, label: &str, number: &dyn Fn(&Value) -> String| {
            for item in lists.get(plural).into_iter().flatten() {
                let Some(hash) = item["metadata"]["labels"][label].as_str() else { continue };
                let owner = text(&item["metadata"]["ownerReferences"][0]["name"]);
                out.push((hash.to_owned(), format!("{owner}#{}", number(item))));
            }
        };
        numbered("replicasets", "pod-template-hash", &|set| {
            text(&set["metadata"]["annotations"]["deployment.kubernetes.io/revision"])
        });
        numbered("controllerrevisions", "controller-revision-hash", &|one| {
            one["revision"].to_string()
        });
        for pod in lists.get("pods").into_iter().flatten() {
            if pod["metadata"]["generateName"].is_string() {
                out.push((text(&pod["metadata"]["name"]), "<pod>".to_owned()));
            }
        }
        // The longest first: a Pod's name holds the hash of its ReplicaSet.
        out.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Self(out)
    }

    /// Puts the meaning in the place of each name.
    pub fn replace(&self, value: &Value) -> Value {
        let all =
            self.0.iter().fold(value.to_string(), |all, (name, label)| all.replace(name, label));
        serde_json::from_str(&all).unwrap_or_else(|_| value.clone())
    }
}

/// What everything comes to.
pub fn draw(lists: &Lists) -> Value {
    let names = Names::of(lists);
    let mut out = Map::new();
    for (plural, items) in lists {
        let mut drawn: Vec<Value> = match *plural {
            "events" => continue,
            "pods" => {
                let pods = items.iter().map(|pod| aged(like(pod), owner(pod, lists)));
                pods.map(|pod| known(names.replace(&pod))).collect()
            }
            _ => items.iter().map(|item| names.replace(&plain(item))).collect(),
        };
        drawn.sort_by_key(Value::to_string);
        out.insert((*plural).to_owned(), drawn.into());
    }
    let events = lists.get("events").map(Vec::as_slice).unwrap_or_default();
    out.insert("events".to_owned(), said(events, &names));
    let mut out = Value::Object(out);
    level(&mut out);
    out
}

/// A workload without what differs from run to run.
fn plain(item: &Value) -> Value {
    let mut item = item.clone();
    bare(&mut item["metadata"]);
    let (generation, observed) =
        (item["metadata"]["generation"].clone(), item["status"]["observedGeneration"].clone());
    // How many steps a rollout takes is chance.
    if item["kind"] == "ReplicaSet" || item["spec"]["replicas"].is_number() {
        item["metadata"]["generation"] = json!(generation == observed);
    }
    if item["status"].is_object() {
        item["status"]["observedGeneration"] = json!(generation == observed);
    }
    conditions(&mut item["status"]);
    item
}

fn bare(metadata: &mut Value) {
    if let Some(map) = metadata.as_object_mut() {
        for field in ["uid", "resourceVersion", "creationTimestamp", "managedFields"] {
            map.remove(field);
        }
    }
    for owner in metadata["ownerReferences"].as_array_mut().into_iter().flatten() {
        owner["uid"].take();
    }
}

fn conditions(status: &mut Value) {
    if let Some(all) = status["conditions"].as_array_mut() {
        for one in all.iter_mut() {
            for time in ["lastUpdateTime", "lastTransitionTime", "lastProbeTime"] {
                one.as_object_mut().expect("a condition is a map").remove(time);
            }
        }
        all.sort_by_key(|one| one["type"].to_string());
    }
}

/// A Pod by what it is like: where it is and what it is called is chance.
pub fn like(pod: &Value) -> Value {
    let mut pod = pod.clone();
    bare(&mut pod["metadata"]);
    pod["metadata"]["name"].take();
    let metadata = &mut pod["metadata"];
    if metadata["labels"]["apps.kruise.io/cloneset-instance-id"].is_string() {
        metadata["labels"]["apps.kruise.io/cloneset-instance-id"] = "<id>".into();
        // Which Pods are updated in place, and so which ones twice, goes by Nodes and ages.
        metadata["generation"].take();
    }
    // A text that is an object, with times in it.
    let in_place = &mut pod["metadata"]["annotations"]["apps.kruise.io/inplace-update-state"];
    if let Some(state) = in_place.as_str().and_then(|text| serde_json::from_str(text).ok()) {
        *in_place = state;
    }
    let ready = pod["status"]["conditions"].as_array().into_iter().flatten();
    let ready = ready.filter(|one| one["type"] == "Ready").any(|one| one["status"] == "True");
    pod["status"] = json!({"phase": pod["status"]["phase"], "ready": ready});
    if let Some(spec) = pod["spec"].as_object_mut() {
        let bound = spec.remove("nodeName").is_some();
        spec.insert("nodeName".to_owned(), bound.into());
        if let Some(affinity) = spec.get_mut("affinity") {
            let text = affinity.to_string();
            let text = ["node-0", "node-1", "node-2"]
                .iter()
                .fold(text, |text, node| text.replace(node, "<node>"));
            *affinity = serde_json::from_str(&text).expect("a name for a name");
        }
    }
    pod
}

/// The DaemonSet that a Pod belongs to.
fn owner<'a>(pod: &Value, lists: &'a Lists) -> Option<&'a Value> {
    let uid = &pod["metadata"]["ownerReferences"][0]["uid"];
    let sets = ["daemonsets", "advanceddaemonsets"].iter().filter_map(|plural| lists.get(plural));
    sets.flatten().find(|set| set["metadata"]["uid"] == *uid)
}

/// After a turn and a return of the template there are Pods of one template and of two generations: which
/// of them are replaced first is chance, as a controller goes over its Nodes in the order of a map of Go.
/// So what counts of a generation is whether it is the newest.
fn aged(mut pod: Value, set: Option<&Value>) -> Value {
    const NEWEST: &str = "deprecated.daemonset.template.generation";
    let generation = &mut pod["metadata"]["labels"]["pod-template-generation"];
    if let Some(set) = set.filter(|_| generation.is_string()) {
        let newest = *generation == set["metadata"]["annotations"][NEWEST];
        *generation = if newest { "<newest>" } else { "<earlier>" }.into();
    }
    pod
}

/// A Pod may outlive the revision that it was made from: then its hash stands for nothing.
fn known(mut pod: Value) -> Value {
    for label in ["pod-template-hash", "controller-revision-hash"] {
        let hash = &mut pod["metadata"]["labels"][label];
        if hash.as_str().is_some_and(|hash| !hash.contains('#')) {
            *hash = "<gone>".into();
        }
    }
    pod
}

/// What a Deployment sees of a quick rollout is chance: so is which of several reasons it gives for
/// being on its way, and whether it takes note of the ReplicaSet that has come back at its end.
pub fn level(value: &mut Value) {
    match value {
        Value::Object(map) => {
            let done = !map.contains_key("unavailableReplicas");
            for one in map.get_mut("conditions").and_then(Value::as_array_mut).into_iter().flatten()
            {
                let reason = one["reason"].as_str().unwrap_or_default();
                if reason == "NewReplicaSetAvailable" && done {
                    let words = text(&one["message"]);
                    let words = words
                        .split(' ')
                        .map(|word| if word.contains("web-") { "<set>" } else { word });
                    one["message"] = words.collect::<Vec<_>>().join(" ").into();
                } else if ON_ITS_WAY.contains(&reason) {
                    one["reason"] = "<on its way>".into();
                    one["message"] = "<on its way>".into();
                }
            }
            map.values_mut().for_each(level);
        }
        Value::Array(items) => items.iter_mut().for_each(level),
        _ => {}
    }
}

/// What was said of each object: why, in which words, without numbers and names. `null` where it was
/// too much; objects that are gone are left out.
fn said(events: &[Value], names: &Names) -> Value {
    let mut heard: BTreeMap<String, (i64, BTreeSet<String>)> = BTreeMap::new();
    for event in events {
        let about = &event["involvedObject"];
        let (kind, name) = (text(&about["kind"]), text(&names.replace(&about["name"])));
        if !SPEAKERS.contains(&kind.as_str()) || (name.starts_with("web-") && !name.contains('#')) {
            continue;
        }
        let (count, lines) = heard.entry(format!("{kind} {name}")).or_default();
        *count += event["count"].as_i64().unwrap_or(1);
        let message = text(&event["message"]);
        let words: Vec<&str> = message.split(' ').map(word).collect();
        let (version, source) = (text(&about["apiVersion"]), text(&event["source"]["component"]));
        let (type_, reason) = (text(&event["type"]), text(&event["reason"]));
        lines.insert(format!("{version} {source} {type_} {reason}: {}", words.join(" ")));
    }
    let kept = |(count, lines): (i64, BTreeSet<String>)| {
        if count > EARSHOT { Value::Null } else { lines.into_iter().collect() }
    };
    heard.into_iter().map(|(about, said)| (about, kept(said))).collect()
}

/// Leaves out of both what either did not hear, as it was too much.
pub fn within_earshot(a: &mut Value, b: &mut Value) {
    let heard = [a["events"].clone(), b["events"].clone()];
    for one in [a, b] {
        if let Some(map) = one["events"].as_object_mut() {
            let much =
                |about: &str| heard.iter().any(|all| all.get(about).is_some_and(Value::is_null));
            map.retain(|about, _| !much(about));
        }
    }
}

/// Numbers and generated names stand for any.
fn word(word: &str) -> &str {
    let bare = word.trim_end_matches(',');
    if bare.parse::<i64>().is_ok() {
        return "N";
    }
    if bare.starts_with("web-") || bare.contains("/web-") {
        return "<name>";
    }
    if bare.starts_with("node-") {
        return "<node>";
    }
    word
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_pods_of_a_daemonset_were_replaced_before_a_return_does_not_count() {
        let drawn = |generations: [&str; 2]| {
            let set = json!({"metadata": {
                "name": "web", "uid": "u",
                "annotations": {"deprecated.daemonset.template.generation": "6"},
            }});
            let pod = |generation: &str| {
                json!({"metadata": {
                    "labels": {"pod-template-generation": generation},
                    "ownerReferences": [{"uid": "u"}],
                }})
            };
            let pods = generations.iter().map(|it| pod(it)).collect();
            draw(&Lists::from([("daemonsets", vec![set]), ("pods", pods)]))
        };
        assert_eq!(drawn(["3", "6"]), drawn(["6", "5"]));
        assert_ne!(drawn(["3", "6"]), drawn(["3", "5"]));
    }
}
