//! The process's own servers: plain HTTP for probes and metrics, HTTPS for admission.

use crate::Error;
use crate::flags::Address;
use axum::Router;
use std::future::Future;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::info;

/// Takes the address of a flag, so that a port that is taken is said before anything else is done.
///
/// # Errors
/// [`Error::Listen`], with the flag.
pub(crate) async fn listen(
    flag: &'static str,
    address: Address,
) -> Result<Option<TcpListener>, Error> {
    let wrong = |source| Error::Listen { flag, address: address.to_string(), source };
    let listener = address.listen().await.map_err(wrong)?;
    if let Some(listener) = &listener {
        let at = listener.local_addr().map_err(wrong)?;
        info!("{flag}: listening on {at}");
    }
    Ok(listener)
}

/// The servers that run beside the controller and end after it.
#[derive(Default)]
pub(crate) struct Servers {
    tasks: JoinSet<Result<(), Error>>,
    stop: CancellationToken,
}

impl Servers {
    /// Serves plain HTTP; nothing when the server is off.
    pub(crate) fn plain(
        &mut self,
        flag: &'static str,
        listener: Option<TcpListener>,
        router: Router,
    ) {
        let Some(listener) = listener else { return };
        let stop = self.stop.clone().cancelled_owned();
        self.tasks.spawn(async move {
            let served = axum::serve(listener, router).with_graceful_shutdown(stop).await;
            served.map_err(|source| Error::Serve { flag, source })
        });
    }

    /// Runs whatever serves until the token that it is given.
    pub(crate) fn other<F>(&mut self, serve: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = Result<(), Error>> + Send + 'static,
    {
        self.tasks.spawn(serve(self.stop.clone()));
    }

    /// Resolves when a server ends by itself, with the reason; never without one.
    pub(crate) async fn failed(&mut self) -> Error {
        while let Some(ended) = self.tasks.join_next().await {
            match ended {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return error,
                Err(error) => return Error::Task(error),
            }
        }
        std::future::pending().await
    }

    /// Takes no new connection and lets what is under way end.
    pub(crate) async fn stop(mut self) {
        self.stop.cancel();
        while self.tasks.join_next().await.is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn a_port_that_is_taken_is_said_with_its_flag() {
        let first = listen("--metrics-bind-address", "127.0.0.1:0".parse().unwrap()).await;
        let taken = first.unwrap().unwrap();
        let address = Address::At(taken.local_addr().unwrap());
        let error = listen("--health-probe-bind-address", address).await.unwrap_err().to_string();
        let begins = format!("--health-probe-bind-address={address}: cannot listen: ");
        assert!(error.starts_with(&begins), "{error}");
    }

    #[tokio::test]
    async fn servers_end_when_they_are_stopped() {
        let flag = "--metrics-bind-address";
        let listener = listen(flag, "127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = listener.as_ref().unwrap().local_addr().unwrap();
        let mut servers = Servers::default();
        servers.plain(flag, listener, Router::new());
        tokio::net::TcpStream::connect(address).await.unwrap();
        servers.stop().await;
        assert!(tokio::net::TcpStream::connect(address).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_server_that_failed_ends_the_process() {
        let mut servers = Servers::default();
        servers.other(|_| async { Ok(()) });
        let waited = tokio::time::timeout(Duration::from_secs(1), servers.failed()).await;
        assert!(waited.is_err());
        servers.other(|_| async { Err(Error::Certificate("no key".to_owned())) });
        assert_eq!(servers.failed().await.to_string(), "certificate of the webhook: no key");
    }
}
