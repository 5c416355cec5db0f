//! `sluice history`: the revisions of a rollout's StatefulSet and who runs them.

use cluster::Clock;
use jiff::Timestamp;
use serde::Serialize;

use crate::exit::{Exit, Outcome};
use crate::facts::Facts;
use crate::out::{Format, Out};
use crate::session::{Connection, Session};
use crate::show::age::age;
use crate::show::paint::{Paint, Tone};
use crate::show::table::{Cell, columns, toned};

/// List the revisions of a rollout
#[derive(clap::Args, Debug)]
pub(crate) struct Flags {
    /// The rollout
    #[arg(value_name = "NAME", value_parser = crate::name::object)]
    name: String,

    /// How the result is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: Format,

    #[command(flatten)]
    connection: Connection,
}

/// One revision.
#[derive(Debug, Serialize)]
struct Row {
    /// For `sluice undo --to-revision`.
    revision: i64,
    name: String,
    version: String,
    image: String,
    /// How many Pods run it.
    pods: usize,
    /// Whether it is the one that is asked for now.
    update: bool,
    /// Whether it is what the Pods ran before this rollout.
    stable: bool,
    created: Option<Timestamp>,
}

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    show(&flags.connection.open().await?, flags, out, &Clock::system()).await
}

async fn show(session: &Session, flags: &Flags, out: &mut Out, clock: &Clock) -> Outcome {
    let facts = Facts::read(session, &flags.name).await?;
    let rows = rows(&facts);
    let wide = flags.output == Format::Wide;
    out.document(flags.output, &rows, |paint| table(&rows, wide, paint, clock.now()))?;
    Ok(Exit::Done)
}

fn rows(facts: &Facts) -> Vec<Row> {
    let update = facts.set.as_ref().map_or("", |set| set.update_revision.as_str());
    let stable = facts.rollout.status.as_ref().map_or("", |status| &status.stable_revision);
    let rows = facts.revisions.iter().map(|revision| Row {
        revision: revision.number,
        pods: facts.pods.iter().filter(|pod| pod.revision == revision.name).count(),
        update: revision.name == update,
        stable: revision.name == *stable,
        name: revision.name.clone(),
        version: revision.version.clone(),
        image: revision.image.clone(),
        created: revision.created,
    });
    rows.collect()
}

fn table(rows: &[Row], wide: bool, paint: Paint, now: Timestamp) -> String {
    if rows.is_empty() {
        return "no revisions: the StatefulSet does not exist yet\n".to_owned();
    }
    let mut heading = vec!["REVISION", "VERSION", "PODS", "AGE", "IMAGE", "MARK"];
    if wide {
        heading.push("NAME");
    }
    let cells = |row: &Row| -> Vec<Cell> {
        let mark = match (row.update, row.stable) {
            (true, true) => "update, stable",
            (true, false) => "update",
            (false, true) => "stable",
            (false, false) => "",
        };
        let mut cells = vec![
            row.revision.to_string().into(),
            row.version.as_str().into(),
            row.pods.to_string().into(),
            row.created.map(|created| age(created, now)).unwrap_or_default().into(),
            row.image.as_str().into(),
            toned(Tone::Good, mark),
        ];
        if wide {
            cells.push(row.name.as_str().into());
        }
        cells
    };
    columns(paint, &heading, &rows.iter().map(cells).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::far_side::{FarSide, Paper, flags, noon};

    #[tokio::test(start_paused = true)]
    async fn each_revision_is_listed_with_who_runs_it() {
        let paper = Paper::default();
        let session = FarSide::rolling_out().session();
        let flags = flags(&["tester", "-o", "wide"]);
        show(&session, &flags, &mut Out::to(paper.clone()), &noon()).await.unwrap();
        insta::assert_snapshot!(paper.text());
    }
}
