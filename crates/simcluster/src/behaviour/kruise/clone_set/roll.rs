//! A CloneSet's Pods brought to the update revision.

use super::sizes::Sizes;
use super::{Look, MARK, Seen, order};
use crate::behaviour::Write;
use crate::behaviour::kruise::in_place;
use crate::behaviour::statefulset::replica::REVISION_LABEL;
use crate::json::Value;
use crate::object::{self, Key, PODS};

impl Look<'_> {
    /// Brings Pods that have been made or updated to work; if there are none, updates some.
    pub(super) fn roll(&mut self, sizes: &Sizes, all: &[Seen<'_>]) {
        let before = self.writes.len();
        // What was begun is left alone until it is clear that it does not go on.
        let (begun, others): (Vec<_>, Vec<_>) =
            all.iter().partition(|seen| in_place::is_begun(seen.pod));
        let refresh = |seen: &&Seen<'_>| in_place::refresh(seen.pod, self.now);
        let refreshed: Vec<Write> = others.iter().filter_map(refresh).collect();
        self.writes.extend(refreshed);
        if self.writes.len() > before {
            return;
        }
        let paused = self.set["spec"]["updateStrategy"]["paused"] == true;
        let chosen = if paused { Vec::new() } else { self.chosen(sizes, all) };
        for seen in &chosen {
            self.update(seen);
        }
        let chosen = |seen: &Seen<'_>| chosen.iter().any(|one| std::ptr::eq(*one, seen));
        let dropped = begun.into_iter().filter(|seen| !chosen(seen));
        self.writes.extend(dropped.filter_map(|seen| in_place::refresh(seen.pod, self.now)));
    }

    /// The old Pods to update now: as many as the partition lets go, and no more than may be
    /// unavailable together with those that are, at the new revision or altogether.
    fn chosen<'a, 'b>(&self, sizes: &Sizes, all: &'b [Seen<'a>]) -> Vec<&'b Seen<'a>> {
        let down = |seen: &&Seen<'_>| !seen.serves(self.now);
        let count = |many: usize| i64::try_from(many).unwrap_or(i64::MAX);
        let mut unavailable = count(all.iter().filter(down).count());
        let new = count(all.iter().filter(|seen| seen.updated).filter(down).count());
        let mut old: Vec<&Seen<'_>> = all.iter().filter(|seen| !seen.updated).collect();
        order::to_update(&mut old, &self.set["spec"]["updateStrategy"]["priorityStrategy"]);
        let most = sizes.update.min(sizes.update_unavailable - new);
        old.truncate(usize::try_from(most).unwrap_or_default());
        let mut chosen = Vec::new();
        for seen in old {
            if seen.serves(self.now) {
                if unavailable >= sizes.update_unavailable {
                    break;
                }
                unavailable += 1;
            }
            chosen.push(seen);
        }
        chosen
    }

    /// Updates a Pod in place where the strategy wants that and the templates allow it; else marks
    /// it, so that another is made for it.
    fn update(&mut self, seen: &Seen<'_>) {
        let type_ = self.set["spec"]["updateStrategy"]["type"].as_str().unwrap_or("ReCreate");
        let (pod, name) = (seen.pod, object::name(seen.pod));
        let update = self.revisions.update_name().to_owned();
        if type_ != "ReCreate" {
            let old = object::label(pod, REVISION_LABEL).and_then(|old| self.revisions.named(old));
            let write = |old| in_place::update(pod, old, &self.revisions.update, self.now);
            if let Some(write) = old.and_then(write) {
                let replaced = matches!(write, Write::Update { subresource: None, .. });
                self.writes.push(write);
                if replaced {
                    let message = in_place::said(pod, &update);
                    self.event("Normal", "SuccessfulUpdatePodInPlace", message);
                }
                return;
            }
            if type_ == "InPlaceOnly" {
                return;
            }
        }
        if seen.marked {
            return;
        }
        let mut object = Value::clone(pod);
        object["metadata"]["labels"][MARK] = "true".into();
        self.writes.push(Write::Update { key: Key::of(PODS, pod), subresource: None, object });
        let message =
            format!("successfully patch pod {name} specified-delete for update(revision {update})");
        self.event("Normal", "SuccessfulUpdatePodReCreate", message);
    }
}
