//! Server-side apply, and who owns which field after any write.

use crate::json::{Value, json};

mod cap;
mod compare;
mod conflict;
mod elsewhere;
mod entries;
mod last_applied;
mod merge;
mod scale;
mod set;
mod typed;

pub use entries::{Writer, stamp};
pub use set::FieldSet;

use cap::cap;
use compare::{Changes, compare, field_set};
use conflict::refuse_conflicts;
use elsewhere::Elsewhere;
use entries::{Entry, Fields};

use crate::error::ApiError;
use crate::kind::Kind;
use crate::object;
use crate::types::Shape;

/// The manager of a write: `fieldManager`, else the User-Agent up to its first slash, else
/// `unknown`.
pub fn manager_name<'a>(field_manager: Option<&'a str>, user_agent: Option<&'a str>) -> &'a str {
    let given = field_manager.filter(|name| !name.is_empty());
    let agent =
        user_agent.and_then(|agent| agent.split('/').next()).filter(|name| !name.is_empty());
    given.or(agent).unwrap_or("unknown")
}

/// Brings `managedFields` of `new` up to date after a create (`live` is `None`) or an update.
///
/// `new` is the object as it will be stored, defaults included. A list of entries that the client
/// sent along is taken as it is; an empty entry (`[{}]`) forgets all owners.
pub fn track(kind: &Kind, live: Option<&Value>, new: &mut Value, writer: &Writer<'_>) {
    let shape = Shape::of(kind);
    let mut owners = entries_before(live, new, writer);
    if live.is_some() && owners.is_empty() {
        // Once nobody is noted, nobody is until the first apply.
        return entries::write(new, owners);
    }
    let empty = json!({"metadata": {}});
    let mut changes = compare(shape, live.unwrap_or(&empty), new);
    strip(&mut changes.set, kind, writer.subresource);
    strip(&mut changes.removed, kind, writer.subresource);
    if writer.subresource == Some("scale") {
        scale::adjust(kind, &mut owners, new, &mut changes);
    }
    let elsewhere = Elsewhere::look(kind, &owners, live, new, writer);
    for owner in &mut owners {
        release(owner, elsewhere.of(owner).unwrap_or(&changes));
    }
    if !changes.set.is_empty() {
        let mut mine = Entry::new(writer, false);
        if writer.subresource == Some("scale") {
            // A quirk of the real server: what is written through `scale` carries no time.
            mine.time = None;
        }
        take(&mut owners, mine, changes.set);
    }
    cap(&mut owners);
    entries::write(new, owners);
}

/// Takes the marks of a deletion away from all owners: who PUTs an object that is being deleted
/// without them is taken to have removed them, though they stay.
pub fn forget_deletion(object: &mut Value) {
    let mut gone = FieldSet::default();
    for field in ["f:deletionTimestamp", "f:deletionGracePeriodSeconds"] {
        gone.below("f:metadata").below(field).member = true;
    }
    let mut owners = entries::take(object);
    for owner in owners.iter_mut().filter(|owner| owner.fields.may_meet(&gone)) {
        let fields = owner.fields.set();
        *fields = fields.difference(&gone);
    }
    entries::write(object, owners);
}

fn entries_before(live: Option<&Value>, new: &mut Value, writer: &Writer<'_>) -> Vec<Entry> {
    let sent = &new["metadata"]["managedFields"];
    let main = writer.subresource.is_none();
    match sent.as_array().map(Vec::as_slice) {
        Some([]) if main => Vec::new(),
        Some([only]) if main && *only == json!({}) => Vec::new(),
        // A subresource cannot change them; when they are the live ones, no copy is needed.
        Some([_, ..]) if live.is_some_and(|live| managed(live) == sent) => entries::take(new),
        Some(all @ [_, ..]) if main && all.iter().all(entries::is_one) => entries::take(new),
        _ => live.map(entries::read).unwrap_or_default(),
    }
}

/// Undoes a write that changed nothing but the times of owners, as the real server does before it
/// stores: applying an atomic list without its defaults is such a one.
pub fn keep_times(before: &Value, after: &mut Value) {
    if managed(before) == managed(after) {
        return;
    }
    let (Value::Object(old), Value::Object(new)) = (before, &*after) else { return };
    let same = old.len() == new.len()
        && old.iter().all(|(key, value)| key == "metadata" || new.get(key) == Some(value));
    if !same {
        return;
    }
    let (mut old, mut new) = (before["metadata"].clone(), after["metadata"].clone());
    for metadata in [&mut old, &mut new] {
        for entry in metadata["managedFields"].as_array_mut().into_iter().flatten() {
            entry["time"] = Value::Null;
        }
    }
    if old == new {
        after["metadata"] = before["metadata"].clone();
    }
}

fn managed(object: &Value) -> &Value {
    &object["metadata"]["managedFields"]
}

fn release(owner: &mut Entry, changes: &Changes) {
    for gone in [&changes.set, &changes.removed] {
        if owner.fields.may_meet(gone) {
            let fields = owner.fields.set();
            *fields = fields.difference(gone);
        }
    }
}

fn take(owners: &mut Vec<Entry>, mut mine: Entry, fields: FieldSet) {
    match owners.iter_mut().find(|owner| owner.same_manager(&mine)) {
        Some(owner) => {
            owner.fields.set().absorb(&fields);
            owner.time = mine.time;
        }
        None => {
            mine.fields = Fields::Read(fields);
            owners.push(mine);
        }
    }
}

