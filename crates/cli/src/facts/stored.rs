//! Workloads as the cluster has them, of whichever kind and version.

use cluster::Kind;
use serde_json::Value;

use crate::exit::Failure;
use crate::facts::kind::word;
use crate::session::Session;

/// Reads one, in whichever version the cluster serves.
pub(crate) async fn find(
    session: &Session,
    kind: Kind,
    namespace: &str,
    name: &str,
) -> Result<Option<Value>, Failure> {
    let title = format!("{} {namespace}/{name}", word(kind));
    let source = &kind.facts().source;
    for served in source.served {
        let path = format!("{}/{name}", source.collection(served, Some(namespace)));
        match session.find(&path, &title).await {
            Ok(None) | Err(Failure::NotServed(_)) => {}
            found => return found,
        }
    }
    Ok(None)
}

/// Reads all of a namespace, or of all, in whichever version the cluster serves; none where it serves none.
pub(crate) async fn list(
    session: &Session,
    kind: Kind,
    namespace: Option<&str>,
) -> Result<Vec<Value>, Failure> {
    let words = format!("{}s", word(kind));
    let source = &kind.facts().source;
    for served in source.served {
        match session.list(&source.collection(served, namespace), &words).await {
            Err(Failure::NotServed(_) | Failure::NotFound(_)) if source.definition.is_some() => {}
            listed => return listed,
        }
    }
    Ok(Vec::new())
}
