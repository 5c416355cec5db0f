//! What is written on kinds that are held by a partition above what has not moved; under OnDelete, where a
//! kind has that, by nobody evicting.
//!
//! The user's strategy is put aside whole, in an annotation, and the partition that holds is written down
//! beside it: by that a write of ours is told from somebody else's.

use api::batches::names::{CONTROL_INFO, HELD_PARTITION, IN_PROGRESSING, ORIGINAL_STRATEGY};
use engine::front::batch_release::{Held, Original};
use engine::quantity::IntOrPercent;
use engine::world::Strategy;
use serde_json::{Map, Value, json};

use super::units::Units;
use super::{ABOVE_ALL, Beside, Draft, Hand, Hold, KeepHeld, Take};
use super::{annotated, annotation, count, mark, marked};

/// A kind that is held by a partition.
#[derive(Debug)]
pub(crate) struct ByPartition {
    /// Where the partition stands in `spec.updateStrategy`; `None` directly under it.
    pub(crate) within: Option<&'static str>,
    /// How it is read and written.
    pub(crate) units: Units,
    /// Whether `paused` stands beside it, and has to be false while something moves.
    pub(crate) pauses: bool,
    /// Whether the type of the strategy may be OnDelete, which no partition holds.
    pub(crate) on_delete: bool,
    /// Pods that the object asks for.
    pub(crate) replicas: fn(&Value) -> u32,
}

impl Hand for ByPartition {
    fn hold(&self, object: &Value, hold: &Hold<'_>) -> Value {
        let mut draft = Draft::default();
        draft.annotate(IN_PROGRESSING, mark(hold.rollout));
        if !self.rolls(object) {
            return draft.patch();
        }
        // A partition above all is one that a release has left behind, and nobody's own.
        if self.saved(object).is_none() && self.partition(object) < ABOVE_ALL {
            draft.annotate(ORIGINAL_STRATEGY, object["spec"]["updateStrategy"].to_string());
        }
        self.close(&mut draft, self.written(object, hold.partition, None));
        draft.patch()
    }

    fn keep_held(&self, old: &Value, new: &Value, keep: KeepHeld) -> Value {
        let mut draft = Draft::default();
        draft.restore_marks(old, new, keep);
        if keep.mark || keep.control {
            draft.restore_annotations(old, new, &[ORIGINAL_STRATEGY, HELD_PARTITION]);
        }
        if !self.rolls(old) || is_ours(old, new) {
            return draft.patch();
        }
        let above_all = self.written(new, ABOVE_ALL, None);
        let held = if keep.restart { Some(above_all) } else { self.held(old) };
        let Some(held) = held else { return draft.patch() };
        if !self.rolls(new) {
            draft.set(&["spec", "updateStrategy", "type"], json!("RollingUpdate"));
        }
        let replicas = (self.replicas)(new);
        let lowered = || self.partition(new) < self.units.read(&held, replicas);
        if keep.restart {
            self.close(&mut draft, held);
        } else if lowered() || !self.rolls(new) {
            draft.set(&self.path("partition"), held);
        }
        if self.is_put_aside(new) && !self.paused(old) {
            draft.set(&self.path("paused"), json!(false));
        }
        if let Some(asked) = self.asked(old, new, keep.restart) {
            draft.annotate(ORIGINAL_STRATEGY, asked);
        }
        draft.patch()
    }

    fn take(&self, live: &Value, take: &Take<'_>) -> Value {
        let mut draft = Draft::default();
        draft.annotate(CONTROL_INFO, take.control);
        if let Some(Original::Strategy(own)) = take.keep {
            draft.annotate(ORIGINAL_STRATEGY, self.kept(live, own).to_string());
        }
        match take.held {
            Held::Strategy(Strategy::RollingUpdate { partition }) => {
                self.close(&mut draft, self.written(live, partition, None));
            }
            _ if self.rolls(live) => self.close(&mut draft, self.standing(live)),
            _ => {}
        }
        if self.is_put_aside(live) || (take.keep.is_some() && self.paused(live)) {
            draft.set(&self.path("paused"), json!(false));
        }
        draft.patch()
    }

    fn release(&self, live: &Value, restore: Option<Original>) -> Value {
        let mut draft = Draft::default();
        draft.annotate(CONTROL_INFO, Value::Null);
        let Some(Original::Strategy(own)) = restore else { return draft.patch() };
        draft.forget_annotations(live, &[ORIGINAL_STRATEGY, HELD_PARTITION]);
        let replicas = (self.replicas)(live);
        let back = self.saved(live).filter(|saved| self.read(saved, replicas) == own);
        let mut back = back.unwrap_or_else(|| self.kept(live, own));
        // What stands there now and did not before has to go.
        let stands = self.bounds(&live["spec"]["updateStrategy"]).as_object();
        if let Some(within) = self.within
            && !back[within].is_object()
        {
            if stands.is_some() {
                back[within] = Value::Null;
            }
        } else {
            let back = self.bounds_mut(&mut back);
            for field in stands.into_iter().flat_map(Map::keys) {
                let field = &mut back[field];
                *field = field.take();
            }
        }
        if self.stopped(live) {
            // He has said it since, and nobody has taken it away.
            self.bounds_mut(&mut back)["paused"] = json!(true);
        }
        draft.set(&["spec", "updateStrategy"], back);
        draft.patch()
    }

