//! `sluice list`: the rollouts of a namespace, or of all.

use std::time::Duration;

use cluster::Clock;
use jiff::Timestamp;

use crate::exit::{Exit, Failure, Outcome};
use crate::facts::{decoded, require_namespace, rollouts_path};
use crate::out::{Format, Out};
use crate::screen::Screen;
use crate::session::{Connection, Session};
use crate::show::age::age;
use crate::show::paint::{Paint, Tone, phase};
use crate::show::table::{Cell, columns, toned};
use crate::show::view::Summary;

/// List rollouts
#[derive(clap::Args, Debug)]
pub(crate) struct Flags {
    /// Those of all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,

    /// Follow them: redrawn in place on a terminal, a line for each change elsewhere
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
    let mut rows = read(session, flags).await?;
    if !flags.watch {
        if rows.is_empty() && !flags.all_namespaces {
            require_namespace(session).await?;
        }
        out.document(flags.output, &rows, |paint| table(&rows, flags, paint, clock.now()))?;
        return Ok(Exit::Done);
    }
    let mut screen = Screen::default();
    let mut shown: Option<Vec<Summary>> = None;
    loop {
        let text = matches!(flags.output, Format::Text | Format::Wide);
        if text && out.is_terminal() {
            let text = table(&rows, flags, out.paint(), clock.now());
            screen.draw(out, &text)?;
        } else if shown.as_ref() != Some(&rows) {
            let before = shown.take().unwrap_or_default();
            let changed: Vec<Summary> =
                rows.iter().filter(|row| !before.contains(row)).cloned().collect();
            write_changes(&changed, flags, out, clock.now())?;
            shown = Some(rows);
        }
        tokio::time::sleep(EVERY).await;
        rows = match read(session, flags).await {
            Ok(rows) => rows,
            Err(Failure::Unreachable(_)) => shown.clone().unwrap_or_default(),
            Err(failure) => return Err(failure),
        };
    }
}

async fn read(session: &Session, flags: &Flags) -> Result<Vec<Summary>, Failure> {
    let namespace = (!flags.all_namespaces).then_some(session.namespace.as_str());
    let items = session.list(&rollouts_path(namespace), "statefulsetrollouts").await?;
    let rollouts = items.iter().map(|item| decoded(item, "statefulsetrollout"));
    rollouts.map(|rollout| Ok(Summary::of(&rollout?))).collect()
}

fn write_changes(
    rows: &[Summary],
    flags: &Flags,
    out: &mut Out,
    now: Timestamp,
) -> std::io::Result<()> {
    for row in rows {
        out.change(flags.output, row)?;
    }
    if matches!(flags.output, Format::Text | Format::Wide) && !rows.is_empty() {
        out.text(&table(rows, flags, out.paint(), now))?;
    }
    Ok(())
}

fn table(rows: &[Summary], flags: &Flags, paint: Paint, now: Timestamp) -> String {
    if rows.is_empty() {
        return "no rollouts\n".to_owned();
    }
    let wide = flags.output == Format::Wide;
    let mut heading =
        vec!["NAME", "PHASE", "PERCENT", "UPDATED", "READY", "VERSION", "AGE", "REASON"];
    if flags.all_namespaces {
        heading.insert(0, "NAMESPACE");
    }
    if wide {
        heading.extend(["IDENTITY", "LEAKED", "GENERATION"]);
    }
    let rows: Vec<Vec<Cell>> = rows.iter().map(|row| cells(row, flags, now)).collect();
    columns(paint, &heading, &rows)
}

fn cells(row: &Summary, flags: &Flags, now: Timestamp) -> Vec<Cell> {
    let (mark, tone) = phase(&row.phase);
    let reason = row.blocked.as_ref().map_or(row.reason.as_str(), |blocked| &blocked.message);
    let tone_reason = if row.blocked.is_some() { Tone::Bad } else { Tone::Plain };
    let short: String = reason.chars().take(60).collect();
    let cut = if short.len() < reason.len() && flags.output != Format::Wide {
        short + "…"
    } else {
        reason.to_owned()
    };
    let mut cells: Vec<Cell> = vec![
        row.name.as_str().into(),
        toned(tone, format!("{mark} {}", row.phase)),
        format!("{}%", row.percent).into(),
        format!("{}/{}/{}", row.updated_replicas, row.target_replicas, row.replicas).into(),
        row.ready_replicas.to_string().into(),
        row.version.as_str().into(),
        row.created.map(|created| age(created, now)).unwrap_or_default().into(),
        toned(tone_reason, cut),
    ];
    if flags.all_namespaces {
        cells.insert(0, row.namespace.as_str().into());
    }
    if flags.output == Format::Wide {
        cells.extend([
            row.rollout_identity.as_str().into(),
            row.leaked_replicas.to_string().into(),
            format!("{}/{}", row.observed_generation, row.generation).into(),
        ]);
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::far_side::{FarSide, Paper, flags, noon};

    #[tokio::test(start_paused = true)]
    async fn rollouts_are_listed_with_where_they_are_and_why() {
        let paper = Paper::default();
        let session = FarSide::rolling_out().session();
        let flags = flags(&["-o", "wide"]);
        show(&session, &flags, &mut Out::to(paper.clone()), &noon()).await.unwrap();
        insta::assert_snapshot!(paper.text());
    }

    #[tokio::test(start_paused = true)]
    async fn a_namespace_that_does_not_exist_is_no_empty_list() {
        let far_side = FarSide::default().with(
            "/apis/bedrock.operator.slack.com/v1/namespaces/default/statefulsetrollouts",
            &serde_json::json!({"items": []}),
        );
        let failure =
            show(&far_side.session(), &flags(&[]), &mut Out::nowhere(), &noon()).await.unwrap_err();
        assert_eq!(failure.exit(), Exit::Absent);
        assert!(failure.to_string().contains("namespace default does not exist"), "{failure}");
    }
}
