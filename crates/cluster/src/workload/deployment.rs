//! Deployments: held by `paused`, and in release by `paused` and type Recreate, which their own controller
//! does nothing about; moved by the sizes of their ReplicaSets.

use std::collections::BTreeSet;

use api::batches::names::{
    CONTROL_INFO, CONTROLLED_BY_ADVANCED, DEPLOYMENT_EXTRA_STATUS, DEPLOYMENT_STRATEGY,
    IN_PROGRESSING, STABLE_REVISION,
};
use engine::admit::workload::Strategy as Carried;
use engine::front::batch_release::{Body, Deployment, Held, Machinery, Original, Rolling};
use engine::world::Strategy;
use serde_json::{Value, json};

use super::replica_sets::{self, NAMES, revision};
use super::{
    Adapter, Before, Beside, Claimed, Counted, Draft, Eye, Hand, Hold, KeepHeld, Sight, Take,
};
use super::{annotated, annotation, count, engine, label, mark, marked, number};
use crate::seen::replica_set::fingerprint;
use crate::seen::{PodSeen, ReplicaSetSeen};

/// Deployments.
pub(super) const ADAPTER: Adapter = Adapter { eye: &Deployments, hand: &Deployments };

struct Deployments;

impl Eye for Deployments {
    fn body(&self, sight: &Sight<'_>, claimed: Claimed) -> Body {
        let Sight { object: live, sets, pods, .. } = sight;
        let spec = &live["spec"];
        let template = fingerprint(&spec["template"]);
        let replicas = number(&spec["replicas"], 1);
        let (new, old) = replica_sets::sort(sets, &template);
        let update =
            new.map_or_else(|| replica_sets::hash(&template, 0), |set| set.hash().to_owned());
        let stable = stable(live, &old);
        let rolling = rolling(spec);
        let saved = saved(live).as_ref().and_then(bounds);
        let facts = |set: &ReplicaSetSeen| replica_sets::facts(set, replicas);
        let stable_set = stable.as_ref().and_then(|hash| old.iter().find(|set| set.hash() == hash));
        Body {
            workload: engine(sight, replicas, Strategy::RollingUpdate { partition: 0 }, &update),
            also_called: also_called(&template, &update, pods),
            control: claimed.control,
            in_progressing: claimed.in_progressing,
            max_unavailable: saved.or(rolling).map(|rolling| rolling.max_unavailable),
            stopped: false,
            spoilt: self.spoilt(live),
            machinery: Machinery::Deployment(Deployment {
                paused: spec["paused"] == true,
                recreate: recreates(live),
                rolling,
                saved,
                new: new.map(facts),
                stable: stable_set.map(|set| set.meta.name.clone()),
                old: old.into_iter().map(facts).collect(),
            }),
            stable_revision: stable,
        }
    }

    /// The update revision is our own hash of the template, which is there as soon as the template is; the
    /// stable one is the label `pod-template-hash` of its Pods.
    fn read(&self, sight: &Sight<'_>, _: Option<&str>) -> Counted {
        let update = fingerprint(&sight.spec()["template"]);
        let (new, others): (Vec<&ReplicaSetSeen>, Vec<&ReplicaSetSeen>) =
            sight.sets.iter().partition(|set| set.template == update);
        let new = new.first();
        let hash = new.map(|set| set.hash().to_owned()).unwrap_or_default();
        let labelled = label(&sight.object, STABLE_REVISION).filter(|hash| !hash.is_empty());
        let stable = labelled.map(str::to_owned).or_else(|| running(&others));
        Counted {
            replicas: number(&sight.spec()["replicas"], 1),
            updated: new.map_or(0, |set| set.pods),
            // One that is to have Pods is no less in the way than one that has.
            old: others.iter().map(|set| set.size.max(set.pods)).sum(),
            stable: stable.unwrap_or_else(|| hash.clone()),
            update,
            hash,
            partition: 0,
        }
    }

    fn carried(&self, object: &Value) -> Carried {
        if recreates(object) { Carried::Recreate } else { Carried::Rolling }
    }

    fn before(&self, sets: &[&ReplicaSetSeen], new: &Value) -> Before {
        let template = fingerprint(&new["spec"]["template"]);
        let others: Vec<_> = sets.iter().copied().filter(|set| set.template != template).collect();
        let active = sets.iter().any(|set| has_pods(set));
        Before { running: Some(active), stable: running(&others) }
    }
}

impl Hand for Deployments {
    fn hold(&self, object: &Value, hold: &Hold<'_>) -> Value {
        let mut draft = Draft::default();
        draft.annotate(IN_PROGRESSING, mark(hold.rollout));
        if let (Some(stable), None) = (hold.stable_revision, label(object, STABLE_REVISION)) {
            draft.label(STABLE_REVISION, stable);
        }
        draft.set(&["spec", "paused"], json!(true));
        draft.patch()
    }

