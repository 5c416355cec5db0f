//! The operator as a process: started, stopped and continued, killed, and started again when it ends
//! by itself, as a kubelet would.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use tokio::process::{Child, Command};

/// One operator through all its lives.
pub(crate) struct Operator {
    sluice: PathBuf,
    kubeconfig: PathBuf,
    namespace: String,
    elects: bool,
    log: PathBuf,
    child: Option<Child>,
    /// How often it was started.
    pub(crate) lives: u32,
}

impl Operator {
    /// One that serves `namespace`, not started yet.
    pub(crate) fn new(
        sluice: &Path,
        kubeconfig: PathBuf,
        namespace: &str,
        elects: bool,
        log: PathBuf,
    ) -> Self {
        let (sluice, namespace) = (sluice.to_owned(), namespace.to_owned());
        Self { sluice, kubeconfig, namespace, elects, log, child: None, lives: 0 }
    }

    /// Starts it unless it runs.
    pub(crate) fn keep(&mut self) {
        let runs = |child: &mut Child| matches!(child.try_wait(), Ok(None));
        if self.child.as_mut().is_some_and(runs) {
            return;
        }
        let log = OpenOptions::new().create(true).append(true).open(&self.log).expect("a log");
        self.lives += 1;
        self.child = Some(self.command(log).spawn().expect("sluice"));
    }

    fn command(&self, log: File) -> Command {
        let mut command = Command::new(&self.sluice);
        command
            .args(["operator", "--operator-namespace", "sluice-system"])
            .args(["--namespace", &self.namespace, "--kubeconfig"])
            .arg(&self.kubeconfig)
            .args(["--reconcile-interval", "500ms", "--log-level", "info"])
            .args(["--metrics-bind-address", "0", "--health-probe-bind-address", "0"])
            .args([
                format!("--leader-elect={}", self.elects),
                "--leader-elect-lease-duration=4s".to_owned(),
                "--leader-elect-renew-deadline=3s".to_owned(),
                "--leader-elect-retry-period=500ms".to_owned(),
            ])
            .env_remove("KUBECONFIG")
            .stdout(log.try_clone().expect("a log"))
            .stderr(log)
            .kill_on_drop(true);
        command
    }

    /// Ends it with signal 9.
    pub(crate) async fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().await.expect("killed");
        }
    }

    /// Sends it a signal by name, as `STOP` and `CONT`.
    pub(crate) async fn signal(&self, name: &str) {
        if let Some(id) = self.child.as_ref().and_then(Child::id) {
            let sent = Command::new("kill").args([format!("-{name}"), id.to_string()]).status();
            assert!(sent.await.expect("kill").success(), "{name} to process {id}");
        }
    }

    /// Whether it is the holder of a Lease: identities end with the process in hexadecimal.
    pub(crate) fn is(&self, holder: &str) -> bool {
        let id = self.child.as_ref().and_then(Child::id);
        id.is_some_and(|id| holder.ends_with(&format!("-{id:x}")))
    }

    /// All that it said, in all lives.
    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}
