//! What the demo shows: redrawn in place on a terminal, a line for each change elsewhere.

use std::io;

use jiff::Timestamp;

use crate::exit::Exit;
use crate::facts::Facts;
use crate::out::Out;
use crate::screen::{Screen, size};
use crate::show::age::span;
use crate::show::fold::fold;
use crate::show::grid::{bar, grid, legend};
use crate::show::paint::{Paint, Tone, phase};
use crate::show::tree::budget_words;
use crate::show::view::{RevisionView, View};

/// What is shown, step by step.
pub(crate) struct Stage {
    began: Timestamp,
    title: String,
    screen: Screen,
    last: String,
}

impl Stage {
    /// The curtain.
    pub(crate) fn new(began: Timestamp) -> Self {
        Self { began, title: String::new(), screen: Screen::default(), last: String::new() }
    }

    /// A new step: what was drawn for the last one stays.
    pub(crate) fn step(&mut self, out: &mut Out, title: &str) -> io::Result<()> {
        title.clone_into(&mut self.title);
        self.screen = Screen::default();
        self.last.clear();
        let title = out.paint().text(Tone::Strong, title);
        out.text(&format!("\n{title}\n"))
    }

    /// The rollout as it is now.
    pub(crate) fn show(&mut self, out: &mut Out, facts: &Facts, now: Timestamp) -> io::Result<()> {
        let view = View::of(facts);
        if out.is_terminal() {
            let text = picture(&view, out.paint(), size().0);
            return self.screen.draw(out, &text);
        }
        let line = sentence(&view, out.paint());
        if line != self.last {
            let elapsed = span(now.duration_since(self.began).as_secs());
            out.line(&format!("{elapsed:>5}  {line}"))?;
            self.last = line;
        }
        Ok(())
    }

    /// The end of a step, where it is not that all is well.
    pub(crate) fn settle(&mut self, out: &mut Out, facts: &Facts, exit: Exit) -> io::Result<()> {
        if exit == Exit::Done {
            return Ok(());
        }
        let reason = facts.rollout.status.as_ref().map_or("", |status| status.reason.as_str());
        let words = format!("the step {:?} did not end well: {exit:?}: {reason}", self.title);
        let words = out.paint().text(Tone::Bad, &words);
        out.line(&words)
    }
}

/// Some lines for a terminal.
fn picture(view: &View, paint: Paint, width: usize) -> String {
    let all = &view.summary;
    let mut text =
        format!("{} {:>3}%  {}\n", bar(view, paint, 40), all.percent, state(view, paint),);
    // Two lines whether they are needed or not, so that the Pods do not jump.
    let mut reason = fold(if all.current { &all.reason } else { "" }, width);
    reason.resize(reason.len().max(2), String::new());
    for line in reason {
        text.push_str(&line);
        text.push('\n');
    }
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
    let revisions: Vec<String> = view
        .revisions
        .iter()
        .rev()
        .map(|one| format!("{} × {}", one.pods.iter().filter(|pod| pod.ready).count(), one.version))
        .collect();
    let budget = view
        .budgets
        .iter()
        .map(|budget| format!("; budget allows {}", budget.disruptions_allowed))
        .collect::<String>();
    let ready = match revisions.as_slice() {
        [] => "no Pods yet".to_owned(),
        some => format!("ready {}", some.join(", ")),
    };
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
    let ready = revision.pods.iter().filter(|pod| pod.ready).count();
    let roles = revision.roles.join(", ");
    format!(
        "{} {}: {} Pods, {ready} ready  {roles}",
        revision.number,
        revision.version,
        revision.pods.len()
    )
}
