//! Native DaemonSets: held by OnDelete, moved by eviction.

use api::batches::names::{
    CONTROL_INFO, DAEMONSET_ADVANCED_CONTROL, DAEMONSET_ORIGINAL_STRATEGY, DAEMONSET_REVISION,
    IN_PROGRESSING,
};
use engine::front::batch_release::{Body, Held, Machinery, Original};
use engine::nature::Nature;
use engine::world::Strategy;
use serde_json::{Value, json};

use super::{Adapter, Beside, Claimed, Counted, Draft, Eye, Hand, Hold, KeepHeld, Sight, Take};
use super::{annotated, annotation, count, mark, number, revisions};

/// Native DaemonSets.
pub(super) const ADAPTER: Adapter = Adapter { eye: &DaemonSets, hand: &DaemonSets };

struct DaemonSets;

impl Eye for DaemonSets {
    fn body(&self, sight: &Sight<'_>, claimed: Claimed) -> Body {
        let strategy = read(kind(&sight.object));
        let saved = annotation(&sight.object, DAEMONSET_ORIGINAL_STRATEGY).map(read);
        let max_unavailable =
            count(&sight.spec()["updateStrategy"]["rollingUpdate"]["maxUnavailable"]);
        let machinery = Machinery::Pods { nature: Nature::DAEMON_SET, saved };
        let spoilt = self.spoilt(&sight.object);
        revisions::body(sight, strategy, max_unavailable, machinery, claimed, spoilt)
    }

    fn read(&self, sight: &Sight<'_>, stable: Option<&str>) -> Counted {
        revisions::read(sight, stable, 0)
    }

    /// Those that its status speaks of, as nobody asks for a number.
    fn replicas(&self, old: &Value, _new: &Value) -> u32 {
        number(&old["status"]["desiredNumberScheduled"], 0)
    }
}

impl Hand for DaemonSets {
    /// `rollingUpdate` stays beside OnDelete, which has no use for it: the user's `maxUnavailable` is read
    /// there.
    fn hold(&self, object: &Value, hold: &Hold<'_>) -> Value {
        let mut draft = Draft::default();
        draft.annotate(IN_PROGRESSING, mark(hold.rollout));
        if annotation(object, DAEMONSET_ORIGINAL_STRATEGY).is_none() {
            draft.annotate(DAEMONSET_ORIGINAL_STRATEGY, kind(object));
        }
        draft.set(&["spec", "updateStrategy", "type"], json!("OnDelete"));
        draft.patch()
    }

    fn keep_held(&self, old: &Value, new: &Value, keep: KeepHeld) -> Value {
        let mut draft = Draft::default();
        draft.restore_marks(old, new, keep);
        if keep.mark || keep.control {
            draft.restore_annotations(old, new, &[DAEMONSET_ORIGINAL_STRATEGY, DAEMONSET_REVISION]);
        }
        if keep.control {
            draft.restore_annotations(old, new, &[DAEMONSET_ADVANCED_CONTROL]);
        }
        let held =
            kind(old) == "OnDelete" && annotation(old, DAEMONSET_ORIGINAL_STRATEGY).is_some();
        if (held || keep.restart) && kind(new) != "OnDelete" {
            draft.set(&["spec", "updateStrategy", "type"], json!("OnDelete"));
            // Also where it was `OnDelete` before: somebody asks for something else now.
            draft.annotate(DAEMONSET_ORIGINAL_STRATEGY, kind(new));
        }
        draft.patch()
    }

    fn take(&self, live: &Value, take: &Take<'_>) -> Value {
        let mut draft = Draft::default();
        draft.annotate(CONTROL_INFO, take.control);
        if let Some(Original::Strategy(own)) = take.keep {
            let own = if own == Strategy::OnDelete { "OnDelete" } else { "RollingUpdate" };
            draft.annotate(DAEMONSET_ORIGINAL_STRATEGY, own);
        }
        if let (Some(stable), None) = (take.stable, annotation(live, DAEMONSET_REVISION)) {
            let revisions = json!({"canary-revision": take.update, "stable-revision": stable});
            draft.annotate(DAEMONSET_REVISION, revisions.to_string());
        }
        if take.held == Held::Strategy(Strategy::OnDelete) {
            draft.set(&["spec", "updateStrategy", "type"], json!("OnDelete"));
        }
        draft.patch()
    }

    fn release(&self, live: &Value, restore: Option<Original>) -> Value {
        let mut draft = Draft::default();
        draft.annotate(CONTROL_INFO, Value::Null);
        let Some(Original::Strategy(own)) = restore else { return draft.patch() };
        let marks = [DAEMONSET_ORIGINAL_STRATEGY, DAEMONSET_ADVANCED_CONTROL, DAEMONSET_REVISION];
        draft.forget_annotations(live, &marks);
        let own = if own == Strategy::OnDelete { "OnDelete" } else { "RollingUpdate" };
        draft.set(&["spec", "updateStrategy", "type"], json!(own));
        draft.patch()
    }

    fn holds(&self, object: &Value) -> bool {
        annotated(object, &[DAEMONSET_ORIGINAL_STRATEGY, DAEMONSET_ADVANCED_CONTROL])
    }

    fn spoilt(&self, object: &Value) -> Option<String> {
        let kept = annotation(object, DAEMONSET_ORIGINAL_STRATEGY)?;
        let lost = !["RollingUpdate", "OnDelete"].contains(&kept);
        lost.then(|| DAEMONSET_ORIGINAL_STRATEGY.to_owned())
    }

    fn let_go(&self) -> Value {
        json!({"updateStrategy": {"type": "RollingUpdate"}})
    }

    fn beside(&self) -> Beside {
        let annotations =
            &[DAEMONSET_ORIGINAL_STRATEGY, DAEMONSET_REVISION, DAEMONSET_ADVANCED_CONTROL];
        Beside { annotations, labels: &[] }
    }
}

fn kind(object: &Value) -> &str {
    object["spec"]["updateStrategy"]["type"].as_str().unwrap_or("RollingUpdate")
}

fn read(kind: &str) -> Strategy {
    match kind {
        "OnDelete" => Strategy::OnDelete,
        _ => Strategy::RollingUpdate { partition: 0 },
    }
}
