//! LimitRanges: what a new Pod is given that says nothing, and what it may not ask for.

use super::causes::{list, text};
use super::pod_set as set;
use crate::json::{Map, Value, json};
use crate::kind::Kind;
use crate::types::Quantity;

/// Where a Pod says what it was given.
const GIVEN: &str = "kubernetes.io/limit-ranger";

/// Gives the containers of a new Pod what the ranges of its namespace have for those that say nothing.
pub(crate) fn fill<'a>(kind: &Kind, ranges: impl Iterator<Item = &'a Value>, object: &mut Value) {
    if !is_pod(kind) {
        return;
    }
    for range in ranges {
        let (mut limits, mut requests) = (Map::new(), Map::new());
        for limit in of_type(range, "Container") {
            for (field, into) in [("default", &mut limits), ("defaultRequest", &mut requests)] {
                into.extend(limit[field].as_object().cloned().unwrap_or_default());
            }
        }
        let mut told = Vec::new();
        for (containers, called) in
            [("containers", "container"), ("initContainers", "init container")]
        {
            let containers = object["spec"].get_mut(containers).and_then(Value::as_array_mut);
            for container in containers.into_iter().flatten() {
                for (field, given) in [("requests", &requests), ("limits", &limits)] {
                    let added = add(&mut container["resources"], field, given);
                    if !added.is_empty() {
                        let (one, name) = (field.trim_end_matches('s'), text(container, "name"));
                        told.push(format!("{} {one} for {called} {name}", added.join(", ")));
                    }
                }
            }
        }
        if !told.is_empty() {
            let note = format!("LimitRanger plugin set: {}", told.join("; "));
            set(&mut object["metadata"], "annotations", Map::new());
            object["metadata"]["annotations"][GIVEN] = json!(note);
        }
    }
}

/// What the ranges of its namespace have against a new object; `None` when nothing.
pub(crate) fn refuse<'a>(
    kind: &Kind,
    ranges: impl Iterator<Item = &'a Value>,
    object: &Value,
) -> Option<String> {
    let mut found = Vec::new();
    for range in ranges {
        if is_pod(kind) {
            for limit in list(&range["spec"], "limits") {
                pod(limit, object, &mut found);
            }
        } else if kind.group.is_empty() && kind.kind == "PersistentVolumeClaim" {
            let resources = &object["spec"]["resources"];
            for limit in of_type(range, "PersistentVolumeClaim") {
                least(limit, "PersistentVolumeClaim", resources, &mut found);
                for (name, most) in amounts(&limit["max"]) {
                    let asked = &resources["requests"][name];
                    let head = format!("maximum {name} usage per PersistentVolumeClaim is {most}");
                    if asked.is_null() {
                        found.push(format!("{head}.  No request is specified"));
                    } else if more(asked, most) {
                        found.push(format!("{head}, but request is {}", shown(asked)));
                    }
                }
            }
        }
        // The first range that refuses is the one that is heard.
        if !found.is_empty() {
            break;
        }
    }
    match found.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        many => Some(format!("[{}]", many.join(", "))),
    }
}

fn is_pod(kind: &Kind) -> bool {
    kind.group.is_empty() && kind.kind == "Pod"
}

fn of_type<'a>(range: &'a Value, wanted: &'a str) -> impl Iterator<Item = &'a Value> {
    list(&range["spec"], "limits").iter().filter(move |limit| text(limit, "type") == wanted)
}

fn add(resources: &mut Value, field: &str, given: &Map) -> Vec<String> {
    let missing: Vec<_> =
        given.iter().filter(|(name, _)| resources[field][name].is_null()).collect();
    for (name, amount) in &missing {
        set(resources, field, Map::new());
        resources[field][name.as_str()] = (*amount).clone();
    }
    missing.into_iter().map(|(name, _)| name.to_string()).collect()
}

fn pod(limit: &Value, object: &Value, found: &mut Vec<String>) {
    match text(limit, "type") {
        "Container" => {
            let spec = &object["spec"];
            for container in list(spec, "containers").iter().chain(list(spec, "initContainers")) {
                hold(limit, "Container", &container["resources"], found);
            }
        }
        "Pod" => {
            let whole =
                json!({"requests": whole(object, "requests"), "limits": whole(object, "limits")});
            hold(limit, "Pod", &whole, found);
        }
        _ => {}
    }
}

fn hold(limit: &Value, of: &str, resources: &Value, found: &mut Vec<String>) {
    least(limit, of, resources, found);
    for (name, most) in amounts(&limit["max"]) {
        let (asked, limited) = (&resources["requests"][name], &resources["limits"][name]);
        let head = format!("maximum {name} usage per {of} is {most}");
        if limited.is_null() {
            found.push(format!("{head}.  No limit is specified"));
        } else if more(limited, most) {
            found.push(format!("{head}, but limit is {}", shown(limited)));
        } else if !asked.is_null() && more(asked, most) {
            found.push(format!("{head}, but request is {}", shown(asked)));
        }
    }
}

fn least(limit: &Value, of: &str, resources: &Value, found: &mut Vec<String>) {
    for (name, least) in amounts(&limit["min"]) {
        let (asked, limited) = (&resources["requests"][name], &resources["limits"][name]);
        let head = format!("minimum {name} usage per {of} is {least}");
        if asked.is_null() {
            found.push(format!("{head}.  No request is specified"));
        } else if more(&json!(least), shown(asked)) {
            found.push(format!("{head}, but request is {}", shown(asked)));
        } else if !limited.is_null() && more(&json!(least), shown(limited)) {
            found.push(format!("{head}, but limit is {}", shown(limited)));
        }
    }
}

fn amounts(map: &Value) -> impl Iterator<Item = (&str, &str)> {
    map.as_object().into_iter().flatten().map(|(name, amount)| (name.as_str(), shown(amount)))
}

fn shown(amount: &Value) -> &str {
    amount.as_str().unwrap_or_default()
}

fn more(amount: &Value, than: &str) -> bool {
    let of = |text: &str| Quantity::parse(text).unwrap_or(Quantity::ZERO);
    of(shown(amount)) > of(than)
}

/// What all containers of a Pod ask for together, or the one that runs before them, if that is more.
fn whole(pod: &Value, field: &str) -> Value {
    let mut sums: Map = Map::new();
    let spec = &pod["spec"];
    for container in list(spec, "containers") {
        for (name, amount) in amounts(&container["resources"][field]) {
            let before = sums.get(name).map_or("0", shown);
            let of = |text: &str| Quantity::parse(text).unwrap_or(Quantity::ZERO);
            sums.insert(name.to_owned(), json!(of(before).plus(of(amount)).text()));
        }
    }
    for container in list(spec, "initContainers") {
        for (name, amount) in amounts(&container["resources"][field]) {
            if sums.get(name).is_none_or(|sum| more(&json!(amount), shown(sum))) {
                sums.insert(name.to_owned(), json!(amount));
            }
        }
    }
    Value::Object(sums)
}
