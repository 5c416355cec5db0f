//! Signals, in the one place that reads them.

use std::future::Future;
use tokio::signal::unix::{SignalKind, signal};
use tracing::warn;

/// Exit code of a process that was told twice to stop: 128 + SIGINT, as shells count.
const IMPATIENT: i32 = 130;

/// Resolves at the first SIGTERM or SIGINT; the second one ends the process at once.
///
/// # Errors
/// When the operating system refuses the handlers.
pub fn shutdown() -> std::io::Result<impl Future<Output = ()> + Send> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut next = async move || {
        tokio::select! { biased;
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    Ok(async move {
        next().await;
        tokio::spawn(async move {
            next().await;
            warn!("told to stop a second time; stopping at once");
            std::process::exit(IMPATIENT);
        });
    })
}
