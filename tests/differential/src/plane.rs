//! The real control plane of a run: a child that goes when we go.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tempfile::TempDir;

/// Names the binary.
pub const BINARY: &str = "SLUICE_CONTROLPLANE";

/// A control plane that is up; it ends with its standard input.
pub struct Plane {
    child: Child,
    folder: TempDir,
}

impl Plane {
    /// Brings one up, or says why it can't.
    pub fn up(binary: &Path) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("no folder for it: {error}"))?;
        let run = folder.path().join("run");
        let mut child = Command::new(binary)
            .args(["up", "--until-eof", "--start-up", "100ms", "--dir"])
            .arg(&run)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(|error| format!("{}: {error}", binary.display()))?;
        let lines = BufReader::new(child.stdout.take().expect("it was asked for"));
        let ready = lines.lines().map_while(Result::ok).any(|line| line.contains("ready:"));
        if ready { Ok(Self { child, folder }) } else { Err(format!("{binary:?} isn't ready")) }
    }

    /// The kubeconfig of a user with all rights.
    pub fn kubeconfig(&self) -> serde_json::Value {
        let config = Kubeconfig::read_from(self.folder.path().join("run/kubeconfig"))
            .expect("a kubeconfig of our own making");
        serde_json::to_value(config).expect("a kubeconfig is a value")
    }

    /// A client with all rights.
    pub async fn client(&self) -> Client {
        let path = self.folder.path().join("run/kubeconfig");
        let config = Kubeconfig::read_from(path).expect("a kubeconfig of our own making");
        let config = Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await;
        let mut config = config.expect("a kubeconfig with a current context");
        config.default_retry = false;
        Client::try_from(config).expect("a client")
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // Nothing can be done about one that doesn't end, and it has lost its parent then.
        let _ = self.child.wait();
    }
}