/// Takes out what nobody owns: identity, and what this resource cannot write.
fn strip(fields: &mut FieldSet, kind: &Kind, subresource: Option<&str>) {
    fields.member = false;
    for key in ["f:apiVersion", "f:kind"] {
        fields.children.remove(key);
    }
    match subresource {
        None if kind.has_status => {
            fields.children.remove("f:status");
        }
        Some("status") => {
            fields.children.remove("f:spec");
            if kind.custom.is_some() {
                fields.children.remove("f:metadata");
            }
        }
        _ => {}
    }
    if let Some(metadata) = fields.children.get_mut("f:metadata") {
        metadata.member = false;
        for key in [
            "f:name",
            "f:namespace",
            "f:creationTimestamp",
            "f:selfLink",
            "f:uid",
            "f:generation",
            "f:managedFields",
            "f:resourceVersion",
        ] {
            metadata.children.remove(key);
        }
    }
    fields.children.retain(|_, child| !child.is_empty());
}

/// Whether an applied configuration fits its kind's schema.
pub fn fits(kind: &Kind, config: &Value) -> Result<(), ApiError> {
    // Called as it calls itself, which may be by no namespace or by no name.
    let (namespace, name) = (object::namespace(config), object::name(config));
    typed::check(Shape::of(kind), config).map_err(|why| {
        let slash = if kind.group.is_empty() { "/" } else { "" };
        let (version, kind) = (kind.api_version(), &kind.kind);
        ApiError::internal(format!(
            "failed to create typed patch object ({namespace}/{name}; {slash}{version}, \
             Kind={kind}): {why}"
        ))
    })
}

/// The object after an apply of `config`, with its `managedFields`.
///
/// `live` is `None` when the apply creates. Defaults and identity are still to be filled in by the
/// caller; an apply that changes nothing returns `live` as it was. `namespace` and `name` are the
/// request's. 409 on fields of others unless `force`.
pub fn apply(
    kind: &Kind,
    live: Option<&Value>,
    config: &Value,
    writer: &Writer<'_>,
    force: bool,
) -> Result<Value, ApiError> {
    if config["metadata"]["managedFields"].as_array().is_some_and(|list| !list.is_empty()) {
        return Err(ApiError::bad_request("metadata.managedFields must be nil"));
    }
    let shape = Shape::of(kind);
    fits(kind, config)?;
    let empty = json!({"apiVersion": kind.api_version(), "kind": kind.kind, "metadata": {}});
    let before = live.unwrap_or(&empty);
    let mut owners = live.map(entries::read).unwrap_or_default();
    if let Some(live) = live.filter(|_| owners.is_empty()) {
        owners.extend(unmanaged(kind, live, writer));
    }

    let mut mine = Entry::new(writer, true);
    let mut wanted = field_set(shape, config);
    strip(&mut wanted, kind, writer.subresource);
    let mut last =
        owners.iter().position(|owner| owner.same_manager(&mine)).map(|place| owners.remove(place));

    let mut after = merge::merge(shape, before, config);
    if let Some(last) = &mut last {
        let mut kept = wanted.clone();
        for owner in &mut owners {
            kept.absorb(owner.fields.set());
        }
        // Metadata stays, whoever owns anything in it.
        kept.children.entry("f:metadata".to_owned()).or_default().member = true;
        merge::remove(shape, &mut after, last.fields.set(), &kept);
    }
    // Before the nulls go: who else owns an emptied map keeps it.
    let mut changes = compare(shape, before, &after);
    if last.is_some() {
        drop_nulls(kind, &mut after);
    }
    strip(&mut changes.set, kind, writer.subresource);
    strip(&mut changes.removed, kind, writer.subresource);
    let elsewhere = Elsewhere::look(kind, &owners, live, &after, writer);
    if !force && writer.manager == last_applied::MANAGER {
        let free = last_applied::fields(shape, before);
        refuse_conflicts(&mut owners, &changes.set.difference(&free), &elsewhere)?;
    } else if !force {
        refuse_conflicts(&mut owners, &changes.set, &elsewhere)?;
    }
    for owner in &mut owners {
        release(owner, elsewhere.of(owner).unwrap_or(&changes));
    }
    if live.is_some() && changes.set.is_empty() && changes.removed.is_empty() {
        // A quirk of the real server: an apply that changes no field leaves no time either.
        mine.time = last.as_ref().and_then(|last| last.time.clone());
    }
    mine.fields = Fields::Read(wanted);
    owners.push(mine);
    entries::write(&mut after, owners);
    if writer.manager == last_applied::MANAGER {
        last_applied::note(&mut after, config);
    }
    Ok(after)
}

/// The owner of what was there before anybody was noted.
fn unmanaged(kind: &Kind, live: &Value, writer: &Writer<'_>) -> Option<Entry> {
    let mut found = compare(Shape::of(kind), &json!({"metadata": {}}), live).set;
    strip(&mut found, kind, None);
    let writer = Writer { manager: "before-first-apply", subresource: None, ..writer.clone() };
    let fields = Fields::Read(found.clone());
    (!found.is_empty()).then(|| Entry { fields, ..Entry::new(&writer, false) })
}

/// Types of the server's own know no null where a map was emptied; the rest of a custom object is
/// kept as it is.
fn drop_nulls(kind: &Kind, object: &mut Value) {
    fn walk(value: &mut Value) {
        if let Some(map) = value.as_object_mut() {
            map.retain(|_, child| !child.is_null());
            map.values_mut().for_each(walk);
        }
    }
    if kind.custom.is_some() {
        walk(&mut object["metadata"]);
    } else {
        walk(object);
    }
}

#[cfg(test)]
mod tests;
