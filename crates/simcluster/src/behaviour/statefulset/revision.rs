//! ControllerRevisions of a StatefulSet: what is in them, how they are named, which one is current.

use std::fmt::Write as _;

use crate::behaviour::own;
use crate::json::{Value, json};
use crate::object::{self, Object};

/// Longest part of a set's name that goes into a revision's name.
const NAME_LIMIT: usize = 223;
/// The label of a revision with its hash.
const HASH: &str = "controller.kubernetes.io/hash";
/// The alphabet that Kubernetes writes hashes in: no vowels, no digits that look like letters.
const SAFE: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// What a revision records of a set: the Pod template alone, as a patch that replaces it.
/// volumeClaimTemplates, replicas, strategy and minReadySeconds are not in it.
pub fn data(set: &Value) -> Value {
    let mut template = set["spec"]["template"].clone();
    if let Some(template) = template.as_object_mut() {
        template.insert("$patch".to_owned(), "replace".into());
    }
    json!({"spec": {"template": template}})
}

/// The Pod template that a revision holds.
pub fn template(revision: &Value) -> &Value {
    &revision["data"]["spec"]["template"]
}

/// The hash of a revision's data, as the real controller computes it: FNV-1 (32 bit) over the JSON
/// as Go writes it, then the collision count.
pub fn hash(data: &Value, collisions: i64) -> String {
    let mut json = String::new();
    go_json(data, &mut json);
    let _ = write!(json, "{collisions}");
    let mut sum: u32 = 0x811c_9dc5;
    for byte in json.bytes() {
        sum = sum.wrapping_mul(0x0100_0193) ^ u32::from(byte);
    }
    sum.to_string().bytes().map(|digit| char::from(SAFE[usize::from(digit) % SAFE.len()])).collect()
}

/// JSON as Go's `encoding/json` writes a map: sorted keys, no spaces, `<`, `>` and `&` escaped.
fn go_json(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            out.push('{');
            for (i, (key, value)) in map.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                go_string(key, out);
                out.push(':');
                go_json(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                go_json(item, out);
            }
            out.push(']');
        }
        Value::String(text) => go_string(text, out),
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

fn go_string(text: &str, out: &mut String) {
    for c in Value::from(text).to_string().chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            c => out.push(c),
        }
    }
}

/// A revision's number: the highest is the newest.
pub fn number(revision: &Value) -> i64 {
    revision["revision"].as_i64().unwrap_or_default()
}

/// Sorts a history from oldest to newest: number, creation, name.
pub fn sort(history: &mut [Object]) {
    history.sort_by(|a, b| {
        let key = |r: &Object| {
            let created =
                r["metadata"]["creationTimestamp"].as_str().unwrap_or_default().to_owned();
            (number(r), created, object::name(r).to_owned())
        };
        key(a).cmp(&key(b))
    });
}

/// How the template of a set relates to its history.
#[derive(Debug, PartialEq)]
pub enum Update {
    /// The newest revision holds it.
    Newest(Object),
    /// An older revision holds it: the same object and name, with its number raised above all.
    RolledBack(Value),
    /// No revision holds it.
    New(Value),
}

impl Update {
    /// The revision, stored already or about to be.
    pub fn object(&self) -> &Value {
        match self {
            Self::Newest(object) => object,
            Self::RolledBack(object) | Self::New(object) => object,
        }
    }
}

/// The update revision of a set, given its history sorted from oldest to newest, and the collision
/// count that its name took. `taken` says whether another object has a name.
pub fn update(set: &Value, history: &[Object], taken: impl Fn(&str) -> bool) -> (Update, i64) {
    let mut collisions = set["status"]["collisionCount"].as_i64().unwrap_or_default();
    let data = data(set);
    let equal = history.iter().rposition(|revision| revision["data"] == data);
    let next = history.iter().map(|revision| number(revision)).max().unwrap_or_default() + 1;
    match equal {
        Some(i) if i + 1 == history.len() => (Update::Newest(history[i].clone()), collisions),
        Some(i) => {
            let mut raised = Value::clone(&history[i]);
            raised["revision"] = next.into();
            (Update::RolledBack(raised), collisions)
        }
        None => loop {
            let hash = hash(&data, collisions);
            let name = format!("{}-{hash}", clip(object::name(set)));
            if !taken(&name) {
                break (
                    Update::New(build(set, &name, (HASH, &hash), &data, next, &owner(set))),
                    collisions,
                );
            }
            collisions += 1;
        },
    }
}

fn clip(name: &str) -> &str {
    // Names are ASCII: validated as DNS names.
    &name[..name.len().min(NAME_LIMIT)]
}

