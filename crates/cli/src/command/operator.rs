//! `sluice operator`: the controller manager for a real cluster.

use crate::exit::{Exit, Failure, Outcome};

/// Run the operator against a cluster
#[derive(clap::Args, Debug)]
#[group(skip)]
pub(crate) struct Flags {
    #[command(flatten)]
    flags: operator::Flags,
}

/// Runs it until SIGTERM or SIGINT.
pub(crate) async fn run(flags: Flags) -> Outcome {
    operator::logs::start(&flags.flags);
    let shutdown = operator::signals::shutdown()?;
    match operator::run(flags.flags, shutdown).await {
        Ok(()) => Ok(Exit::Done),
        Err(error) => Err(Failure::Failed(error.to_string())),
    }
}
