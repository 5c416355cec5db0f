//! StatefulSets: held by a partition above what has not moved; under OnDelete by nobody evicting.

use std::collections::BTreeMap;

use api::batches::names::{
    CONTROL_INFO, HELD_PARTITION, IN_PROGRESSING, STATEFULSET_ORIGINAL_STRATEGY,
};
use engine::front::batch_release::{Body, Held, Machinery, Original};
use engine::nature::Nature;
use engine::world::{Claim, Strategy};
use serde_json::{Map, Value, json};

use super::{ABOVE_ALL, Claimed, Draft, Hold, KeepHeld, Take, annotation, count, mark, number};
use crate::seen::StatefulSetSeen;

/// The patch that holds a change.
pub fn hold(object: &Value, hold: &Hold<'_>) -> Value {
    let mut draft = Draft::default();
    draft.annotate(IN_PROGRESSING, mark(hold.rollout));
    if !rolls(object) {
        return draft.patch();
    }
    // A partition above all is one that a release has left behind, and nobody's own.
    if saved(object).is_none() && partition(object) < ABOVE_ALL {
        draft.annotate(STATEFULSET_ORIGINAL_STRATEGY, object["spec"]["updateStrategy"].to_string());
    }
    close(&mut draft, hold.partition);
    draft.patch()
}

/// The patch that takes back what lets go of a StatefulSet that is held: `new` as somebody would have it
/// instead of `old`. A strategy that is asked for is kept, for when the set is given back.
pub fn keep_held(old: &Value, new: &Value, keep: KeepHeld) -> Value {
    let mut draft = Draft::default();
    draft.restore_marks(old, new, keep);
    if keep.mark || keep.control {
        let names = [STATEFULSET_ORIGINAL_STRATEGY, HELD_PARTITION];
        draft.restore_annotations(old, new, &names);
    }
    if !rolls(old) || is_ours(old, new) {
        return draft.patch();
    }
    let held = if keep.restart { Some(ABOVE_ALL) } else { held(old) };
    let Some(held) = held else { return draft.patch() };
    if !rolls(new) {
        draft.set(&["spec", "updateStrategy", "type"], json!("RollingUpdate"));
    }
    if keep.restart {
        close(&mut draft, held);
    } else if partition(new) < held || !rolls(new) {
        draft.set(&["spec", "updateStrategy", "rollingUpdate", "partition"], json!(held));
    }
    if let Some(asked) = asked(old, new) {
        draft.annotate(STATEFULSET_ORIGINAL_STRATEGY, asked);
    }
    draft.patch()
}

/// What a decision about its release looks at. `ran` are the revisions of its Pods.
pub(crate) fn body<'a>(
    seen: &StatefulSetSeen,
    live: &Value,
    ran: impl Iterator<Item = &'a str>,
    claimed: Claimed,
) -> Body {
    let strategy = &live["spec"]["updateStrategy"];
    let stable = match strategy["type"] == "OnDelete" {
        // Its status never says so.
        true => most(ran, &seen.update_revision),
        false => seen.current_revision.clone(),
    };
    Body {
        workload: seen.workload(&[], Claim::Free),
        // A status of the original names it by its ControllerRevision, which is what its Pods carry.
        also_called: Vec::new(),
        stable_revision: Some(stable).filter(|it| !it.is_empty()),
        control: claimed.control,
        in_progressing: claimed.in_progressing,
        max_unavailable: count(&strategy["rollingUpdate"]["maxUnavailable"]),
        machinery: Machinery::Pods {
            nature: Nature::STATEFUL_SET,
            saved: saved(live).map(|saved| read(&saved)),
        },
    }
}

