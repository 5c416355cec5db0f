//! A guard keeps a command and all that comes of it: when the task that asked for it is gone, however
//! it went, signal 9 included, the whole family goes.
//!
//! It is this program once more, in between: it holds one end of a pipe (its standard input) whose
//! other end nobody but the task has. On Linux it also adopts what the family leaves behind, so that a
//! grandchild in a session of its own doesn't outlive it either.

use crate::{interrupt, stage};
use anyhow::Context;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitCode, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a family has to end by itself: a control plane ends its parts one after another.
const GRACE: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(50);

/// The task's ends of the pipes, by the guard's process. Without its end a guard ends its family.
static LIFELINES: Mutex<BTreeMap<u32, ChildStdin>> = Mutex::new(BTreeMap::new());

fn lifelines() -> MutexGuard<'static, BTreeMap<u32, ChildStdin>> {
    LIFELINES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A command that runs under a guard. Dropping it ends the command and all that came of it.
pub(crate) struct Guarded {
    guard: Child,
    ended: bool,
}

impl Guarded {
    /// Starts a command; where its output goes is said by `out` and `errors`, its input is empty.
    pub(crate) fn start(
        command: &Command,
        out: impl Into<Stdio>,
        errors: impl Into<Stdio>,
    ) -> anyhow::Result<Self> {
        let named = || format!("{command:?}");
        let mut guard = Command::new(this_program()?);
        guard.arg(TASK).arg(command.get_program()).args(command.get_args());
        if let Some(directory) = command.get_current_dir() {
            guard.current_dir(directory);
        }
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => guard.env(name, value),
                None => guard.env_remove(name),
            };
        }
        guard.stdin(Stdio::piped()).stdout(out).stderr(errors);
        apart(&mut guard);
        // One that was interrupted starts nothing more; asked under the lock that ends them all.
        let mut lifelines = lifelines();
        interrupt::refuse()?;
        let mut guard = guard.spawn().with_context(named)?;
        let lifeline = guard.stdin.take().expect("it was piped a moment ago");
        lifelines.insert(guard.id(), lifeline);
        Ok(Self { guard, ended: false })
    }

    /// Waits until the command and its family have ended; the status is the command's.
    pub(crate) fn wait(mut self) -> anyhow::Result<ExitStatus> {
        let status = self.guard.wait().context("waiting for a command")?;
        self.ended = true;
        lifelines().remove(&self.guard.id());
        Ok(status)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        lifelines().remove(&self.guard.id());
        if !self.ended {
            let _ = self.guard.wait();
        }
    }
}

/// Has every guard end its family; whoever waits for one sees it end.
pub(crate) fn end_all() {
    lifelines().clear();
}

/// The task of this program that is a guard.
pub(crate) const TASK: &str = "guard";

/// This very program, also when cargo has built another one in its place by now.
pub(crate) fn this_program() -> anyhow::Result<PathBuf> {
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() {
        return Ok(running);
    }
    std::env::current_exe().context("the program that runs")
}

/// A process group of its own: Ctrl-C at the terminal reaches the task alone, which sees to the rest.
fn apart(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// Runs a command as its guard, and ends as it ended.
pub(crate) fn keep(words: &[OsString]) -> anyhow::Result<ExitCode> {
    let [program, arguments @ ..] = words else { anyhow::bail!("{TASK} takes a command") };
    family::adopt();
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    apart(&mut command);
    let mut child = command.spawn().with_context(|| program.display().to_string())?;
    let alone = Arc::new(AtomicBool::new(false));
    let closed = Arc::clone(&alone);
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        closed.store(true, Ordering::Relaxed);
    });
    let mut asked = None;
    let code = loop {
        if let Some(code) = family::ended(&mut child)? {
            break code;
        }
        match asked {
            None if alone.load(Ordering::Relaxed) => {
                family::ask(child.id());
                asked = Some(stage::watch());
            }
            Some(since) if since.elapsed() > GRACE => family::kill(child.id()),
            _ => {}
        }
        stage::rest(LOOK);
    };
    family::sweep(child.id());
    Ok(ExitCode::from(code))
}

/// What the system knows of processes that came of one.
#[cfg(target_os = "linux")]
mod family {
    use super::{GRACE, LOOK};
    use crate::stage;
    use anyhow::Context;
    use rustix::process::{
        Pid, Signal, WaitOptions, kill_process, kill_process_group, set_child_subreaper, wait,
    };
    use std::process::Child;

    /// From now on, who loses its parent and came of this process is this process's child.
    pub(super) fn adopt() {
        // Without it, grandchildren in groups of their own are on their own, as elsewhere.
        let _ = set_child_subreaper(Some(rustix::process::getpid()));
    }

    /// The command's exit code, or 128 and its signal, as a shell has it, once it has ended. Those
    /// that were adopted are let go as they end, as `init` would: somebody may wait for that.
    pub(super) fn ended(child: &mut Child) -> anyhow::Result<Option<u8>> {
        while let Some((process, status)) = wait(WaitOptions::NOHANG).context("a family's end")? {
            if u32::try_from(process.as_raw_nonzero().get()) == Ok(child.id()) {
                let signal = status.terminating_signal().map(|signal| 128 + signal);
                let code = status.exit_status().or(signal).unwrap_or(1);
                return Ok(Some(u8::try_from(code).unwrap_or(1)));
            }
        }
        Ok(None)
    }

    pub(super) fn ask(group: u32) {
        to_group(group, Signal::TERM);
        // One that is stopped takes it when it goes on.
        to_group(group, Signal::CONT);
    }

    pub(super) fn kill(group: u32) {
        to_group(group, Signal::KILL);
    }

    fn to_group(group: u32, signal: Signal) {
        if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, signal);
        }
    }

    /// Ends whoever is left: gently, since it may be about to take others down itself.
    pub(super) fn sweep(_group: u32) {
        let begun = stage::watch();
        let mut asked = Vec::new();
        loop {
            while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
            let left = children();
            if left.is_empty() {
                return;
            }
            let late = begun.elapsed() > GRACE;
            for process in left {
                if late {
                    let _ = kill_process(process, Signal::KILL);
                } else if !asked.contains(&process) {
                    let _ = kill_process(process, Signal::TERM);
                    let _ = kill_process(process, Signal::CONT);
                    asked.push(process);
                }
            }
            stage::rest(LOOK);
        }
    }

    /// The children of this process, adopted ones and ended ones among them.
    fn children() -> Vec<Pid> {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        numbers.filter(|id| parent(*id) == Some(own)).filter_map(Pid::from_raw).collect()
    }

    fn parent(id: i32) -> Option<i32> {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // `ID (NAME) STATE PARENT`; a name may hold anything.
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    }
}

/// Elsewhere the group of the command is all that is known.
#[cfg(not(target_os = "linux"))]
mod family {
    use std::process::Child;

    pub(super) fn adopt() {}

    pub(super) fn ended(child: &mut Child) -> anyhow::Result<Option<u8>> {
        let Some(status) = child.try_wait()? else { return Ok(None) };
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Ok(Some(code.unwrap_or(1)))
    }

    pub(super) fn ask(group: u32) {
        signal("-TERM", group);
    }

    pub(super) fn kill(group: u32) {
        signal("-KILL", group);
    }

    pub(super) fn sweep(group: u32) {
        signal("-TERM", group);
    }

    fn signal(name: &str, group: u32) {
        let group = format!("-{group}");
        let _ = std::process::Command::new("kill").args([name, "--", &group]).output();
    }
}
