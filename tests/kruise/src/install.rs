//! CustomResourceDefinitions on a server, until their resources can be asked for.

use std::time::Duration;

use kube::Client;
use simcluster::json::Value;
use simcluster::object::{self, CRDS};
use tokio::time::{Instant, sleep};

use crate::resource::{Kinds, path};

/// How long a server may take to serve what it was given.
const LIMIT: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(100);

/// A definition that is not served.
#[derive(Debug, thiserror::Error)]
#[error("{definition}: {why}")]
pub struct NotServed {
    /// Its name.
    pub definition: String,
    /// What the server said last.
    pub why: String,
}

/// Applies definitions and waits until each version of each is served.
pub async fn install(client: &Client, definitions: &[Value]) -> Result<(), NotServed> {
    let kinds = Kinds::with(&[]);
    let place = path(&kinds.of(&CRDS), "");
    let end = Instant::now() + LIMIT;
    for definition in definitions {
        let mut definition = definition.clone();
        crate::resource::name_kind(&kinds.of(&CRDS), &mut definition);
        let name = object::name(&definition);
        let applied = format!("{place}/{name}?fieldManager=kruise&force=true");
        until(end, name, || apply(client, &applied, &definition)).await?;
        let established = format!("{place}/{name}");
        until(end, name, || is_established(client, &established)).await?;
        // Established a moment before it is served.
        for kind in simcluster::server::definitions::kinds(&definition) {
            let list = format!("{}?limit=1", path(&kind, ""));
            until(end, name, || async { get(client, &list).await.map(drop) }).await?;
        }
    }
    Ok(())
}

/// Asks until the answer is good.
async fn until<F>(
    end: Instant,
    definition: &str,
    mut ask: impl FnMut() -> F,
) -> Result<(), NotServed>
where
    F: Future<Output = Result<(), String>>,
{
    loop {
        let Err(why) = ask().await else { return Ok(()) };
        if Instant::now() >= end {
            return Err(NotServed { definition: definition.to_owned(), why });
        }
        sleep(LOOK).await;
    }
}

async fn apply(client: &Client, path: &str, definition: &Value) -> Result<(), String> {
    let request = http::Request::patch(path)
        .header(http::header::CONTENT_TYPE, "application/apply-patch+yaml")
        .body(definition.to_string().into_bytes())
        .expect("a path of our own");
    let answer = client.request::<Value>(request).await;
    answer.map(drop).map_err(|error| error.to_string())
}

async fn get(client: &Client, path: &str) -> Result<Value, String> {
    let request = http::Request::get(path).body(Vec::new()).expect("a path of our own");
    client.request(request).await.map_err(|error| error.to_string())
}

async fn is_established(client: &Client, path: &str) -> Result<(), String> {
    let definition = get(client, path).await?;
    let conditions = definition["status"]["conditions"].as_array();
    let established = conditions.is_some_and(|all| {
        all.iter().any(|one| one["type"] == "Established" && one["status"] == "True")
    });
    if established { Ok(()) } else { Err(format!("not established: {}", definition["status"])) }
}
