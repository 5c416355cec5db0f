//! What the suite runs against: a control plane of its own, and operators on it, all as children.

use super::Given;
use crate::{controlplane, stage};
use anyhow::{Context, bail};
use serde_json::Value;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Where the operator lives, as `sluice install` has it.
const HOME: &str = "sluice-system";
/// A start takes seconds; a machine that is busy with other things gets minutes.
const START: Duration = Duration::from_secs(180);
/// Between two looks at something that starts.
const LOOK: Duration = Duration::from_millis(100);

/// What an operator serves, and where it lives.
pub(super) struct Serves {
    /// Its own namespace.
    home: String,
    /// The only namespace that it serves; `None` for all.
    only: Option<String>,
    /// Its kubeconfig among the control plane's users.
    user: String,
}

impl Serves {
    /// All namespaces, as `sluice install` has it.
    pub(super) fn everything() -> Self {
        Self { home: HOME.to_owned(), only: None, user: "operator".to_owned() }
    }

    /// One, as `sluice install --namespace-only` has it.
    pub(super) fn one(namespace: &str) -> Self {
        let name = namespace.to_owned();
        Self { home: name.clone(), only: Some(name.clone()), user: name }
    }

    /// Its identity to the API server.
    pub(super) fn account(&self) -> String {
        format!("system:serviceaccount:{}:sluice", self.home)
    }

    /// What `sluice install` prints for it, but for the Deployment: there is nothing to pull an image
    /// with, operators run beside the cluster.
    fn manifests(&self, sluice: &Path) -> anyhow::Result<Vec<Value>> {
        let mut install = Command::new(sluice);
        match &self.only {
            Some(only) => install.args(["install", "--namespace-only", only]),
            None => install.args(["install", "--namespace", &self.home]),
        };
        let printed = output(install.args(["--output", "json"]), "")?;
        let manifests = printed.lines().map(serde_json::from_str::<Value>);
        let manifests: Result<Vec<Value>, _> = manifests.collect();
        let mut manifests = manifests.context("a line of sluice install")?;
        manifests.retain(|manifest| manifest["kind"] != "Deployment");
        Ok(manifests)
    }
}

/// A control plane that goes with this value, or with this process if that dies first: it runs until
/// its standard input ends.
pub(super) struct Plane {
    process: Child,
    program: PathBuf,
    pub(super) directory: PathBuf,
}

impl Plane {
    /// Starts one in `directory/run`, with flags of our own, and returns when it is ready.
    pub(super) fn up(given: &Given, flags: Vec<String>) -> anyhow::Result<Self> {
        let Given { program, directory, .. } = given;
        let run = directory.join("run");
        let log = directory.join("up.log");
        let process = controlplane::command(program, "up", &run)
            .args(["--until-eof", "--audit"])
            .args(flags)
            .stdin(Stdio::piped())
            .stdout(File::create(&log)?)
            .stderr(File::options().append(true).open(&log)?)
            .spawn()
            .with_context(|| program.display().to_string())?;
        let mut plane = Self { process, program: program.clone(), directory: run };
        let state = plane.directory.join("state.json");
        wait("the control plane", &mut plane.process, &log, || {
            let text = std::fs::read_to_string(&state).unwrap_or_default();
            serde_json::from_str::<Value>(&text).is_ok_and(|state| state["ready"] == true)
        })?;
        Ok(plane)
    }

    /// Applies what `sluice install` prints.
    pub(super) fn install(&self, sluice: &Path, serves: &Serves) -> anyhow::Result<()> {
        let manifests = lines(&serves.manifests(sluice)?);
        output(self.kubectl().args(["apply", "--filename", "-"]), &manifests)?;
        let established = ["wait", "--for=condition=Established", "crd", "--all", "--timeout=120s"];
        output(self.kubectl().args(established), "")?;
        Ok(())
    }

    /// Takes away what `sluice install` gives an operator of all namespaces. The CRDs stay, they are
    /// for whoever has the cluster.
    pub(super) fn uninstall(&self, sluice: &Path) -> anyhow::Result<()> {
        let mut manifests = Serves::everything().manifests(sluice)?;
        manifests.retain(|manifest| manifest["kind"] != "CustomResourceDefinition");
        let delete = ["delete", "--filename", "-", "--ignore-not-found", "--wait=false"];
        output(self.kubectl().args(delete), &lines(&manifests))?;
        Ok(())
    }

