//! `sluice get`: one rollout as a tree, once or live.

use std::time::Duration;

use api::batches::BatchRelease;
use cluster::Clock;
use jiff::Timestamp;
use serde::Serialize;

use crate::exit::{Exit, Failure, Outcome};
use crate::facts::{Facts, decoded, release};
use crate::find::{Found, Front, find, workload};
use crate::name::Named;
use crate::out::{Format, Out};
use crate::screen::Screen;
use crate::session::{Connection, Session};
use crate::show::paint::Paint;
use crate::show::{self, tree, view};

/// Show a rollout with its workload, steps, revisions and Pods
#[derive(clap::Args, Debug)]
pub(crate) struct Flags {
    /// The rollout, as NAME or TYPE/NAME
    #[arg(value_name = "NAME", value_parser = crate::name::object)]
    name: Named,

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

/// Whichever it is.
#[derive(Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum View {
    Percent(view::View),
    Steps(Box<show::release::View>),
    Release(show::batch::Summary),
}

impl View {
    async fn of(session: &Session, found: &Found) -> Result<Self, Failure> {
        let raw = found.raw.clone();
        Ok(match found.front {
            Front::Percent => Self::Percent(view::View::of(&Facts::around(session, raw).await?)),
            Front::Steps => {
                let facts = release::Facts::around(session, raw).await?;
                Self::Steps(Box::new(show::release::View::of(&facts)))
            }
            Front::Release => {
                let seen: BatchRelease = decoded(&raw, "batchrelease")?;
                let reference = seen.spec.workload_ref.clone().unwrap_or_default();
                let workload = workload(session, &found.namespace, &reference).await?;
                Self::Release(show::batch::Summary::of(&seen, workload.as_ref()))
            }
        })
    }

    fn text(&self, paint: Paint, room: usize, now: Timestamp, wide: bool) -> String {
        match self {
            Self::Percent(view) => tree::tree(view, paint, room, now, wide),
            Self::Steps(view) => show::release::tree(view, paint, room, now, wide),
            Self::Release(view) => show::batch::text(view, paint, room, now),
        }
    }
}

async fn show(session: &Session, flags: &Flags, out: &mut Out, clock: &Clock) -> Outcome {
    let wide = flags.output == Format::Wide;
    let mut found = find(session, &flags.name).await?;
    let mut view = View::of(session, &found).await?;
    if !flags.watch {
        let (room, now) = (out.room(), clock.now());
        out.document(flags.output, &view, |paint| view.text(paint, room, now, wide))?;
        return Ok(Exit::Done);
    }
    let mut screen = Screen::default();
    let mut shown: Option<View> = None;
    loop {
        let text = matches!(flags.output, Format::Text | Format::Wide);
        if text && out.is_terminal() {
            let text = view.text(out.paint(), out.room(), clock.now(), wide);
            screen.draw(out, &text)?;
        } else if shown.as_ref() != Some(&view) {
            out.change(flags.output, &view)?;
            if text {
                let gap = if shown.is_some() { "\n" } else { "" };
                let text = view.text(out.paint(), out.room(), clock.now(), wide);
                out.text(&format!("{gap}{text}"))?;
            }
            shown = Some(view.clone());
        }
        tokio::time::sleep(EVERY).await;
        let again = async {
            let found = found.again(session).await?;
            let view = View::of(session, &found).await?;
            Ok::<(Found, View), Failure>((found, view))
        };
        match again.await {
            Ok(now) => (found, view) = now,
            // A server that is away for a while comes back; the last view stays.
            Err(Failure::Unreachable(_)) => {}
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

    async fn by_steps(arguments: &[&str]) -> String {
        let paper = Paper::default();
        let session = FarSide::in_steps().session();
        let flags = flags(arguments);
        show(&session, &flags, &mut Out::to(paper.clone()), &noon()).await.unwrap();
        paper.text()
    }

    #[tokio::test(start_paused = true)]
    async fn a_rollout_by_steps_has_its_plan_above_the_tree() {
        insta::assert_snapshot!(by_steps(&["web"]).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_rollout_by_steps_is_one_json_document() {
        let json = by_steps(&["deployment/web", "-o", "json"]).await;
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        insta::assert_yaml_snapshot!(value);
    }

    #[tokio::test(start_paused = true)]
    async fn a_batch_release_of_ones_own_is_shown_with_its_batches() {
        let paper = Paper::default();
        let path = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/batchreleases/own";
        let own = crate::far_side::web::release_of_ones_own();
        let session = FarSide::in_steps().with(path, &own).session();
        let out = &mut Out::to(paper.clone());
        show(&session, &flags(&["br/own"]), out, &noon()).await.unwrap();
        insta::assert_snapshot!(paper.text());
    }
}
