//! `sluice get`: one rollout as a tree, once or live.

use std::time::Duration;

use cluster::Clock;

use crate::exit::{Exit, Outcome};
use crate::facts::Facts;
use crate::out::{Format, Out};
use crate::screen::Screen;
use crate::session::{Connection, Session};
use crate::show::tree::tree;
use crate::show::view::View;

/// Show a rollout with its StatefulSet, revisions and Pods
#[derive(clap::Args, Debug)]
pub(crate) struct Flags {
    /// The rollout
    #[arg(value_name = "NAME", value_parser = crate::name::object)]
    name: String,

    /// Follow it: redrawn in place on a terminal, written again at each change elsewhere
    #[arg(short, long)]
    watch: bool,

    /// How the result is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: Format,

    #[command(flatten)]
    connection: Connection,
}

/// Time between two looks when following.
const EVERY: Duration = Duration::from_secs(1);

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    show(&flags.connection.open().await?, flags, out, &Clock::system()).await
}

async fn show(session: &Session, flags: &Flags, out: &mut Out, clock: &Clock) -> Outcome {
    let wide = flags.output == Format::Wide;
    let mut view = View::of(&Facts::read(session, &flags.name).await?);
    if !flags.watch {
        let (room, now) = (out.room(), clock.now());
        out.document(flags.output, &view, |paint| tree(&view, paint, room, now, wide))?;
        return Ok(Exit::Done);
    }
    let mut screen = Screen::default();
    let mut shown: Option<View> = None;
    loop {
        let text = matches!(flags.output, Format::Text | Format::Wide);
        if text && out.is_terminal() {
            let text = tree(&view, out.paint(), out.room(), clock.now(), wide);
            screen.draw(out, &text)?;
        } else if shown.as_ref() != Some(&view) {
            out.change(flags.output, &view)?;
            if text {
                let gap = if shown.is_some() { "\n" } else { "" };
                let text = tree(&view, out.paint(), out.room(), clock.now(), wide);
                out.text(&format!("{gap}{text}"))?;
            }
            shown = Some(view.clone());
        }
        tokio::time::sleep(EVERY).await;
        match Facts::read(session, &flags.name).await {
            Ok(facts) => view = View::of(&facts),
            // A server that is away for a while comes back; the last view stays.
            Err(crate::exit::Failure::Unreachable(_)) => {}
            Err(failure) => return Err(failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::far_side::{FarSide, Paper, flags, noon};

    async fn shown(arguments: &[&str]) -> String {
        let paper = Paper::default();
        let session = FarSide::rolling_out().session();
        let flags = flags(arguments);
        show(&session, &flags, &mut Out::to(paper.clone()), &noon()).await.unwrap();
        paper.text()
    }

    #[tokio::test(start_paused = true)]
    async fn a_rollout_is_a_tree_of_revisions_and_pods() {
        insta::assert_snapshot!(shown(&["tester"]).await);
    }

    #[tokio::test(start_paused = true)]
    async fn the_tree_is_one_json_document() {
        let json = shown(&["tester", "-o", "json"]).await;
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        insta::assert_yaml_snapshot!(value);
    }
}