    pub(super) fn create_namespace(&self, name: &str) -> anyhow::Result<()> {
        output(self.kubectl().args(["create", "namespace", name]), "").map(drop)
    }

    fn kubectl(&self) -> Command {
        controlplane::kubectl(&self.program, &self.directory)
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let begun = stage::watch();
        while matches!(self.process.try_wait(), Ok(None)) && begun.elapsed() < START {
            stage::rest(LOOK);
        }
        // Harmless once it has ended; no child of it outlives it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// An operator under the rights of its installation; one of all namespaces has its webhook on
/// loopback. It goes with this value.
pub(super) struct Operator {
    process: Child,
    pub(super) log: PathBuf,
}

impl Operator {
    /// Starts it and returns when it is ready.
    pub(super) fn start(given: &Given, plane: &Plane, serves: &Serves) -> anyhow::Result<Self> {
        let log = given.directory.join(format!("{}.log", serves.user));
        let [webhook, metrics, health] = free_ports()?;
        let mut command = Command::new(&given.sluice);
        for (name, _) in std::env::vars_os() {
            // A developer's own settings are not what is tested.
            if name.to_string_lossy().starts_with("SLUICE_") {
                command.env_remove(name);
            }
        }
        command
            .arg("operator")
            .arg("--kubeconfig")
            .arg(plane.directory.join(format!("users/{}.kubeconfig", serves.user)))
            .args(["--operator-namespace", &serves.home])
            .args(["--metrics-bind-address", &metrics.to_string()])
            .args(["--health-probe-bind-address", &health.to_string()]);
        match &serves.only {
            Some(only) => command.args(["--namespace", only]),
            None => command
                .args(["--webhook-bind-address", &webhook.to_string()])
                .args(["--webhook-url", &format!("https://{webhook}")]),
        };
        let process = command
            .stdin(Stdio::null())
            .stdout(File::create(&log)?)
            .stderr(File::options().append(true).open(&log)?)
            .spawn()
            .with_context(|| given.sluice.display().to_string())?;
        let mut operator = Self { process, log };
        let name =
            format!("the operator of {}", serves.only.as_deref().unwrap_or("all namespaces"));
        wait(&name, &mut operator.process, &operator.log, || is_ready(health))?;
        Ok(operator)
    }

    /// An error if it has ended by itself.
    pub(super) fn still_runs(&mut self) -> anyhow::Result<()> {
        match self.process.try_wait().context("the operator")? {
            None => Ok(()),
            Some(status) => bail!("the operator ended by itself: {status}"),
        }
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Ports of loopback that nobody listens on; held together, so that they differ.
fn free_ports() -> anyhow::Result<[SocketAddr; 3]> {
    let bind = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("a free port");
    let held = [bind()?, bind()?, bind()?];
    let [first, second, third] = held.each_ref().map(TcpListener::local_addr);
    Ok([first?, second?, third?])
}

/// Whether `/readyz` answers 200.
fn is_ready(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        let request =
            format!("GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
}

/// Looks until `is_up`; an error, with what it logged, when the process ends or takes too long.
fn wait(
    what: &str,
    process: &mut Child,
    log: &Path,
    is_up: impl Fn() -> bool,
) -> anyhow::Result<()> {
    let begun = stage::watch();
    while !is_up() {
        let ended = process.try_wait().with_context(|| what.to_owned())?;
        if let Some(status) = ended {
            bail!("{what} ended with {status} before it was ready:\n{}", tail(log));
        }
        if begun.elapsed() > START {
            bail!("{what} is not ready after {}:\n{}", stage::elapsed(begun), tail(log));
        }
        stage::rest(LOOK);
    }
    stage::say(begun, &format!("{what} is ready"));
    Ok(())
}

/// As a list of manifests that kubectl reads.
fn lines(manifests: &[Value]) -> String {
    manifests.iter().map(|manifest| format!("{manifest}\n")).collect()
}

/// The last lines of a log.
pub(super) fn tail(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}

/// Standard output of a command that is given `input`; its standard error when it fails.
fn output(command: &mut Command, input: &str) -> anyhow::Result<String> {
    let words = format!("{command:?}");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| words.clone())?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes()).with_context(|| words.clone())?;
    }
    let output = child.wait_with_output().with_context(|| words.clone())?;
    if !output.status.success() {
        bail!("{words}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8(output.stdout).context(words)
}
