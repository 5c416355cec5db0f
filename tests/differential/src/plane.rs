//! The real control plane of a run: a child that goes when we go.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tempfile::TempDir;

use crate::settings::setting;

/// Names the binary.
pub const BINARY: &str = "SLUICE_CONTROLPLANE";
/// Names the kubeconfig of one that is up already, with its start-up time of 100 ms; goes before
/// [`BINARY`].
pub const KUBECONFIG: &str = "SLUICE_DIFFERENTIAL_KUBECONFIG";

/// Turns on the controller of `kube-root-ca.crt`.
const PUBLISHER: &str =
    "kube-controller-manager:--controllers=root-ca-certificate-publisher-controller";

/// A control plane that is up.
pub struct Plane {
    kubeconfig: PathBuf,
    /// What was brought up for this run; it ends with its standard input.
    own: Option<(Child, TempDir)>,
}

impl Plane {
    /// The one that the settings name, if they name one; says so where there is none.
    pub fn named() -> Option<Self> {
        Self::with(&[])
    }

    /// The same with what puts the cluster's certificate into each namespace, as in a whole cluster.
    pub fn whole() -> Option<Self> {
        Self::with(&[PUBLISHER])
    }

    fn with(arguments: &[&str]) -> Option<Self> {
        if let Some(path) = setting(KUBECONFIG) {
            return Some(Self { kubeconfig: path.into(), own: None });
        }
        let Some(binary) = setting(BINARY) else {
            println!("{BINARY} names no control plane: the embedded cluster is compared with none");
            return None;
        };
        Some(
            Self::up(Path::new(&binary), arguments)
                .expect("the control plane that is named comes up"),
        )
    }

    /// Brings one up with further arguments for its components, or says why it can't.
    pub fn up(binary: &Path, arguments: &[&str]) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("no folder for it: {error}"))?;
        let run = folder.path().join("run");
        let mut child = Command::new(binary)
            .args(["up", "--until-eof", "--start-up", "100ms", "--dir"])
            .arg(&run)
            .args(arguments.iter().flat_map(|argument| ["--arg", argument]))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(|error| format!("{}: {error}", binary.display()))?;
        let lines = BufReader::new(child.stdout.take().expect("it was asked for"));
        if !lines.lines().map_while(Result::ok).any(|line| line.contains("ready:")) {
            return Err(format!("{binary:?} isn't ready"));
        }
        Ok(Self { kubeconfig: run.join("kubeconfig"), own: Some((child, folder)) })
    }

    /// The kubeconfig of a user with all rights.
    pub fn kubeconfig(&self) -> serde_json::Value {
        serde_json::to_value(self.config()).expect("a kubeconfig is a value")
    }

    /// A client with all rights.
    pub async fn client(&self) -> Client {
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(self.config(), &options).await;
        let mut config = config.expect("a kubeconfig with a current context");
        config.default_retry = false;
        Client::try_from(config).expect("a client")
    }

    fn config(&self) -> Kubeconfig {
        Kubeconfig::read_from(&self.kubeconfig).expect("a kubeconfig of a control plane")
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        if let Some((child, _)) = &mut self.own {
            drop(child.stdin.take());
            // Nothing can be done about one that doesn't end, and it has lost its parent then.
            let _ = child.wait();
        }
    }
}
