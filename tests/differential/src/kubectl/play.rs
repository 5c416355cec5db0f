//! Plays a session and takes down what is said.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};

use super::cluster::Address;
use super::normal::normal;
use super::script::{How, Said, Step, words};

/// How often a command of [`How::Until`] is repeated before its answer counts.
const LOOKS: usize = 60;
/// How long between two of them.
const PAUSE: Duration = Duration::from_millis(250);
/// How many times in a row the same answer is the final one, when nothing is expected yet.
const STILL: usize = 8;

/// Whoever runs the commands.
pub struct Player<'a> {
    /// The binary.
    pub kubectl: &'a Path,
    /// The files that commands name.
    pub files: &'a Path,
    /// A home for kubectl's cache and the kubeconfig.
    pub folder: &'a Path,
    /// The cluster.
    pub address: &'a Address,
    /// Whether the session is being written: what was expected before counts for nothing.
    pub anew: bool,
}

impl Player<'_> {
    /// Plays all steps in a new namespace of this name; returns them with what was said now.
    pub async fn play(&self, namespace: &str, steps: &[Step]) -> Vec<Step> {
        let kubeconfig =
            self.address.write(self.folder, namespace).expect("a kubeconfig can be written");
        let session = Session { player: self, kubeconfig, port: free_port().to_string() };
        // One of the same name may still be going: of a session that is played again.
        session
            .once(&format!("kubectl wait --for=delete namespace/{namespace} --timeout=60s"))
            .await;
        let made = session.once(&format!("kubectl create namespace {namespace}")).await;
        assert_eq!(made.code, 0, "{}", made.err);
        let (mut out, mut background) = (Vec::new(), None);
        for step in steps {
            let said = match step.how {
                How::Once => session.once(&step.command).await,
                How::Last => last(session.once(&step.command).await),
                How::Until => session.until(step).await,
                How::Start => {
                    background = Some(session.start(&step.command));
                    Said::default()
                }
                How::Stop => {
                    let child = background.take().expect("something was started");
                    session.stop(child, &step.said).await
                }
            };
            out.push(Step { said, ..step.clone() });
        }
        session.once(&format!("kubectl delete namespace {namespace} --wait=false")).await;
        out
    }
}

/// A port of loopback that nobody had just now.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has a port");
    listener.local_addr().expect("it is bound").port()
}

fn last(said: Said) -> Said {
    let out = said.out.lines().last().map(|line| format!("{line}\n")).unwrap_or_default();
    Said { out, ..said }
}

struct Session<'a> {
    player: &'a Player<'a>,
    kubeconfig: PathBuf,
    /// What `{port}` in a command stands for.
    port: String,
}

impl Session<'_> {
    fn command(&self, text: &str) -> Command {
        let text = text.replace("{port}", &self.port);
        let mut words = words(&text).into_iter().peekable();
        let mut set = Vec::new();
        while let Some(word) = words.next_if(|word| {
            word.split_once('=')
                .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
        }) {
            set.extend(
                word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())),
            );
        }
        let program = words.next().expect("a command has a name");
        assert_eq!(program, "kubectl", "a session has commands of kubectl alone");
        let mut command = Command::new(self.player.kubectl);
        command
            .args(words)
            .current_dir(self.player.files)
            .env("HOME", self.player.folder)
            .env("KUBECONFIG", &self.kubeconfig)
            .env("TZ", "UTC")
            .env("LANG", "C")
            .envs(set)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    async fn once(&self, text: &str) -> Said {
        let output = self.command(text).output().await.expect("kubectl runs");
        Said {
            out: normal(&String::from_utf8_lossy(&output.stdout)),
            err: normal(&String::from_utf8_lossy(&output.stderr)),
            code: output.status.code().unwrap_or(-1),
        }
    }

    async fn until(&self, step: &Step) -> Said {
        let mut said = self.once(&step.command).await;
        let mut same = 0;
        for _ in 0..LOOKS {
            let enough = if self.player.anew { same >= STILL } else { said == step.said };
            if enough {
                break;
            }
            tokio::time::sleep(PAUSE).await;
            let next = self.once(&step.command).await;
            same = if next == said { same + 1 } else { 0 };
            said = next;
        }
        said
    }

    fn start(&self, text: &str) -> Child {
        self.command(text).spawn().expect("kubectl runs")
    }

    async fn stop(&self, mut child: Child, expected: &Said) -> Said {
        let mut pipe = child.stdout.take().expect("it was asked for");
        let (mut bytes, mut still) = (Vec::new(), 0);
        let wanted = if self.player.anew { usize::MAX } else { expected.out.lines().count() };
        // What comes after the expected lines would be a difference: a little time is given for it.
        while still < STILL {
            match tokio::time::timeout(PAUSE, pipe.read_buf(&mut bytes)).await {
                Ok(Ok(1..)) => still = 0,
                Ok(_) => break,
                Err(_) if bytes.split(|&b| b == b'\n').count() > wanted && still >= 1 => break,
                Err(_) => still += 1,
            }
        }
        child.start_kill().expect("it is a child of ours");
        let _ = child.wait().await;
        Said { out: normal(&String::from_utf8_lossy(&bytes)), ..Said::default() }
    }
}
