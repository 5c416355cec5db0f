//! TLS for the embedded cluster: `kubectl` sends a token to nobody else.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// A handshake that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(10);
/// After a failed accept (no file descriptors left, for instance) the next one waits this long.
const AFTER_ERROR: Duration = Duration::from_millis(100);

type Connection = (TlsStream<TcpStream>, SocketAddr);

/// Takes connections; those whose handshake is under way keep nobody waiting.
pub(super) struct Listener {
    tcp: TcpListener,
    acceptor: TlsAcceptor,
    shaking: FuturesUnordered<BoxFuture<'static, Option<Connection>>>,
}

/// Certificate and key, in PEM.
pub(super) struct Identity {
    pub(super) certificate: String,
    pub(super) key: String,
}

/// Puts a certificate of its own before a listener; with it comes the certificate by which clients know
/// it.
pub(super) fn around(tcp: TcpListener) -> Result<(Listener, Identity), String> {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    let own = rcgen::generate_simple_self_signed(names).map_err(|error| error.to_string())?;
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)
        .map_err(|error| error.to_string())?;
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let identity = Identity { certificate: own.cert.pem(), key: own.signing_key.serialize_pem() };
    Ok((Listener { tcp, acceptor, shaking: FuturesUnordered::new() }, identity))
}

impl axum::serve::Listener for Listener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> Connection {
        loop {
            let accepted = tokio::select! { biased;
                Some(shaken) = self.shaking.next(), if !self.shaking.is_empty() => {
                    match shaken {
                        Some(connection) => return connection,
                        None => continue,
                    }
                }
                accepted = self.tcp.accept() => accepted,
            };
            let Ok((socket, address)) = accepted else {
                tokio::time::sleep(AFTER_ERROR).await;
                continue;
            };
            // A watch is many small writes: none of them should wait for another's acknowledgement.
            let _ = socket.set_nodelay(true);
            let shaking = self.acceptor.accept(socket);
            self.shaking.push(Box::pin(async move {
                let shaken = tokio::time::timeout(PATIENCE, shaking).await;
                Some((shaken.ok()?.ok()?, address))
            }));
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.tcp.local_addr()
    }
}
