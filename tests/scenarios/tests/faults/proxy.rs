//! A proxy between operator and API server that moves bytes, and drops connections when told to.

use std::sync::{Arc, Mutex, PoisonError};

use fastrand::Rng;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinHandle};

/// One that listens until it is dropped.
pub(crate) struct Proxy {
    /// Where it listens: host and port.
    pub(crate) address: String,
    open: Arc<Mutex<Vec<AbortHandle>>>,
    accepts: JoinHandle<()>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepts.abort();
    }
}

impl Proxy {
    /// Listens on loopback, and connects to `server`.
    pub(crate) async fn before(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound").to_string();
        let open: Arc<Mutex<Vec<AbortHandle>>> = Arc::default();
        let (all, server) = (Arc::clone(&open), server.to_owned());
        let accepts = tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let server = server.clone();
                let one = tokio::spawn(async move {
                    if let Ok(mut far) = TcpStream::connect(&server).await {
                        // Either end may go at any time; then the other one goes too.
                        let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
                    }
                });
                lock(&all).push(one.abort_handle());
            }
        });
        Self { address, open, accepts }
    }

    /// Drops each open connection by an even chance; says how many were dropped.
    pub(crate) fn cut(&self, rng: &mut Rng) -> usize {
        let mut open = lock(&self.open);
        open.retain(|connection| !connection.is_finished());
        let (cut, left): (Vec<_>, Vec<_>) = open.drain(..).partition(|_| rng.bool());
        cut.iter().for_each(AbortHandle::abort);
        *open = left;
        cut.len()
    }
}

fn lock(open: &Mutex<Vec<AbortHandle>>) -> std::sync::MutexGuard<'_, Vec<AbortHandle>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}