    /// A strategy that is asked for is kept, for when the Deployment is given back.
    fn keep_held(&self, old: &Value, new: &Value, keep: KeepHeld) -> Value {
        let mut draft = Draft::default();
        draft.restore_marks(old, new, keep);
        if keep.mark || keep.control {
            draft.restore_annotations(old, new, &[DEPLOYMENT_STRATEGY]);
            draft.restore_labels(old, new, &[STABLE_REVISION]);
        }
        if keep.control {
            draft.restore_annotations(old, new, &[DEPLOYMENT_EXTRA_STATUS]);
            draft.restore_labels(old, new, &[CONTROLLED_BY_ADVANCED]);
        }
        let paused = |object: &Value| object["spec"]["paused"] == true;
        if (paused(old) || keep.restart) && !paused(new) {
            draft.set(&["spec", "paused"], json!(true));
        }
        let kept = annotation(new, DEPLOYMENT_STRATEGY).or(annotation(old, DEPLOYMENT_STRATEGY));
        let recreate = |object: &Value| object["spec"]["strategy"]["type"] == "Recreate";
        match (recreate(old), recreate(new), kept) {
            // A manifest may have bounds and leave the type to the server: beside Recreate they are refused.
            (true, still, Some(kept)) if !still || asked_bounds(new).is_object() => {
                draft
                    .set(&["spec", "strategy"], json!({"type": "Recreate", "rollingUpdate": null}));
                if let Some(kept) = with_rolling(kept, asked_bounds(new)) {
                    draft.annotate(DEPLOYMENT_STRATEGY, kept);
                }
            }
            // Recreate is ours where the strategy is kept; else nobody's in a release.
            (false, true, None) => {
                draft.set(&["spec", "strategy"], old["spec"]["strategy"].clone());
            }
            _ => {}
        }
        draft.patch()
    }

    fn take(&self, live: &Value, take: &Take<'_>) -> Value {
        let mut draft = Draft::default();
        draft.annotate(CONTROL_INFO, take.control);
        draft.label(CONTROLLED_BY_ADVANCED, "true");
        if let (Some(stable), None) = (take.stable, label(live, STABLE_REVISION)) {
            draft.label(STABLE_REVISION, stable);
        }
        if let Some(Original::Rolling(own)) = take.keep {
            let mut kept = put_aside();
            // Without bounds: whose own strategy is Recreate is given that back.
            if !recreates(live) || !live["spec"]["strategy"]["rollingUpdate"].is_null() {
                kept["rollingUpdate"] = written(own);
            }
            if annotation(live, DEPLOYMENT_STRATEGY).is_none() {
                draft.annotate(DEPLOYMENT_STRATEGY, kept.to_string());
            }
        }
        if take.held == Held::Paused {
            draft.set(&["spec", "paused"], json!(true));
            draft.set(&["spec", "strategy"], json!({"type": "Recreate", "rollingUpdate": null}));
        }
        draft.patch()
    }

    fn release(&self, live: &Value, restore: Option<Original>) -> Value {
        let mut draft = Draft::default();
        draft.annotate(CONTROL_INFO, Value::Null);
        let Some(Original::Rolling(own)) = restore else { return draft.patch() };
        draft.forget_annotations(live, &[DEPLOYMENT_STRATEGY, DEPLOYMENT_EXTRA_STATUS]);
        draft.forget_labels(live, &[CONTROLLED_BY_ADVANCED, STABLE_REVISION]);
        draft.set(&["spec", "paused"], Value::Null);
        let recreate = saved(live).is_some_and(|saved| saved["rollingUpdate"].is_null());
        let strategy = match recreate {
            true => json!({"type": "Recreate", "rollingUpdate": null}),
            false => json!({"type": "RollingUpdate", "rollingUpdate": written(own)}),
        };
        draft.set(&["spec", "strategy"], strategy);
        draft.patch()
    }

    fn holds(&self, object: &Value) -> bool {
        let labelled = self.beside().labels.iter().any(|name| label(object, name).is_some());
        annotated(object, &[DEPLOYMENT_STRATEGY])
            || labelled
            || (marked(object) && object["spec"]["paused"] == true)
    }

    fn spoilt(&self, object: &Value) -> Option<String> {
        let lost = annotation(object, DEPLOYMENT_STRATEGY).is_some() && saved(object).is_none();
        lost.then(|| DEPLOYMENT_STRATEGY.to_owned())
    }

    fn let_go(&self) -> Value {
        json!({"paused": false, "strategy": {"type": "RollingUpdate"}})
    }