    fn set_strategy(
        &self,
        live: &Value,
        strategy: Strategy,
        percent: Option<u32>,
    ) -> Option<Value> {
        let mut draft = Draft::default();
        match strategy {
            Strategy::RollingUpdate { partition } => {
                if self.on_delete {
                    draft.set(&["spec", "updateStrategy", "type"], json!("RollingUpdate"));
                }
                if self.is_put_aside(live) {
                    draft.set(&self.path("paused"), json!(false));
                }
                self.close(&mut draft, self.written(live, partition, percent));
            }
            Strategy::OnDelete => {
                let on_delete = json!({"type": "OnDelete", "rollingUpdate": null});
                draft.set(&["spec", "updateStrategy"], on_delete);
                draft.annotate(HELD_PARTITION, Value::Null);
            }
        }
        Some(draft.patch())
    }

    fn holds(&self, object: &Value) -> bool {
        annotated(object, self.beside().annotations)
            || (marked(object) && self.partition(object) >= ABOVE_ALL)
    }

    fn spoilt(&self, object: &Value) -> Option<String> {
        let lost = annotation(object, ORIGINAL_STRATEGY).is_some() && noted(object).is_none();
        lost.then(|| ORIGINAL_STRATEGY.to_owned())
    }

    fn let_go(&self) -> Value {
        let bounds = json!({"partition": 0});
        let strategy = self.within.map_or(bounds.clone(), |within| json!({within: bounds}));
        json!({"updateStrategy": strategy})
    }

    fn beside(&self) -> Beside {
        Beside { annotations: &[ORIGINAL_STRATEGY, HELD_PARTITION], labels: &[] }
    }
}

impl ByPartition {
    /// The strategy as it stands, as the engine has it.
    pub(crate) fn strategy(&self, live: &Value) -> Strategy {
        self.read(&live["spec"]["updateStrategy"], (self.replicas)(live))
    }

    /// The strategy that was put aside, as the engine has it.
    pub(crate) fn own(&self, live: &Value) -> Option<Strategy> {
        let replicas = (self.replicas)(live);
        self.saved(live).map(|saved| self.read(&saved, replicas))
    }

    /// The user's own `maxUnavailable`.
    pub(crate) fn max_unavailable(&self, live: &Value) -> Option<IntOrPercent> {
        count(&self.bounds(&live["spec"]["updateStrategy"])["maxUnavailable"])
    }

    /// The partition that stands there, in Pods.
    pub(crate) fn partition(&self, object: &Value) -> u32 {
        let partition = &self.bounds(&object["spec"]["updateStrategy"])["partition"];
        self.units.read(partition, (self.replicas)(object))
    }

    /// Whether a partition means anything.
    pub(crate) fn rolls(&self, object: &Value) -> bool {
        !self.on_delete || object["spec"]["updateStrategy"]["type"] != "OnDelete"
    }

    /// The strategy that was put aside. Where that is lost or spoilt, and the partition bears our stamp, the
    /// partition is nobody's own: giving it back would leave Pods behind in every later change.
    fn saved(&self, live: &Value) -> Option<Value> {
        let saved = noted(live);
        let stamped = self.rolls(live) && annotation(live, HELD_PARTITION).is_some();
        saved.or_else(|| {
            let mut whole =
                stamped.then(|| self.kept(live, Strategy::RollingUpdate { partition: 0 }))?;
            // Nor is it written as he would have written it.
            self.bounds_mut(&mut whole)["partition"] = json!(0);
            Some(whole)
        })
    }

    fn read(&self, strategy: &Value, replicas: u32) -> Strategy {
        match strategy["type"].as_str() {
            Some("OnDelete") if self.on_delete => Strategy::OnDelete,
            _ => {
                let partition = self.units.read(&self.bounds(strategy)["partition"], replicas);
                Strategy::RollingUpdate { partition }
            }
        }
    }

    /// The strategy as it stands, with what the engine says of it.
    fn kept(&self, live: &Value, own: Strategy) -> Value {
        let Strategy::RollingUpdate { partition } = own else { return json!({"type": "OnDelete"}) };
        let mut kept = live["spec"]["updateStrategy"].clone();
        if !kept.is_object() {
            kept = json!({});
        }
        if self.on_delete {
            kept["type"] = json!("RollingUpdate");
        }
        // As the user wrote it, where that comes to the same.
        let same = self.read(&kept, (self.replicas)(live)) == own;
        let bounds = self.bounds_mut(&mut kept);
        if !bounds.is_object() {
            *bounds = json!({});
        }
        if !same || bounds["partition"].is_null() {
            bounds["partition"] = json!(partition);
        }
        kept
    }

    /// A partition as it is written on this object.
    fn written(&self, object: &Value, pods: u32, percent: Option<u32>) -> Value {
        self.units.written(pods, percent, (self.replicas)(object))
    }

