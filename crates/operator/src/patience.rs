//! Trying until it works: what can't be had at the start is waited for, never a reason to die.

use crate::ready::Handle;
use cluster::backoff::Backoff;
use std::fmt::Display;
use std::future::Future;
use std::time::Duration;
use tracing::{debug, info, warn};

/// One try; kube has no read time-out of its own.
const PER_TRY: Duration = Duration::from_secs(10);

/// Calls `attempt` until it succeeds. Every failure goes to the log and, with a handle, to /readyz;
/// the same words again go to the log at debug level only.
pub(crate) async fn until_it_works<T, E: Display, F>(
    handle: Option<&Handle>,
    what: &str,
    // No `AsyncFnMut`: its futures can't be known as `Send` here, and the process must be.
    mut attempt: impl FnMut() -> F,
) -> T
where
    F: Future<Output = Result<T, E>>,
{
    let mut last = String::new();
    // Nothing else starts at this moment that these tries would have to be spread from.
    let mut backoff = Backoff::new(0);
    loop {
        let said = match tokio::time::timeout(PER_TRY, attempt()).await {
            Ok(Ok(value)) => {
                if !last.is_empty() {
                    info!("{what}: works now");
                }
                return value;
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {} s", PER_TRY.as_secs()),
        };
        if let Some(handle) = handle {
            handle.says(said.clone());
        }
        let pause = backoff.pause();
        if said == last {
            debug!("{what}: {said}; next try in {pause:.1?}");
        } else {
            warn!("{what}: {said}; trying again until it works");
        }
        last = said;
        tokio::time::sleep(pause).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ready::Readiness;
    use std::future::ready;
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn it_is_tried_until_it_works_and_readiness_says_why_not() {
        let readiness = Readiness::default();
        let handle = readiness.wait_for("API server");
        let begun = Instant::now();
        let mut tries = 0;
        let answer = until_it_works(Some(&handle), "API server", || {
            tries += 1;
            ready(if tries < 4 { Err(format!("refused {tries}")) } else { Ok("up") })
        })
        .await;
        assert_eq!(answer, "up");
        let most = Duration::from_secs(1 + 2 + 4);
        assert!(begun.elapsed() <= most && begun.elapsed() >= most / 2, "{:?}", begun.elapsed());
        assert_eq!(readiness.waiting(), ["API server: refused 3"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_try_that_hangs_is_cut_off() {
        let readiness = Readiness::default();
        let handle = readiness.wait_for("API server");
        let mut tries = 0;
        until_it_works(Some(&handle), "API server", || {
            tries += 1;
            let hangs = tries == 1;
            async move {
                if hangs {
                    std::future::pending::<()>().await;
                }
                Ok::<_, String>(())
            }
        })
        .await;
        assert_eq!(readiness.waiting(), ["API server: no answer within 10 s"]);
    }
}
