//! The operator of the demo: the one of `sluice operator`, against the kubeconfig that was written.

use std::future::Future;
use std::path::Path;

use clap::Parser;

use crate::exit::Failure;

/// A line of its own, so that flags keep their defaults.
#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    flags: operator::Flags,
}

/// Runs until `shutdown` resolves. Each flag is given that the environment could set otherwise.
pub(crate) async fn operator(
    kubeconfig: &Path,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Failure> {
    let kubeconfig = format!("--kubeconfig={}", kubeconfig.display());
    let given = [
        "sluice",
        &kubeconfig,
        "--namespace=",
        // Nobody else is there to lead, and a short wait between two looks keeps the demo short.
        "--leader-elect=false",
        "--reconcile-interval=500ms",
        "--metrics-bind-address=0",
        "--health-probe-bind-address=0",
        // Any free port; changes of workloads are held by what answers there.
        "--webhook-bind-address=127.0.0.1:0",
        "--webhook-url=https://127.0.0.1:0",
        "--operator-namespace=default",
        "--feature-gates=AdvancedDeployment=true",
        "--shutdown-timeout=5s",
        "--log-format=text",
        "--log-level=info",
    ];
    let line = Line::try_parse_from(given).map_err(|error| Failure::Failed(error.to_string()))?;
    operator::run(line.flags, shutdown)
        .await
        .map_err(|error| Failure::Failed(format!("the operator of the demo ended: {error}")))
}
