//! `sluice cluster`: the embedded cluster alone, for kubectl and for an operator beside it.

use serde_json::json;

use crate::embedded::{self, Embedded};
use crate::exit::{Exit, Outcome};
use crate::out::{Format, Out, PlainFormat};

/// Run the embedded cluster on loopback until SIGINT or SIGTERM
#[derive(clap::Args, Debug)]
#[group(skip)]
pub(crate) struct Flags {
    #[command(flatten)]
    cluster: embedded::Flags,

    /// How the line that says that it is ready is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: PlainFormat,
}

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    let shutdown = operator::signals::shutdown()?;
    let cluster = Embedded::start(&flags.cluster).await?;
    let kubeconfig = cluster.kubeconfig().display().to_string();
    let url = cluster.url.clone();
    // The listener is there: whoever connects now is served as soon as this has been said.
    let ready = json!({"kubeconfig": kubeconfig, "server": url});
    let format = Format::from(flags.output);
    out.change(format, &ready)?;
    if format == Format::Text {
        out.line(&format!("ready: cluster at {url}, kubeconfig in {kubeconfig}; Ctrl-C ends it"))?;
    }
    tokio::select! { biased;
        () = shutdown => Ok(Exit::Done),
        served = cluster.run() => served.map(|()| Exit::Done).map_err(Into::into),
    }
}
