//! The commands: one file each, all of one shape, `Flags` and `run`.

mod abort;
mod approve;
mod change;
mod cluster;
mod crds;
mod demo;
mod describe;
mod get;
mod history;
mod install;
mod lint;
mod list;
mod operator;
mod pause;
mod plan;
mod restart;
mod resume;
mod retry;
mod rollback;
mod status;
mod undo;
pub(crate) mod verdict;

use clap::{Parser, Subcommand};

use crate::exit::{Outcome, TABLE};
use crate::out::Out;

/// How a rollout is named, as `sluice --help` shows it.
const NAMES: &str = "\
A rollout is named by NAME, or by TYPE/NAME where that is not enough:
  statefulsetrollout/NAME (ssr)            by percent
  rollout/NAME (ro)                        by steps
  deployment/NAME, statefulset/NAME, daemonset/NAME (deploy, sts, ds)
                                           the rollout that leads this workload
  batchrelease/NAME (br)                   the rollout that wrote it, or itself";

/// Releases a new version of a workload a measured number of Pods at a time
#[derive(Debug, Parser)]
#[command(name = "sluice", version, after_help = format!("{NAMES}\n\n{TABLE}"), max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Line {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Get(get::Flags),
    List(list::Flags),
    Status(status::Flags),
    Describe(describe::Flags),
    Approve(approve::Flags),
    Pause(pause::Flags),
    Resume(resume::Flags),
    Undo(undo::Flags),
    Abort(abort::Flags),
    Restart(restart::Flags),
    Retry(retry::Flags),
    History(history::Flags),
    Plan(plan::Flags),
    Lint(lint::Flags),
    Crds(crds::Flags),
    Install(install::Flags),
    // It has many times the flags of the others.
    Operator(Box<operator::Flags>),
    Cluster(cluster::Flags),
    Demo(demo::Flags),
}

impl Line {
    /// Runs the command to its end.
    pub(crate) async fn run(self, out: &mut Out) -> Outcome {
        match self.command {
            Command::Get(flags) => get::run(&flags, out).await,
            Command::List(flags) => list::run(&flags, out).await,
            Command::Status(flags) => status::run(&flags, out).await,
            Command::Describe(flags) => describe::run(&flags, out).await,
            Command::Approve(flags) => approve::run(&flags, out).await,
            Command::Pause(flags) => pause::run(&flags, out).await,
            Command::Resume(flags) => resume::run(&flags, out).await,
            Command::Undo(flags) => undo::run(&flags, out).await,
            Command::Abort(flags) => abort::run(&flags, out).await,
            Command::Restart(flags) => restart::run(&flags, out).await,
            Command::Retry(flags) => retry::run(&flags, out).await,
            Command::History(flags) => history::run(&flags, out).await,
            Command::Plan(flags) => plan::run(&flags, out).await,
            Command::Lint(flags) => lint::run(&flags, out),
            Command::Crds(flags) => crds::run(&flags, out),
            Command::Install(flags) => install::run(&flags, out).await,
            Command::Operator(flags) => operator::run(*flags).await,
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

    #[test]
    fn the_help_text_is_as_it_was_read_last() {
        let mut command = Line::command().term_width(100);
        command.build();
        let mut text = command.render_long_help().to_string();
        let names: Vec<String> =
            command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
        // The operator's flags have a test of their own, beside their page in the docs.
        for name in names.iter().filter(|name| *name != "operator") {
            let one = command.find_subcommand_mut(name).unwrap();
            let help = one.clone().term_width(100).render_help();
            text.push_str(&format!("\n---- sluice {name}\n{help}"));
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn every_command_but_the_operator_writes_json() {
        for command in Line::command().get_subcommands().filter(|one| one.get_name() != "operator")
        {
            let output = command.get_arguments().find(|flag| flag.get_id() == "output").unwrap();
            let values = output.get_possible_values();
            assert!(
                values.iter().any(|value| value.get_name() == "json"),
                "{}",
                command.get_name()
            );
        }
    }

    #[test]
    fn arguments_are_read_or_refused_with_code_2() {
        fn check(arguments: &str, expect: Option<i32>) {
            let line = std::iter::once("sluice").chain(arguments.split_whitespace());
            let refused = Line::try_parse_from(line).err().map(|error| error.exit_code());
            assert_eq!(refused, expect, "{arguments}");
        }
        check("get tester -n default -o wide -w", None);
        check("list -A", None);
        check("status tester --for=done --for=percent=25 --timeout 10m", None);
        check("undo ssr/tester --to-revision=3", None);
        check("approve rollout/web --step 3", None);
        check("abort deployment/web", None);
        check("restart ro/web -n shop", None);
        check("status rollout/web --for step=2", None);
        check("lint -f a.yaml b.yaml", None);
        check("plan -f a.yaml --replicas 10", None);
        check("install --namespace-only shop --image registry.example.org/sluice:1 -o json", None);
        check("cluster --nodes 5 --start-up 10s --kruise --listen 127.0.0.1:6443", None);
        check("demo --once", None);
        check("demo batches --once -o yaml", None);
        check("--help", Some(0));
        check("--version", Some(0));
        check("", Some(2));
        check("promote tester", Some(2));
        check("get", Some(2));
        check("get Bad_Name", Some(2));
        check("get pod/web", Some(2));
        check("approve web --step 0", Some(2));
        check("get tester -o xml", Some(2));
        check("status tester --for=ready", Some(2));
        check("status tester --timeout=5", Some(2));
        check("status tester --keep-waiting --blocked-after=1s", Some(2));
        check("plan", Some(2));
        check("plan tester -f a.yaml", Some(2));
        check("lint", Some(2));
        check("cluster --listen 0.0.0.0:6443", Some(2));
        check("cluster --nodes 0", Some(2));
        check("demo canary", Some(2));
    }
}