    /// Closes the workload at a partition, and says so beside it.
    fn close(&self, draft: &mut Draft, partition: Value) {
        draft.annotate(HELD_PARTITION, words(&partition));
        draft.set(&self.path("partition"), partition);
    }

    /// The strategy that somebody asks for; `None` where it is not another than before. `restart`: with
    /// another template.
    fn asked(&self, old: &Value, new: &Value, restart: bool) -> Option<String> {
        let mut asked = new["spec"]["updateStrategy"].clone();
        if asked == old["spec"]["updateStrategy"] {
            return None;
        }
        // What is as it was is not by him: it is what holds the workload. Nor is one above all that comes with
        // another template his own: it is there to hold that.
        let kept = noted(old).unwrap_or_default();
        let kept = self.bounds(&kept);
        let above_all = restart && self.partition(new) >= ABOVE_ALL;
        let holds = self.standing(new) == self.standing(old) || above_all;
        if self.rolls(new) && holds {
            let own = kept.get("partition").filter(|own| !own.is_null());
            self.bounds_mut(&mut asked)["partition"] = own.cloned().unwrap_or(json!(0));
        }
        if self.pauses {
            self.ask_for_pause(old, new, kept, &mut asked);
        }
        let asked = asked.to_string();
        (annotation(new, ORIGINAL_STRATEGY) != Some(asked.as_str())).then_some(asked)
    }

    /// Whether a strategy that is asked for is paused: as the one that is put aside, unless he takes it out.
    fn ask_for_pause(&self, old: &Value, new: &Value, kept: &Value, asked: &mut Value) {
        let said =
            |object: &Value| !self.bounds(&object["spec"]["updateStrategy"])["paused"].is_null();
        // In a release the field stands there, and is ours or what stops it.
        let taken_out = said(old) && !said(new);
        if let Some(paused) = kept.get("paused").filter(|_| !taken_out) {
            self.bounds_mut(asked)["paused"] = paused.clone();
        } else if let Some(bounds) = self.bounds_mut(asked).as_object_mut() {
            // What stops it now is there to be read, and not to be given back.
            bounds.retain(|field, value| field != "paused" || *value != true);
        }
    }

    /// Where the workload is held; no higher than it stands.
    fn held(&self, object: &Value) -> Option<Value> {
        let said = annotation(object, HELD_PARTITION)?;
        let said = said.parse().map_or_else(|_| json!(said), |pods: u32| json!(pods));
        let replicas = (self.replicas)(object);
        let readable = said.is_number() || (self.units != Units::Count && count(&said).is_some());
        if !readable {
            return None;
        }
        let lower = self.units.read(&said, replicas) <= self.partition(object);
        Some(if lower { said } else { self.standing(object) })
    }

    /// The partition as it is written there; 0 where there is none.
    fn standing(&self, object: &Value) -> Value {
        let stands = &self.bounds(&object["spec"]["updateStrategy"])["partition"];
        if stands.is_null() { json!(0) } else { stands.clone() }
    }

    /// Whether somebody has told its own controller in mid-release to stand still: that counts until he takes
    /// it back.
    pub(crate) fn stopped(&self, object: &Value) -> bool {
        let held = annotation(object, HELD_PARTITION).is_some();
        held && self.paused(object) && !self.is_put_aside(object)
    }

    /// Whether it is paused as it was before the release: like all of the user's strategy that is put aside, and
    /// a manifest with it may come again at any time.
    fn is_put_aside(&self, object: &Value) -> bool {
        let before = |saved: Value| self.bounds(&saved)["paused"] == true;
        self.paused(object) && noted(object).is_some_and(before)
    }

    fn paused(&self, object: &Value) -> bool {
        let strategy = &object["spec"]["updateStrategy"];
        self.pauses && self.rolls(object) && self.bounds(strategy)["paused"] == true
    }

    /// What of a strategy holds the partition.
    fn bounds<'a>(&self, strategy: &'a Value) -> &'a Value {
        self.within.map_or(strategy, |within| &strategy[within])
    }

    fn bounds_mut<'a>(&self, strategy: &'a mut Value) -> &'a mut Value {
        match self.within {
            Some(within) => &mut strategy[within],
            None => strategy,
        }
    }

    fn path(&self, field: &'static str) -> Vec<&'static str> {
        let mut path = vec!["spec", "updateStrategy"];
        path.extend(self.within);
        path.push(field);
        path
    }
}

/// Whether this is a write of whoever releases the workload: it puts its name on it, or says anew where it
/// is held.
fn is_ours(old: &Value, new: &Value) -> bool {
    let differs = |name| annotation(old, name) != annotation(new, name);
    annotation(new, CONTROL_INFO).is_some() && (differs(HELD_PARTITION) || differs(CONTROL_INFO))
}

/// The strategy that was put aside, as far as the annotation can be read.
fn noted(object: &Value) -> Option<Value> {
    let noted = annotation(object, ORIGINAL_STRATEGY)?;
    serde_json::from_str(noted).ok().filter(Value::is_object)
}

fn words(partition: &Value) -> String {
    partition.as_str().map_or_else(|| partition.to_string(), str::to_owned)
}
