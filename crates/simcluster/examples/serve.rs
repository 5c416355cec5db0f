//! Serves a cluster over plain HTTP on loopback, to point `kubectl` at while working on this crate.
//!
//! `cargo run -p simcluster --example serve -- 8001`, then `kubectl -s http://127.0.0.1:8001 get nodes`.

use std::sync::Arc;

use simcluster::cluster::{Options, SimCluster, serve};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port: u16 = std::env::args().nth(1).map_or(Ok(8001), |port| port.parse())?;
    let start = tokio::time::Instant::now();
    // The only place where this crate's code meets the wall clock; a library takes it as an argument.
    #[allow(clippy::disallowed_methods)]
    let zero = jiff::Timestamp::now();
    let clock = Arc::new(move || zero.saturating_add(start.elapsed()).unwrap_or(zero));
    let cluster = SimCluster::new(Options::new(1, clock));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}", listener.local_addr()?);
    tokio::select! {
        biased;
        () = cluster.drive() => {}
        out = serve(cluster.router(), listener, std::future::pending()) => out?,
    }
    Ok(())
}
