//! Pods as a grid, one character each, so that a thousand fit on a screen.

use super::paint::{Paint, Tone};
use super::view::{PodView, View};

/// What the characters mean.
pub(crate) fn legend(paint: Paint) -> String {
    let part = |tone, text: &str| paint.text(tone, text);
    format!(
        "{} updated  {} coming up  {} old  {} old, unready  {} going  {} in trouble  · missing",
        part(Tone::Good, "■"),
        part(Tone::Busy, "▣"),
        part(Tone::Faint, "□"),
        part(Tone::Busy, "▫"),
        part(Tone::Busy, "×"),
        part(Tone::Bad, "!"),
    )
}

/// The Pods by ordinal, ten to a group, at most `width` characters a line. Where a Pod is missing
/// stands a dot.
pub(crate) fn grid(view: &View, paint: Paint, width: usize) -> String {
    let pods = view.pods();
    let groups = (width.max(12) / 11).clamp(1, 10);
    let first = pods.first().map_or(0, |(pod, _)| super::view::ordinal(&pod.name));
    let replicas = u32::try_from(view.summary.replicas).unwrap_or(0);
    let end = pods.last().map_or(0, |(pod, _)| super::view::ordinal(&pod.name) + 1);
    let mut next = pods.iter().peekable();
    let mut text = String::new();
    for (place, ordinal) in (first..end.max(first + replicas)).enumerate() {
        if place > 0 && place % (groups * 10) == 0 {
            text.push('\n');
        } else if place > 0 && place % 10 == 0 {
            text.push(' ');
        }
        let found = next.next_if(|(pod, _)| super::view::ordinal(&pod.name) == ordinal);
        let (mark, tone) = found.map_or(("·", Tone::Faint), |(pod, updated)| mark(pod, *updated));
        text.push_str(&paint.text(tone, mark));
    }
    text.push('\n');
    text
}

/// Mark and tone of a Pod; `updated`, if it runs the update revision.
pub(crate) fn mark(pod: &PodView, updated: bool) -> (&'static str, Tone) {
    match (pod.state.as_str(), updated) {
        ("Ready", true) => ("■", Tone::Good),
        ("Ready", false) => ("□", Tone::Faint),
        ("Terminating", _) => ("×", Tone::Busy),
        ("Starting" | "Pending", true) => ("▣", Tone::Busy),
        ("Starting" | "Pending", false) => ("▫", Tone::Busy),
        _ => ("!", Tone::Bad),
    }
}

/// A bar of what is done, as [`share_bar`] draws it.
pub(crate) fn bar(view: &View, paint: Paint, width: usize) -> String {
    let all = &view.summary;
    let pods = |count: i64| u32::try_from(count.max(0)).unwrap_or(u32::MAX);
    let (done, target) = (pods(all.updated_replicas), pods(all.target_replicas));
    share_bar(done, target, pods(all.replicas), paint, width)
}

/// A bar of Pods: those that are updated, what is left to the target, and the rest.
pub(crate) fn share_bar(
    done: u32,
    target: u32,
    replicas: u32,
    paint: Paint,
    width: usize,
) -> String {
    let share = |part: u32| part.min(replicas) as usize * width / replicas.max(1) as usize;
    let (done, target) = (share(done), share(target));
    let cells = |from: usize, to: usize, mark: &str| mark.repeat(to.saturating_sub(from));
    format!(
        "{}{}{}",
        paint.text(Tone::Good, &cells(0, done, "█")),
        paint.text(Tone::Busy, &cells(done, target, "▒")),
        paint.text(Tone::Faint, &cells(done.max(target), width, "░")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_legend_fits_on_a_terminal() {
        assert!(legend(Paint { on: false }).chars().count() <= 80);
    }
}
