//! `sluice demo`: a cluster, an operator and a rollout from start to end, with nothing else needed.

use std::path::Path;

use clap::ValueEnum;
use cluster::Clock;
use serde::Serialize;
use tokio::sync::oneshot;

use crate::demo::{batches, install, operator, percent};
use crate::embedded::{self, Embedded};
use crate::exit::{Exit, Failure, Outcome};
use crate::out::{Format, Out, PlainFormat};
use crate::session::{Connection, Session};

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Story {
    /// A StatefulsetRollout, to 25 and to 100 percent
    Percent,
    /// A Rollout of a Deployment, in steps of 1, 50% and 100%, each approved
    Batches,
}

/// Show a rollout on an embedded cluster, with the operator in the same process
#[derive(clap::Args, Debug)]
#[group(skip)]
pub(crate) struct Flags {
    /// What is shown
    #[arg(value_enum, value_name = "STORY", default_value = "percent")]
    story: Story,

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
    let clock = Clock::system();
    let stage = if text { &mut *out } else { &mut silence };
    let exit = match flags.story {
        Story::Percent => percent::play(session, stage, &clock).await?,
        Story::Batches => batches::play(session, stage, &clock).await?,
    };
    if !text {
        match flags.story {
            Story::Percent => document(flags, out, &percent::view(session).await?)?,
            Story::Batches => document(flags, out, &batches::view(session).await?)?,
        }
    }
    if exit == Exit::Done && text {
        out.line(&format!("\ndone: {}", flags.story.end()))?;
    }
    if flags.once {
        return Ok(exit);
    }
    if text {
        out.text(&hints(flags.story, &flags.cluster.kubeconfig))?;
    }
    std::future::pending().await
}

fn document(flags: &Flags, out: &mut Out, view: &impl Serialize) -> std::io::Result<()> {
    out.document(Format::from(flags.output), view, |_| String::new())
}

impl Story {
    /// What is so when all went well.
    fn end(self) -> &'static str {
        match self {
            Self::Percent => "every Pod runs v2",
            Self::Batches => "every Pod runs v2, and the Deployment is its own controller's again",
        }
    }

    /// What may be tried then; `sluice` is how it was started.
    fn commands(self, sluice: &str) -> String {
        match self {
            Self::Percent => {
                let name = percent::NAME;
                format!(
                    "kubectl get ssr,sts,pdb,pods\n  \
                     {sluice} get {name} -w\n  \
                     kubectl patch ssr {name} --type=json -p '[{{\"op\":\"replace\",\"path\":\
                     \"/spec/statefulset/spec/template/spec/containers/0/image\",\"value\":\
                     \"bedrock-tester:v3\"}},{{\"op\":\"replace\",\"path\":\"/spec/percent\",\
                     \"value\":50}}]'\n  \
                     {sluice} status {name} --for=percent=50\n  \
                     {sluice} plan {name}\n  \
                     {sluice} undo {name}\n"
                )
            }
            Self::Batches => {
                let name = batches::NAME;
                format!(
                    "kubectl get rollouts,batchreleases,deployments,replicasets,pods\n  \
                     {sluice} get rollout/{name} -w\n  \
                     kubectl set image deployment/{name} {name}=registry.example.com/web:v3\n  \
                     {sluice} status rollout/{name} --for=paused\n  \
                     {sluice} approve rollout/{name}\n  \
                     {sluice} abort rollout/{name}\n"
                )
            }
        }
    }
}

fn hints(story: Story, kubeconfig: &Path) -> String {
    let kubeconfig = std::path::absolute(kubeconfig).unwrap_or_else(|_| kubeconfig.to_owned());
    let kubeconfig = kubeconfig.display();
    // As it was started, which is hardly by its bare name: `cargo run` puts nothing on the PATH.
    let sluice = std::env::current_exe().unwrap_or_else(|_| "sluice".into());
    let commands = story.commands(&sluice.display().to_string());
    format!(
        "\nThe cluster and the operator stay until Ctrl-C. In another terminal:\n\n  \
         export KUBECONFIG={kubeconfig}\n  \
         {commands}\n\
         An image with `broken` or `crash` in its name shows how a rollout fails.\n"
    )
}
