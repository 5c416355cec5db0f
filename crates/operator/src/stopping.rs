//! A graceful stop with a limit.

use crate::Error;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tracing::info;

/// Runs `process` until it ends by itself or `shutdown` resolves; then cancels `stop` and gives the
/// process `limit` to end.
///
/// # Errors
/// The process's own, or [`Error::StopTimedOut`].
pub(crate) async fn until_told(
    process: impl Future<Output = Result<(), Error>>,
    shutdown: impl Future<Output = ()>,
    stop: CancellationToken,
    limit: Duration,
) -> Result<(), Error> {
    let mut process = pin!(process);
    tokio::select! { biased;
        ended = process.as_mut() => return ended,
        () = shutdown => {}
    }
    info!("told to stop: finishing what is under way, for at most {limit:?}");
    stop.cancel();
    let ended = tokio::time::timeout(limit, process).await;
    let ended = ended.unwrap_or(Err(Error::StopTimedOut(limit)));
    if ended.is_ok() {
        info!("stopped");
    }
    ended
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};

    const LIMIT: Duration = Duration::from_secs(20);

    #[tokio::test(start_paused = true)]
    async fn what_is_under_way_ends_before_the_stop() {
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let process = async move {
            stopped.cancelled().await;
            tokio::time::sleep(Duration::from_secs(5)).await;
            Ok(())
        };
        let begun = tokio::time::Instant::now();
        until_told(process, ready(()), stop, LIMIT).await.unwrap();
        assert_eq!(begun.elapsed(), Duration::from_secs(5));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_that_takes_too_long_is_cut_off() {
        let begun = tokio::time::Instant::now();
        let error = until_told(pending(), ready(()), CancellationToken::new(), LIMIT).await;
        assert!(matches!(error, Err(Error::StopTimedOut(LIMIT))), "{error:?}");
        assert_eq!(begun.elapsed(), LIMIT);
    }

    #[tokio::test]
    async fn a_process_that_fails_is_not_waited_for() {
        let lost = || Error::LeaseLost { lease: "sluice/sluice".into() };
        let stop = CancellationToken::new();
        let error = until_told(ready(Err(lost())), pending(), stop.clone(), LIMIT).await;
        assert_eq!(error.unwrap_err().to_string(), lost().to_string());
        assert!(!stop.is_cancelled());
    }
}
