//! The real control plane of `tests/controlplane`: built incrementally, and kept up for a developer.

use crate::stage::{self, Outcome, Output};
use crate::{go, workspace};
use anyhow::{Context, anyhow, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::JoinHandle;

/// Where `tests/controlplane/build.sh` puts its binaries, and `cluster up` its state.
const FOLDER: &str = "target/controlplane";

/// Without it nothing of ours that runs a control plane can be built.
pub(crate) const WITHOUT_GO: &str = "no Go toolchain: add `go` to PATH (https://go.dev/dl; the version is in \
     tests/controlplane/go.mod), or a ready-made `controlplane` to $KUBEBUILDER_ASSETS";

/// The program, made current. The inner error says why it can't be had here, the outer one what
/// doesn't build.
///
/// Ready-made components in `KUBEBUILDER_ASSETS` are taken by the program itself.
fn program() -> Result<Result<PathBuf, String>, String> {
    if !go::is_there()? {
        let assets = std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from);
        let ready = assets.map(|folder| folder.join("controlplane"));
        let ready = ready.filter(|program| program.is_file());
        return Ok(ready.ok_or_else(|| WITHOUT_GO.to_owned()));
    }
    let begun = stage::watch();
    if let Some(why) = go::fetch()? {
        return Ok(Err(why));
    }
    let script = Command::new(workspace::root().join("tests/controlplane/build.sh"));
    let built = stage::run(&script, Output::Beside("control plane"));
    let Outcome { success, output, .. } = built.map_err(|error| format!("{error:#}"))?;
    if !success {
        return Err(format!("tests/controlplane/build.sh:\n{output}"));
    }
    stage::say(begun, "the control plane's program is built");
    Ok(Ok(workspace::root().join(FOLDER).join("controlplane")))
}

/// The program on its way.
pub(crate) struct Building(JoinHandle<Result<Result<PathBuf, String>, String>>);

/// Begins to build it beside whatever else is done.
pub(crate) fn build() -> Building {
    Building(std::thread::spawn(program))
}

impl Building {
    /// Waits for it; errors as [`build`]'s program has them.
    pub(crate) fn wait(self) -> Result<Result<PathBuf, String>, String> {
        self.0.join().unwrap_or_else(|_| Err("building the control plane panicked".to_owned()))
    }

    /// Waits until nothing of it runs; what became of it is of no interest any more.
    pub(crate) fn abandon(self) {
        drop(self.0.join());
    }
}

/// A command of the program on the control plane that lives in a directory.
pub(crate) fn command(program: &Path, verb: &str, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg(verb).arg("--dir").arg(directory);
    command
}

/// kubectl of the same release, as the administrator of the control plane in a directory.
pub(crate) fn kubectl(program: &Path, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("kubectl").arg("--kubeconfig").arg(directory.join("kubeconfig"));
    command
}

/// For a developer, who has asked for it: there has to be one.
fn wanted() -> anyhow::Result<PathBuf> {
    program().and_then(|program| program).map_err(|why| anyhow!(why))
}

/// `cargo xtask cluster up`: starts one that outlives this task; further flags are the program's.
pub(crate) fn up(flags: &[&str]) -> anyhow::Result<()> {
    let program = wanted()?;
    let directory = workspace::root().join(FOLDER).join("dev");
    succeed(command(&program, "up", &directory).arg("--detach").args(flags))?;
    println!("
export KUBECONFIG={directory}/kubeconfig      # the administrator; others in {directory}/users
alias kubectl={folder}/kubectl
kubectl get nodes
cargo run --bin sluice -- install | kubectl apply -f -     # the rights and the CRDs; no image is pulled here:
cargo run --bin sluice -- operator --kubeconfig {directory}/users/operator.kubeconfig --operator-namespace sluice-system
cargo xtask cluster down",
        directory = directory.display(),
        folder = workspace::root().join(FOLDER).display(),
    );
    Ok(())
}

/// `cargo xtask cluster down`.
pub(crate) fn down() -> anyhow::Result<()> {
    // Whatever has brought it up can take it down.
    let there = workspace::root().join(FOLDER).join("controlplane");
    let program = if there.is_file() { there } else { wanted()? };
    succeed(&mut command(&program, "down", &workspace::root().join(FOLDER).join("dev")))
}

/// Its output goes to the terminal.
fn succeed(command: &mut Command) -> anyhow::Result<()> {
    let program = command.get_program().display().to_string();
    let status = command.status().with_context(|| program.clone())?;
    if !status.success() {
        bail!("{program} ended with {status}");
    }
    Ok(())
}
