//! The commands: one file each, all of one shape, `Flags` and `run`.

mod change;
mod cluster;
mod crds;
mod demo;
mod describe;
mod get;
mod history;
mod lint;
mod list;
mod operator;
mod pause;
mod plan;
mod resume;
mod retry;
mod status;
mod undo;
pub mod verdict;

use clap::{Parser, Subcommand};

use crate::exit::{Outcome, TABLE};
use crate::out::Out;

/// Releases a new version of a StatefulSet a measured number of Pods at a time
#[derive(Debug, Parser)]
#[command(name = "sluice", version, after_help = TABLE, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct Line {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Get(get::Flags),
    List(list::Flags),
    Status(status::Flags),
    Describe(describe::Flags),
    Pause(pause::Flags),
    Resume(resume::Flags),
    Retry(retry::Flags),
    Undo(undo::Flags),
    History(history::Flags),
    Plan(plan::Flags),
    Lint(lint::Flags),
    Crds(crds::Flags),
    Operator(operator::Flags),
    Cluster(cluster::Flags),
    Demo(demo::Flags),
}

impl Line {
    /// Runs the command to its end.
    pub async fn run(self, out: &mut Out) -> Outcome {
        match self.command {
            Command::Get(flags) => get::run(&flags, out).await,
            Command::List(flags) => list::run(&flags, out).await,
            Command::Status(flags) => status::run(&flags, out).await,
            Command::Describe(flags) => describe::run(&flags, out).await,
            Command::Pause(flags) => pause::run(&flags, out).await,
            Command::Resume(flags) => resume::run(&flags, out).await,
            Command::Retry(flags) => retry::run(&flags, out).await,
            Command::Undo(flags) => undo::run(&flags, out).await,
            Command::History(flags) => history::run(&flags, out).await,
            Command::Plan(flags) => plan::run(&flags, out).await,
            Command::Lint(flags) => lint::run(&flags, out),
            Command::Crds(flags) => crds::run(&flags, out),
            Command::Operator(flags) => operator::run(flags).await,
            Command::Cluster(flags) => cluster::run(&flags, out).await,
            Command::Demo(flags) => demo::run(&flags, out).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Line::command().debug_assert();
    }
}