    fn beside(&self) -> Beside {
        Beside {
            annotations: &[DEPLOYMENT_STRATEGY, DEPLOYMENT_EXTRA_STATUS],
            labels: &[STABLE_REVISION, CONTROLLED_BY_ADVANCED],
        }
    }

    fn lets_go(&self) -> String {
        let paused = |object: &str| format!("(has({object}.spec.paused) && {object}.spec.paused)");
        format!(
            "object.spec.strategy != oldObject.spec.strategy || {} != {}",
            paused("object"),
            paused("oldObject")
        )
    }
}

/// The hash of the ReplicaSet to go back to: as the label says, else of the earliest one that has Pods
/// and another template.
fn stable(live: &Value, old: &[&ReplicaSetSeen]) -> Option<String> {
    if let Some(marked) = label(live, STABLE_REVISION).filter(|marked| !marked.is_empty()) {
        return Some(marked.to_owned());
    }
    running(old)
}

/// The hash of the earliest of these that has Pods; one without a number is the latest.
fn running(sets: &[&ReplicaSetSeen]) -> Option<String> {
    let active = sets.iter().filter(|set| has_pods(set) && !set.hash().is_empty());
    let age = |set: &&&ReplicaSetSeen| (revision(set).wrapping_sub(1), set.meta.name.clone());
    active.min_by_key(age).map(|set| set.hash().to_owned())
}

fn has_pods(set: &ReplicaSetSeen) -> bool {
    set.size > 0 || set.pods > 0
}

/// Other words for the revision: what it would be called before its ReplicaSet is made, and what another
/// manager has labelled its Pods with.
fn also_called(template: &str, update: &str, pods: &[&PodSeen]) -> Vec<String> {
    let planned = (0..NAMES).map(|nth| replica_sets::hash(template, nth));
    let of_it = pods.iter().filter(|pod| pod.pod.revision == update);
    let labelled = of_it.map(|pod| pod.also_called.clone()).filter(|label| !label.is_empty());
    let words: BTreeSet<String> = planned.chain(labelled).filter(|word| word != update).collect();
    words.into_iter().collect()
}

/// The user's own bounds, whether they stand there or are put aside.
pub(super) fn own_bounds(live: &Value) -> Rolling {
    let own = saved(live).as_ref().and_then(bounds).or_else(|| rolling(&live["spec"]));
    own.unwrap_or_default()
}

/// The strategy that was put aside.
fn saved(live: &Value) -> Option<Value> {
    let saved = annotation(live, DEPLOYMENT_STRATEGY)?;
    serde_json::from_str(saved).ok().filter(Value::is_object)
}

/// The bounds of `strategy.rollingUpdate`, while the type is RollingUpdate.
fn rolling(spec: &Value) -> Option<Rolling> {
    let strategy = &spec["strategy"];
    (strategy["type"] != "Recreate").then(|| bounds(strategy).unwrap_or_default())
}

/// `rollingUpdate` of a strategy; what is missing is as the API server fills it in.
fn bounds(strategy: &Value) -> Option<Rolling> {
    let rolling = strategy.get("rollingUpdate").filter(|rolling| rolling.is_object())?;
    let absent = Rolling::default();
    Some(Rolling {
        max_surge: count(&rolling["maxSurge"]).unwrap_or(absent.max_surge),
        max_unavailable: count(&rolling["maxUnavailable"]).unwrap_or(absent.max_unavailable),
    })
}

fn written(rolling: Rolling) -> Value {
    let count = |count| api::batches::IntOrString::from(count).0;
    json!({
        "maxSurge": count(rolling.max_surge),
        "maxUnavailable": count(rolling.max_unavailable),
    })
}

fn recreates(live: &Value) -> bool {
    live["spec"]["strategy"]["type"] == "Recreate"
}

/// `rollingUpdate`, null where there is none.
fn asked_bounds(object: &Value) -> &Value {
    &object["spec"]["strategy"]["rollingUpdate"]
}

/// The kept strategy with these bounds; `None` where it has them. One that cannot be read is mended by it.
fn with_rolling(kept: &str, rolling: &Value) -> Option<String> {
    let strategy = serde_json::from_str(kept).ok().filter(Value::is_object);
    let mut strategy = strategy.unwrap_or_else(put_aside);
    if !rolling.is_object() || strategy["rollingUpdate"] == *rolling {
        return None;
    }
    strategy["rollingUpdate"] = rolling.clone();
    Some(strategy.to_string())
}

/// What is put aside, but for the bounds.
fn put_aside() -> Value {
    json!({"rollingStyle": "Partition", "paused": false, "partition": 0})
}
