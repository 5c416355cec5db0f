//! The real control plane of `tests/controlplane`: built incrementally, and kept up for a developer.

use crate::{stage, workspace};
use anyhow::{Context, bail};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where `tests/controlplane/build.sh` puts its binaries, and `cluster up` its state.
const FOLDER: &str = "target/controlplane";

/// Without it nothing of ours that runs a control plane can be built.
pub(crate) const WITHOUT_GO: &str = "no Go toolchain: add `go` to PATH (https://go.dev/dl; the version is in \
     tests/controlplane/go.mod), or a ready-made `controlplane` to $KUBEBUILDER_ASSETS";

/// The program, made current; `None` without a Go toolchain and without a ready-made one.
///
/// Ready-made components in `KUBEBUILDER_ASSETS` are taken by the program itself.
pub(crate) fn program() -> anyhow::Result<Option<PathBuf>> {
    if !on_path("go")? {
        let assets = std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from);
        let ready = assets.map(|folder| folder.join("controlplane"));
        return Ok(ready.filter(|program| program.is_file()));
    }
    let script = workspace::root().join("tests/controlplane/build.sh");
    let begun = stage::watch();
    let built = Command::new(&script).stdin(Stdio::null()).output();
    let built = built.with_context(|| script.display().to_string())?;
    if !built.status.success() {
        bail!("{}: {}", script.display(), String::from_utf8_lossy(&built.stderr).trim());
    }
    println!("       {:>7}  the control plane's program is built", stage::elapsed(begun));
    Ok(Some(workspace::root().join(FOLDER).join("controlplane")))
}

fn on_path(program: &str) -> anyhow::Result<bool> {
    let asked = Command::new(program).arg("version").stdout(Stdio::null()).status();
    match asked {
        Ok(status) => Ok(status.success()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).context(program.to_owned()),
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

/// `cargo xtask cluster up`: starts one that outlives this task; further flags are the program's.
pub(crate) fn up(flags: &[&str]) -> anyhow::Result<()> {
    let program = program()?.context(WITHOUT_GO)?;
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
    let program = program()?.context(WITHOUT_GO)?;
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
