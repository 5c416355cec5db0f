//! What the demo of a release by steps shows.

use crate::demo::stage::Scene;
use crate::demo::words::{on_two_lines, ready, ready_by_version};
use crate::show::grid::{legend, mark, share_bar};
use crate::show::paint::{Paint, Tone};
use crate::show::release::View;
use crate::show::steps::table;
use crate::show::view::{PodView, RevisionView};
use crate::standing::Standing;

/// Pods of a Deployment that are shown beside each other.
const GROUP: usize = 10;

impl Scene for View {
    fn picture(&self, paint: Paint, width: usize) -> String {
        let all = &self.summary;
        let updated = u32::try_from(all.updated_replicas).unwrap_or(0);
        let bar = share_bar(updated, all.target_replicas, all.replicas, paint, 40);
        let mut text = format!("{bar}  {}\n", state(self, paint));
        text.push_str(&on_two_lines(&format!("waits for {}", waits(self)), width));
        text.push_str(&pods(self, paint, width));
        text.push_str(&legend(paint));
        text.push('\n');
        text.push_str(&table(&self.steps, paint));
        for revision in &self.revisions {
            text.push_str(&format!("revision {}\n", revision_words(revision)));
        }
        text
    }

    fn sentence(&self, paint: Paint) -> String {
        let ready = ready_by_version(&self.revisions);
        format!("{}  {ready}; waits for {}", state(self, paint), waits(self))
    }

    fn reason(&self) -> &str {
        &self.summary.message
    }
}

/// Phase and step.
fn state(view: &View, paint: Paint) -> String {
    let all = &view.summary;
    if is_behind(view) {
        return paint.text(Tone::Faint, "· waiting for the operator");
    }
    if all.standing == Standing::Held {
        return paint.text(Tone::Busy, "‖ held");
    }
    let (mark, tone) = all.mark();
    let step = if all.standing.is_under_way() && all.step > 0 {
        format!(", step {} of {}", all.step, all.steps)
    } else {
        String::new()
    };
    paint.text(tone, &format!("{mark} {}{step}", all.phase))
}

fn waits(view: &View) -> String {
    if is_behind(view) { "its next look".to_owned() } else { view.summary.waits_for.clone() }
}

/// What is shown is of the step before. In the midst of a release the operator's own writes are
/// unseen for a moment, and say nothing.
fn is_behind(view: &View) -> bool {
    let all = &view.summary;
    !all.current && matches!(all.standing, Standing::Unseen | Standing::Healthy)
}

/// The Pods of the template first, ten to a group, at most `width` characters a line.
fn pods(view: &View, paint: Paint, width: usize) -> String {
    let of = |revision: &RevisionView| revision.roles.contains(&"update");
    let mut pods: Vec<(&PodView, bool)> = view
        .revisions
        .iter()
        .flat_map(|revision| revision.pods.iter().map(move |pod| (pod, of(revision))))
        .collect();
    // By age within a revision, so that a new Pod comes up beside the last one.
    pods.sort_by(|(a, a_is), (b, b_is)| {
        b_is.cmp(a_is).then_with(|| (a.created, &a.name).cmp(&(b.created, &b.name)))
    });
    let groups = (width.max(GROUP + 2) / (GROUP + 1)).clamp(1, 10);
    let mut text = String::new();
    for (place, (pod, updated)) in pods.into_iter().enumerate() {
        if place > 0 && place % (groups * GROUP) == 0 {
            text.push('\n');
        } else if place > 0 && place % GROUP == 0 {
            text.push(' ');
        }
        let (mark, tone) = mark(pod, updated);
        text.push_str(&paint.text(tone, mark));
    }
    text.push('\n');
    text
}

fn revision_words(revision: &RevisionView) -> String {
    let roles = revision.roles.join(", ");
    let pods = match revision.pods.len() {
        1 => "1 Pod".to_owned(),
        several => format!("{several} Pods"),
    };
    format!("{}: {pods}, {} ready  {roles}", revision.version, ready(revision))
}
