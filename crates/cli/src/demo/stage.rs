//! What a demo shows: redrawn in place on a terminal, a line for each change elsewhere.

use std::io;

use cluster::Clock;
use jiff::Timestamp;
use tokio::time::Instant;

use super::{EVERY, PATIENCE};
use crate::command::verdict::Verdict;
use crate::exit::{Exit, Failure, Outcome};
use crate::out::{Out, size};
use crate::screen::Screen;
use crate::show::age::span;
use crate::show::paint::{Paint, Tone};

/// Something to show.
pub(super) trait Scene {
    /// Some lines for a terminal of this width.
    fn picture(&self, paint: Paint, width: usize) -> String;
    /// One line for a log.
    fn sentence(&self, paint: Paint) -> String;
    /// Why it stands where it stands.
    fn reason(&self) -> &str;
}

/// What is shown, step by step.
pub(super) struct Stage {
    began: Timestamp,
    title: String,
    screen: Screen,
    last: String,
}

impl Stage {
    /// The curtain.
    pub(super) fn new(began: Timestamp) -> Self {
        Self { began, title: String::new(), screen: Screen::default(), last: String::new() }
    }

    /// A new step: what was drawn for the last one stays.
    pub(super) fn step(&mut self, out: &mut Out, title: &str) -> io::Result<()> {
        title.clone_into(&mut self.title);
        self.screen = Screen::default();
        self.last.clear();
        let title = out.paint().text(Tone::Strong, title);
        out.text(&format!("\n{title}\n"))
    }

    /// Shows what is seen again and again until it is where it is wanted, or cannot be.
    pub(super) async fn watch<S: Scene>(
        &mut self,
        out: &mut Out,
        clock: &Clock,
        look: impl AsyncFn() -> Result<(Verdict, S), Failure>,
    ) -> Outcome {
        let began = Instant::now();
        loop {
            let (verdict, scene) = look().await?;
            self.show(out, &scene, clock.now())?;
            let exit = match verdict {
                Verdict::Reached(_) => Some(Exit::Done),
                Verdict::Failed(_) => Some(Exit::Failed),
                Verdict::Blocked { lasting: true, .. } => Some(Exit::Blocked),
                Verdict::Blocked { .. } | Verdict::Waiting(_) => {
                    (began.elapsed() >= PATIENCE).then_some(Exit::TimedOut)
                }
            };
            if let Some(exit) = exit {
                self.settle(out, &scene, exit)?;
                return Ok(exit);
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    /// The rollout as it is now.
    fn show(&mut self, out: &mut Out, scene: &impl Scene, now: Timestamp) -> io::Result<()> {
        if out.is_terminal() {
            let text = scene.picture(out.paint(), size().0);
            return self.screen.draw(out, &text);
        }
        let line = scene.sentence(out.paint());
        if line != self.last {
            let elapsed = span(now.duration_since(self.began).as_secs());
            out.line(&format!("{elapsed:>5}  {line}"))?;
            self.last = line;
        }
        Ok(())
    }

    /// A remark between two steps.
    pub(super) fn say(&mut self, out: &mut Out, words: &str, now: Timestamp) -> io::Result<()> {
        self.screen = Screen::default();
        let elapsed = span(now.duration_since(self.began).as_secs());
        out.line(&format!("{elapsed:>5}  {words}"))
    }

    /// The end of a step, where it is not that all is well.
    fn settle(&mut self, out: &mut Out, scene: &impl Scene, exit: Exit) -> io::Result<()> {
        if exit == Exit::Done {
            return Ok(());
        }
        let reason = scene.reason();
        let words = format!("the step {:?} did not end well: {exit:?}: {reason}", self.title);
        let words = out.paint().text(Tone::Bad, &words);
        out.line(&words)
    }
}
