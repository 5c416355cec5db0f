//! What the demo of a rollout by percent shows.

use crate::demo::stage::Scene;
use crate::demo::words::{on_two_lines, ready, ready_by_version};
use crate::show::fold::fold;
use crate::show::grid::{bar, grid, legend};
use crate::show::paint::{Paint, Tone, phase};
use crate::show::tree::budget_words;
use crate::show::view::{RevisionView, View};

impl Scene for View {
    fn picture(&self, paint: Paint, width: usize) -> String {
        picture(self, paint, width)
    }

    fn sentence(&self, paint: Paint) -> String {
        sentence(self, paint)
    }

    fn reason(&self) -> &str {
        &self.summary.reason
    }
}

/// Some lines for a terminal.
fn picture(view: &View, paint: Paint, width: usize) -> String {
    let all = &view.summary;
    let mut text =
        format!("{} {:>3}%  {}\n", bar(view, paint, 40), all.percent, state(view, paint),);
    text.push_str(&on_two_lines(if all.current { &all.reason } else { "" }, width));
    text.push_str(&grid(view, paint, width));
    text.push_str(&legend(paint));
    text.push('\n');
    for revision in &view.revisions {
        text.push_str(&format!("revision {}\n", revision_words(revision)));
    }
    for budget in &view.budgets {
        for line in fold(&format!("budget   {}", budget_words(budget)), width) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}

/// One line for a log.
fn sentence(view: &View, paint: Paint) -> String {
    let budget = view
        .budgets
        .iter()
        .map(|budget| format!("; budget allows {}", budget.disruptions_allowed))
        .collect::<String>();
    let ready = ready_by_version(&view.revisions);
    let reason = match view.summary.reason.as_str() {
        reason if view.summary.current && !reason.is_empty() => format!("; {reason}"),
        _ => String::new(),
    };
    format!("{}  {ready}{budget}{reason}", state(view, paint))
}

/// The phase, once it is that of the step that is shown.
fn state(view: &View, paint: Paint) -> String {
    if !view.summary.current {
        return paint.text(Tone::Faint, "· waiting for the operator");
    }
    let (mark, tone) = phase(&view.summary.phase);
    paint.text(tone, &format!("{mark} {}", view.summary.phase))
}

fn revision_words(revision: &RevisionView) -> String {
    let (ready, roles) = (ready(revision), revision.roles.join(", "));
    format!(
        "{} {}: {} Pods, {ready} ready  {roles}",
        revision.number,
        revision.version,
        revision.pods.len()
    )
}