/// The revision of most Pods that are not at the update revision; that one where there are none.
pub(crate) fn most<'a>(ran: impl Iterator<Item = &'a str>, update: &str) -> String {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for revision in ran.filter(|it| *it != update && !it.is_empty()) {
        *counts.entry(revision).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map_or(update, |(revision, _)| revision).to_owned()
}

/// The patch that takes it over.
pub(crate) fn take(live: &Value, take: &Take<'_>) -> Value {
    let mut draft = Draft::default();
    draft.annotate(CONTROL_INFO, take.control);
    if let Some(Original::Strategy(own)) = take.keep {
        draft.annotate(STATEFULSET_ORIGINAL_STRATEGY, kept(live, own).to_string());
    }
    match take.held {
        Held::Strategy(Strategy::RollingUpdate { partition }) => close(&mut draft, partition),
        _ if rolls(live) => close(&mut draft, partition(live)),
        _ => {}
    }
    draft.patch()
}

/// The patch that gives it back; without `restore` it stays as it is held, and nobody's.
pub(crate) fn release(live: &Value, restore: Option<Original>) -> Value {
    let mut draft = Draft::default();
    draft.annotate(CONTROL_INFO, Value::Null);
    let Some(Original::Strategy(own)) = restore else { return draft.patch() };
    draft.forget_annotations(live, &[STATEFULSET_ORIGINAL_STRATEGY, HELD_PARTITION]);
    let back = saved(live).filter(|saved| read(saved) == own);
    let mut back = back.unwrap_or_else(|| kept(live, own));
    // What stands there now and did not before has to go.
    let stands = live["spec"]["updateStrategy"]["rollingUpdate"].as_object();
    if back["rollingUpdate"].is_object() {
        for field in stands.into_iter().flat_map(Map::keys) {
            let field = &mut back["rollingUpdate"][field];
            *field = field.take();
        }
    } else if stands.is_some() {
        back["rollingUpdate"] = Value::Null;
    }
    draft.set(&["spec", "updateStrategy"], back);
    draft.patch()
}

/// The patch that changes the strategy alone.
pub(crate) fn set_strategy(strategy: Strategy) -> Value {
    let mut draft = Draft::default();
    match strategy {
        Strategy::RollingUpdate { partition } => {
            draft.set(&["spec", "updateStrategy", "type"], json!("RollingUpdate"));
            close(&mut draft, partition);
        }
        Strategy::OnDelete => {
            let on_delete = json!({"type": "OnDelete", "rollingUpdate": null});
            draft.set(&["spec", "updateStrategy"], on_delete);
            draft.annotate(HELD_PARTITION, Value::Null);
        }
    }
    draft.patch()
}

/// The strategy that was put aside. Where that is lost or spoilt, and the partition bears our stamp, the
/// partition is nobody's own: giving it back would leave Pods behind in every later change.
pub(super) fn saved(live: &Value) -> Option<Value> {
    let saved = annotation(live, STATEFULSET_ORIGINAL_STRATEGY)
        .and_then(|saved| serde_json::from_str(saved).ok())
        .filter(Value::is_object);
    let stamped = rolls(live) && annotation(live, HELD_PARTITION).is_some();
    saved.or_else(|| stamped.then(|| kept(live, Strategy::RollingUpdate { partition: 0 })))
}

pub(super) fn read(strategy: &Value) -> Strategy {
    match strategy["type"].as_str() {
        Some("OnDelete") => Strategy::OnDelete,
        _ => Strategy::RollingUpdate {
            partition: number(&strategy["rollingUpdate"]["partition"], 0),
        },
    }
}

/// The strategy as it stands, with what the engine says of it.
fn kept(live: &Value, own: Strategy) -> Value {
    let mut kept = live["spec"]["updateStrategy"].clone();
    match own {
        Strategy::OnDelete => kept = json!({"type": "OnDelete"}),
        Strategy::RollingUpdate { partition } => {
            if !kept.is_object() {
                kept = json!({});
            }
            kept["type"] = json!("RollingUpdate");
            if !kept["rollingUpdate"].is_object() {
                kept["rollingUpdate"] = json!({});
            }
            kept["rollingUpdate"]["partition"] = json!(partition);
        }
    }
    kept
}

/// Closes the set at a partition, and says so beside it.
fn close(draft: &mut Draft, partition: u32) {
    draft.set(&["spec", "updateStrategy", "rollingUpdate", "partition"], json!(partition));
    draft.annotate(HELD_PARTITION, partition.to_string());
}

/// Whether this is a write of whoever releases the set: it says anew where it is held.
fn is_ours(old: &Value, new: &Value) -> bool {
    let stamp = |object| annotation(object, HELD_PARTITION);
    stamp(old) != stamp(new) && annotation(new, CONTROL_INFO).is_some()
}

/// The strategy that somebody asks for; `None` where it is not another than before.
fn asked(old: &Value, new: &Value) -> Option<String> {
    let mut asked = new["spec"]["updateStrategy"].clone();
    if asked == old["spec"]["updateStrategy"] {
        return None;
    }
    if rolls(new) && partition(new) == partition(old) {
        // Not by him: it is the one that holds the set.
        let kept = annotation(old, STATEFULSET_ORIGINAL_STRATEGY).unwrap_or_default();
        let kept: Value = serde_json::from_str(kept).unwrap_or_default();
        let own = kept["rollingUpdate"]["partition"].as_u64().unwrap_or(0);
        asked["rollingUpdate"]["partition"] = json!(own);
    }
    let asked = asked.to_string();
    (annotation(new, STATEFULSET_ORIGINAL_STRATEGY) != Some(asked.as_str())).then_some(asked)
}

fn rolls(object: &Value) -> bool {
    object["spec"]["updateStrategy"]["type"] != "OnDelete"
}

/// Where the set is held; no higher than it stands.
fn held(object: &Value) -> Option<u32> {
    let said: u32 = annotation(object, HELD_PARTITION)?.parse().ok()?;
    Some(said.min(partition(object)))
}

fn partition(object: &Value) -> u32 {
    let partition = object["spec"]["updateStrategy"]["rollingUpdate"]["partition"].as_u64();
    partition.and_then(|partition| u32::try_from(partition).ok()).unwrap_or(0)
}
