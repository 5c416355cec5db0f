//! Signals that ask this program to end: what runs is taken down first, logs are named, then it ends.

use crate::guard;
use anyhow::{Context, bail};
use std::future::poll_fn;
use std::process::ExitCode;
use std::sync::atomic::{AtomicI32, Ordering};
use std::task::Poll;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The first signal that came; 0 for none.
static CAME: AtomicI32 = AtomicI32::new(0);

/// Listens from now on. At the first signal everything under a guard ends; at the second one this
/// program ends at once, and the guards see to the rest.
pub(crate) fn listen() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("a runtime for signals")?;
    let mut signals = {
        let _inside = runtime.enter();
        let on = |kind| signal(kind).map(|signal| (kind, signal)).context("listening for signals");
        [on(SignalKind::interrupt())?, on(SignalKind::terminate())?, on(SignalKind::hangup())?]
    };
    std::thread::spawn(move || {
        runtime.block_on(async {
            let first = any(&mut signals).await;
            CAME.store(first, Ordering::SeqCst);
            eprintln!("interrupted: ending what runs");
            guard::end_all();
            let second = any(&mut signals).await;
            std::process::exit(128 + second);
        });
    });
    Ok(())
}

/// The number of the first that comes.
async fn any(signals: &mut [(SignalKind, Signal)]) -> i32 {
    poll_fn(|context| {
        let mut came = signals.iter_mut().filter_map(|(kind, signal)| {
            signal.poll_recv(context).is_ready().then_some(kind.as_raw_value())
        });
        came.next().map_or(Poll::Pending, Poll::Ready)
    })
    .await
}

/// An error once a signal has come.
pub(crate) fn refuse() -> anyhow::Result<()> {
    if CAME.load(Ordering::SeqCst) != 0 {
        bail!("interrupted");
    }
    Ok(())
}

/// The exit code for a run that a signal ended, as a shell has it; `None` if none came.
pub(crate) fn code() -> Option<ExitCode> {
    let signal = CAME.load(Ordering::SeqCst);
    (signal != 0).then(|| ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX)))
}
