//! A real control plane of the test's own, whose components take faults one by one.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

/// One that is up until it is dropped.
pub(crate) struct Plane {
    binary: PathBuf,
    dir: TempDir,
    /// Where the API server listens: host and port.
    pub(crate) address: String,
    _up: Child,
}

impl Plane {
    /// Brings one up and installs the resource and the operator's account on it.
    pub(crate) async fn up(binary: PathBuf, sluice: &Path) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        // No Node is lost while a component is away: what goes unready then isn't the operator's.
        let mut up = Command::new(&binary)
            .args(["up", "--until-eof", "--node-grace", "10m", "--dir"])
            .arg(dir.path().join("run"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the control plane's binary");
        let said = tokio::io::BufReader::new(up.stdout.take().expect("piped"));
        let mut lines = tokio::io::AsyncBufReadExt::lines(said);
        loop {
            let line = lines.next_line().await.expect("text").expect("it says when it is ready");
            if line.contains("ready:") {
                break;
            }
        }
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let mut plane = Self { binary, dir, address: String::new(), _up: up };
        let state = std::fs::read(plane.dir().join("state.json")).expect("a state file");
        let state: Value = serde_json::from_slice(&state).expect("JSON");
        let server = state["server"].as_str().expect("an address");
        server.trim_start_matches("https://").clone_into(&mut plane.address);
        plane.install(sluice).await;
        plane
    }

    async fn install(&self, sluice: &Path) {
        let manifests = Command::new(sluice).arg("install").output().await.expect("sluice");
        assert!(manifests.status.success(), "sluice install: {manifests:?}");
        let mut kubectl = Command::new(&self.binary)
            .args(["kubectl", "--kubeconfig"])
            .arg(self.dir().join("kubeconfig"))
            .args(["apply", "--server-side", "-f", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("kubectl");
        let mut input = kubectl.stdin.take().expect("piped");
        input.write_all(&manifests.stdout).await.expect("kubectl reads");
        drop(input);
        succeeded("kubectl apply", &kubectl.wait_with_output().await.expect("kubectl ends"));
    }

    /// Leaves its directory, with the logs, when it goes.
    pub(crate) fn keep_logs(&mut self) -> PathBuf {
        self.dir.disable_cleanup(true);
        self.dir().join("logs")
    }

    /// Its directory.
    pub(crate) fn dir(&self) -> PathBuf {
        self.dir.path().join("run")
    }

    /// `kill`, `pause`, `resume` or `restart` of one component.
    pub(crate) async fn order(&self, deed: &str, component: &str) {
        succeeded(&format!("{deed} {component}"), &self.ordered(deed, component).await);
    }

    /// The same, whether or not the component is in a state for it.
    pub(crate) async fn ordered(&self, deed: &str, component: &str) -> Output {
        let mut order = Command::new(&self.binary);
        order.args([deed, component, "--dir"]).arg(self.dir());
        order.output().await.expect("the control plane's binary")
    }

    /// An administrator's client, past every proxy.
    pub(crate) async fn client(&self) -> Client {
        let config = Kubeconfig::read_from(self.dir().join("kubeconfig")).expect("a kubeconfig");
        let config = Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await;
        let mut config = config.expect("a context");
        config.default_retry = false;
        Client::try_from(config).expect("a client")
    }

    /// The operator's kubeconfig, with another address for the API server.
    pub(crate) fn operators_kubeconfig(&self, address: &str) -> PathBuf {
        let config = self.dir().join("users/operator.kubeconfig");
        let config = std::fs::read_to_string(config).expect("the operator's kubeconfig");
        let path = self.dir.path().join(format!("{}.kubeconfig", address.replace(':', "-")));
        std::fs::write(&path, config.replace(&self.address, address)).expect("writable");
        path
    }
}

fn succeeded(what: &str, output: &Output) {
    assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
}
