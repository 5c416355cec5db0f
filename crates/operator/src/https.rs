//! An HTTPS server, with a certificate that may change under way.

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::debug;

/// A handshake or a request's head that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(10);
/// After a failed accept (no file descriptors left, for instance) the next one waits this long.
const AFTER_ERROR: Duration = Duration::from_millis(100);

/// Serves until `stop`; then takes no new connection and lets the requests under way end.
pub(crate) async fn serve(
    listener: TcpListener,
    tls: rustls::ServerConfig,
    router: Router,
    stop: CancellationToken,
) {
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! { biased;
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((socket, _)) => {
                let (acceptor, router, stop) = (acceptor.clone(), router.clone(), stop.clone());
                connections.spawn(connection(socket, acceptor, router, stop));
            }
            Err(error) => {
                debug!("accepting a connection: {error}");
                tokio::time::sleep(AFTER_ERROR).await;
            }
        }
    }
    connections.close();
    connections.wait().await;
}

async fn connection(
    socket: TcpStream,
    acceptor: TlsAcceptor,
    router: Router,
    stop: CancellationToken,
) {
    let socket = match tokio::time::timeout(PATIENCE, acceptor.accept(socket)).await {
        Ok(Ok(socket)) => socket,
        // Port scans and probes end here; no reason to wake anybody.
        Ok(Err(error)) => return debug!("TLS handshake: {error}"),
        Err(_) => return debug!("TLS handshake: not done within {PATIENCE:?}"),
    };
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    let io = TokioIo::new(socket);
    let serving = builder.serve_connection(io, TowerToHyperService::new(router));
    let mut serving = std::pin::pin!(serving);
    let ended = tokio::select! { biased;
        ended = serving.as_mut() => ended,
        () = stop.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        debug!("connection: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificates::{Authority, Shown};
    use axum::routing::get;
    use jiff::{SignedDuration, Timestamp};
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, ServerName};
    use rustls::{ClientConfig, RootCertStore};
    use std::net::SocketAddr;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio_rustls::TlsConnector;

    /// rustls checks certificates by the wall clock, so these can't be of a fixed day.
    #[expect(clippy::disallowed_methods, reason = "a TLS client looks at the wall clock")]
    fn now() -> Timestamp {
        Timestamp::now()
    }

    /// The answer's status line, as a client sees it that trusts `bundle` alone; and the certificate.
    async fn asked(
        address: SocketAddr,
        bundle: &str,
        name: &str,
    ) -> std::io::Result<(String, CertificateDer<'static>)> {
        let mut roots = RootCertStore::empty();
        for root in CertificateDer::pem_slice_iter(bundle.as_bytes()) {
            roots.add(root.unwrap()).unwrap();
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let socket = TcpStream::connect(address).await?;
        let name = ServerName::try_from(name.to_owned()).unwrap();
        let mut socket = TlsConnector::from(Arc::new(config)).connect(name, socket).await?;
        socket.write_all(b"GET / HTTP/1.1\r\nhost: sluice\r\nconnection: close\r\n\r\n").await?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await?;
        let shown = socket.get_ref().1.peer_certificates().unwrap()[0].clone().into_owned();
        Ok((answer.lines().next().unwrap_or_default().to_owned(), shown))
    }

    #[tokio::test]
    async fn a_renewed_certificate_is_served_without_a_restart() {
        let authority = Authority::create(now()).unwrap();
        let names = ["127.0.0.1".to_owned(), "sluice-webhook.sluice.svc".to_owned()];
        let shown = Shown::default();
        shown.show(&authority.issue(&names, now()).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let app = Router::new().route("/", get(async || "hello"));
        let config = shown.server_config().unwrap();
        let server = tokio::spawn(serve(listener, config, app, stop.clone()));

        let bundle = &authority.bundle_pem;
        let (status, first) = asked(address, bundle, "127.0.0.1").await.unwrap();
        assert_eq!(status, "HTTP/1.1 200 OK");

        // The authority itself is succeeded; its successor's bundle is trusted for both.
        let next = authority.succeed(now() + SignedDuration::from_secs(1)).unwrap();
        asked(address, &next.bundle_pem, "127.0.0.1").await.unwrap();
        shown.show(&next.issue(&names, now()).unwrap());
        let (status, second) =
            asked(address, &next.bundle_pem, "sluice-webhook.sluice.svc").await.unwrap();
        assert_eq!(status, "HTTP/1.1 200 OK");
        assert_ne!(first, second);

        assert!(asked(address, bundle, "127.0.0.1").await.is_err(), "the former bundle alone");
        assert!(asked(address, &next.bundle_pem, "192.0.2.1").await.is_err(), "another name");

        stop.cancel();
        server.await.unwrap();
        assert!(TcpStream::connect(address).await.is_err(), "still listening after the stop");
    }

    #[tokio::test]
    async fn a_request_under_way_is_answered_before_the_stop() {
        let authority = Authority::create(now()).unwrap();
        let shown = Shown::default();
        shown.show(&authority.issue(&["127.0.0.1".to_owned()], now()).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let stopper = stop.clone();
        let app = Router::new().route(
            "/",
            get(async move || {
                stopper.cancel();
                tokio::task::yield_now().await;
                "late"
            }),
        );
        let server =
            tokio::spawn(serve(listener, shown.server_config().unwrap(), app, stop.clone()));
        let (status, _) = asked(address, &authority.bundle_pem, "127.0.0.1").await.unwrap();
        assert_eq!(status, "HTTP/1.1 200 OK");
        server.await.unwrap();
    }
}
