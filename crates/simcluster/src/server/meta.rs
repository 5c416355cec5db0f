//! The rules of `metadata` that hold for every kind.

use jiff::Timestamp;

use crate::error::ApiError;
use crate::json::{Text, Value, json};
use crate::kind::Kind;
use crate::object;

/// A time as the server prints it: whole seconds.
pub fn stamp(now: Timestamp) -> String {
    Timestamp::from_second(now.as_second()).unwrap_or(now).to_string()
}

/// A UUID of version 4 from a seeded generator.
pub fn new_uid(rng: &mut fastrand::Rng) -> String {
    let bits = (rng.u128(..) & !(0xf << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// Five letters that cannot spell a word, as `generateName` appends them.
pub fn random_suffix(rng: &mut fastrand::Rng) -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    (0..5).map(|_| char::from(LETTERS[rng.usize(..LETTERS.len())])).collect()
}

/// Makes `metadata` a map of the right place: refuses a namespace that contradicts the URL.
pub fn place(kind: &Kind, object: &mut Value, namespace: &str) -> Result<(), ApiError> {
    if !object["metadata"].is_object() {
        object["metadata"] = json!({});
    }
    if !kind.namespaced {
        if !object::namespace(object).is_empty() {
            object["metadata"]
                .as_object_mut()
                .expect("metadata was made a map above")
                .remove("namespace");
        }
        return Ok(());
    }
    let given = object::namespace(object);
    if given.is_empty() {
        object["metadata"]["namespace"] = json!(namespace);
    } else if given != namespace {
        return Err(ApiError::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    Ok(())
}

/// The metadata of a new object: name, UID and time; what a client may not choose is dropped.
pub fn born(kind: &Kind, object: &mut Value, rng: &mut fastrand::Rng, now: Timestamp) {
    let generated = object["metadata"]["generateName"].as_str().map(str::to_owned);
    if object::name(object).is_empty()
        && let Some(prefix) = generated.filter(|prefix| !prefix.is_empty())
    {
        // 63 characters is a label's length; the real server cuts the prefix to leave room.
        let prefix: String = prefix.chars().take(58).collect();
        object["metadata"]["name"] = json!(format!("{prefix}{}", random_suffix(rng)));
    }
    let uid = new_uid(rng);
    let meta = object["metadata"].as_object_mut().expect("placed before");
    for gone in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
        meta.remove(gone);
    }
    meta.insert("uid".to_owned(), json!(uid));
    meta.insert("creationTimestamp".to_owned(), json!(stamp(now)));
    if kind.counts_generations() {
        meta.insert("generation".to_owned(), json!(1));
    }
    prune_empty(meta);
    if kind.group.is_empty() && kind.plural == "namespaces" {
        let name = object["metadata"]["name"].clone();
        object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
    }
}

/// The metadata that an update does not change, taken from the stored object; where somebody wants
/// another value of it that he must not want, that stays and is refused later.
pub fn kept(before: &Value, after: &mut Value) {
    let old = &before["metadata"];
    let meta = after["metadata"].as_object_mut().expect("placed before");
    for field in ["creationTimestamp", "generation", "generateName", "selfLink", "resourceVersion"]
    {
        match old.get(field) {
            Some(value) => {
                meta.insert(field.to_owned(), value.clone());
            }
            None => {
                meta.remove(field);
            }
        }
    }
    prune_empty(meta);
    for field in ["uid", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        if let Some(value) = old.get(field) {
            meta.entry(field).or_insert_with(|| value.clone());
        }
    }
}

/// Takes out each owner that is there twice; a warning if there was one. `when` says when that was seen.
pub fn single_owners(object: &mut Value, when: &str) -> Option<String> {
    let twice = take_twofold_owners(object);
    (!twice.is_empty()).then(|| {
        format!(
            ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner \
             references in 1.20+, and may reject such requests as early as 1.24; please fix your \
             requests; duplicate UID(s) observed: {}",
            twice.join(", ")
        )
    })
}

/// When the owners of a patched object are looked at.
pub const AFTER_ADMISSION: &str = " after mutating admission happens";

fn take_twofold_owners(object: &mut Value) -> Vec<String> {
    let owners = object.pointer_mut("/metadata/ownerReferences").and_then(Value::as_array_mut);
    let Some(owners) = owners else { return Vec::new() };
    let (mut kept, mut twice) = (Vec::new(), Vec::new());
    for owner in owners.drain(..) {
        if kept.contains(&owner) {
            twice.push(owner["uid"].as_str().unwrap_or_default().to_owned());
        } else {
            kept.push(owner);
        }
    }
    *owners = kept;
    twice
}

/// Drops metadata fields that Go would leave out: null, empty maps, lists and strings.
fn prune_empty(meta: &mut crate::json::Map) {
    meta.retain(|key, value| match value {
        Value::Null => false,
        // No managers at all is an order to forget them.
        Value::Array(items) => !items.is_empty() || key == "managedFields",
        Value::Object(fields) => !fields.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => true,
    });
}

/// Whether an update has to raise the generation: something beside metadata and status changed.
pub fn spec_changed(kind: &Kind, before: &Value, after: &Value) -> bool {
    if kind.custom.is_none() {
        return before.get("spec") != after.get("spec")
            || before.get("webhooks") != after.get("webhooks");
    }
    let counted = |key: &str| {
        let status = kind.has_status && key == "status";
        !status && !matches!(key, "metadata" | "apiVersion" | "kind")
    };
    let rest = |object: &Value| -> Vec<(Text, Value)> {
        let fields = object.as_object().into_iter().flatten();
        fields
            .filter(|(key, _)| counted(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    };
    rest(before) != rest(after)
}

/// The finalizers of an object.
pub fn finalizers(object: &Value) -> Vec<&str> {
    object["metadata"]["finalizers"]
        .as_array()
        .map(|all| all.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default()
}
