//! `sluice demo`: a cluster, an operator and a rollout from start to end, with nothing else needed.

use std::path::Path;

use cluster::Clock;
use tokio::sync::oneshot;

use crate::demo::{NAME, install, operator, play};
use crate::embedded::{self, Embedded};
use crate::exit::{Exit, Failure, Outcome};
use crate::out::{Format, Out, PlainFormat};
use crate::session::{Connection, Session};
use crate::show::view::View;

/// Show a rollout on an embedded cluster, with the operator in the same process
#[derive(clap::Args, Debug)]
#[group(skip)]
pub(crate) struct Flags {
    #[command(flatten)]
    cluster: embedded::Flags,

    /// End when the rollout is done, instead of staying for kubectl
    #[arg(long)]
    once: bool,

    /// How the result is written; in JSON and YAML the rollout as it is at the end, alone
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: PlainFormat,
}

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    let shutdown = operator::signals::shutdown()?;
    let cluster = Embedded::start(&flags.cluster).await?;
    let kubeconfig = cluster.kubeconfig().to_owned();
    let connection = Connection {
        kubeconfig: Some(kubeconfig.clone()),
        namespace: Some("default".to_owned()),
        ..Connection::default()
    };
    if flags.output == PlainFormat::Text {
        let (url, file) = (&cluster.url, kubeconfig.display());
        out.line(&format!("embedded cluster at {url}, kubeconfig in {file}"))?;
    }
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = cluster.run();
    let story = async {
        let session = connection.open().await?;
        install(&session).await?;
        let operating = operator(&kubeconfig, async {
            let _ = stopped.await;
        });
        let telling = async {
            let exit = tell(flags, &session, out).await;
            // The operator ends in order, as it would in a cluster.
            let _ = stop.send(());
            exit
        };
        let (operated, told) = tokio::join!(operating, telling);
        told.and_then(|exit| operated.map(|()| exit))
    };
    let outcome = tokio::select! { biased;
        () = shutdown => Ok(Exit::Done),
        served = serving => served.map(|()| Exit::Done).map_err(Failure::from),
        told = story => told,
    };
    // It leads nowhere any more.
    let _ = std::fs::remove_file(&kubeconfig);
    outcome
}

async fn tell(flags: &Flags, session: &Session, out: &mut Out) -> Outcome {
    let mut silence = Out::nowhere();
    let text = flags.output == PlainFormat::Text;
    let exit = play(session, if text { &mut *out } else { &mut silence }, &Clock::system()).await?;
    if !text {
        let view = View::of(&crate::facts::Facts::read(session, NAME).await?);
        out.document(Format::from(flags.output), &view, |_| String::new())?;
    }
    if exit == Exit::Done && text {
        out.line("\ndone: every Pod runs v2")?;
    }
    if flags.once {
        return Ok(exit);
    }
    if text {
        out.text(&hints(&flags.cluster.kubeconfig))?;
    }
    std::future::pending().await
}

fn hints(kubeconfig: &Path) -> String {
    let kubeconfig = std::path::absolute(kubeconfig).unwrap_or_else(|_| kubeconfig.to_owned());
    let kubeconfig = kubeconfig.display();
    // As it was started, which is hardly by its bare name: `cargo run` puts nothing on the PATH.
    let sluice = std::env::current_exe().unwrap_or_else(|_| "sluice".into());
    let sluice = sluice.display();
    format!(
        "\nThe cluster and the operator stay until Ctrl-C. In another terminal:\n\n  \
         export KUBECONFIG={kubeconfig}\n  \
         kubectl get ssr,sts,pdb,pods\n  \
         {sluice} get {NAME} -w\n  \
         kubectl patch ssr {NAME} --type=json -p '[{{\"op\":\"replace\",\"path\":\
         \"/spec/statefulset/spec/template/spec/containers/0/image\",\"value\":\
         \"bedrock-tester:v3\"}},{{\"op\":\"replace\",\"path\":\"/spec/percent\",\"value\":50}}]'\n  \
         {sluice} status {NAME} --for=percent=50\n  \
         {sluice} plan {NAME}\n  \
         {sluice} undo {NAME}\n\n\
         An image with `broken` or `crash` in its name shows how a rollout fails.\n"
    )
}