/// A revision that holds `data`, with its hash under a label; `owner` is the reference to the set.
pub fn build(
    set: &Value,
    name: &str,
    (label, hash): (&str, &str),
    data: &Value,
    number: i64,
    owner: &Value,
) -> Value {
    let mut labels = set["spec"]["template"]["metadata"]["labels"].clone();
    if !labels.is_object() {
        labels = json!({});
    }
    labels[label] = hash.into();
    let mut revision = json!({
        "apiVersion": "apps/v1", "kind": "ControllerRevision",
        "metadata": {
            "name": name, "namespace": object::namespace(set), "labels": labels,
            "ownerReferences": [owner],
        },
        "data": data, "revision": number,
    });
    if let Some(annotations) = set["metadata"].get("annotations") {
        revision["metadata"]["annotations"] = annotations.clone();
    }
    revision
}

/// The owner reference that the controller writes into what it makes: of the set's own kind, a
/// StatefulSet where it does not say.
pub fn owner(set: &Value) -> Value {
    own::reference(set, set["kind"].as_str().unwrap_or("StatefulSet"))
}

/// The status of a workload whose next revision, or set, has a name that is taken: another template
/// has its hash, or somebody else its name.
pub fn collided(workload: &Value) -> Value {
    let mut status = workload["status"].clone();
    let collisions = status["collisionCount"].as_i64().unwrap_or(0) + 1;
    status["collisionCount"] = collisions.into();
    status
}

/// The names of the revisions that the history limit does not keep, oldest first. Live revisions
/// (current, update, and whatever a Pod's label names) neither count nor go.
pub fn surplus(history: &[Object], live: impl Fn(&str) -> bool, limit: usize) -> Vec<&Object> {
    let dead: Vec<&Object> = history.iter().filter(|r| !live(object::name(r))).collect();
    let surplus = dead.len().saturating_sub(limit);
    dead.into_iter().take(surplus).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn set(image: &str) -> Value {
        json!({
            "metadata": {"name": "web", "namespace": "exch", "uid": "u1"},
            "spec": {"template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "containers": [{
                        "name": "main", "image": image,
                        "ports": [{"containerPort": 80, "protocol": "TCP"}],
                        "env": [{"name": "A", "value": "1"}], "resources": {},
                        "terminationMessagePath": "/dev/termination-log",
                        "terminationMessagePolicy": "File", "imagePullPolicy": "IfNotPresent",
                    }],
                    "restartPolicy": "Always", "terminationGracePeriodSeconds": 1,
                    "dnsPolicy": "ClusterFirst", "securityContext": {},
                    "schedulerName": "default-scheduler",
                },
            }},
        })
    }

    fn history(images: &[&str]) -> Vec<Object> {
        let mut all = Vec::new();
        for image in images {
            let (update, _) = update(&set(image), &all, |_| false);
            all.push(Arc::new(update.object().clone()));
        }
        all
    }

    #[test]
    fn a_revision_is_named_as_a_real_control_plane_names_it() {
        // Recorded on 1.36.3: this template gave web-7c8f994cd6.
        assert_eq!(hash(&data(&set("app:v1")), 0), "7c8f994cd6");
        assert_eq!(object::name(&history(&["app:v1"])[0]), "web-7c8f994cd6");
    }

    #[test]
    fn a_rollback_re_uses_the_equal_revision_and_raises_its_number() {
        let history = history(&["app:v1", "app:v2"]);
        let (update, _) = update(&set("app:v1"), &history, |_| false);
        let Update::RolledBack(raised) = update else { panic!("{update:?}") };
        assert_eq!(object::name(&raised), object::name(&history[0]));
        assert_eq!(number(&raised), 3);
    }

    #[test]
    fn a_name_that_is_taken_raises_the_collision_count() {
        let first = object::name(&history(&["app:v1"])[0]).to_owned();
        let (update, collisions) = update(&set("app:v1"), &[], |name| name == first);
        assert_eq!(collisions, 1);
        assert_ne!(object::name(update.object()), first);
    }

    #[test]
    fn replicas_strategy_and_claims_are_not_in_a_revision() {
        let mut other = set("app:v1");
        other["spec"]["replicas"] = 9.into();
        other["spec"]["minReadySeconds"] = 9.into();
        other["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}}]);
        assert_eq!(data(&other), data(&set("app:v1")));
    }

    #[test]
    fn the_history_limit_counts_only_dead_revisions() {
        let history = history(&["app:v1", "app:v2", "app:v3", "app:v4"]);
        let names: Vec<&str> = history.iter().map(|r| object::name(r)).collect();
        let live = |name: &str| name == names[0] || name == names[3];
        let gone = surplus(&history, live, 1);
        assert_eq!(gone.iter().map(|r| object::name(r)).collect::<Vec<_>>(), [names[1]]);
        assert!(surplus(&history, live, 2).is_empty());
    }

    #[test]
    fn the_hash_escapes_as_go_does() {
        let mut json = String::new();
        go_json(&json!({"b": "<&>", "a": [1, true, null]}), &mut json);
        assert_eq!(json, r#"{"a":[1,true,null],"b":"\u003c\u0026\u003e"}"#);
    }
}
