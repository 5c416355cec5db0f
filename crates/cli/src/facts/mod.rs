//! What there is around a rollout, read once: the rollout, its workload, Pods, revisions, budgets.
//!
//! [`Facts`] are of a StatefulsetRollout, [`release::Facts`] of a Rollout; both stand on a
//! [`workload::Workload`].

pub(crate) mod kind;
pub(crate) mod release;
pub(crate) mod revision;
pub(crate) mod stored;
pub(crate) mod workload;

use api::bedrock::StatefulsetRollout;
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::workload::Workload;
use crate::exit::Failure;
use crate::session::Session;

/// Path of the rollouts of a namespace, or of all.
pub(crate) fn rollouts_path(namespace: Option<&str>) -> String {
    const GROUP: &str = "/apis/bedrock.operator.slack.com/v1";
    match namespace {
        Some(namespace) => format!("{GROUP}/namespaces/{namespace}/statefulsetrollouts"),
        None => format!("{GROUP}/statefulsetrollouts"),
    }
}

/// All of it.
pub(crate) struct Facts {
    /// The rollout.
    pub(crate) rollout: StatefulsetRollout,
    /// The rollout as it came.
    pub(crate) raw: Value,
    /// Its StatefulSet with Pods, revisions and budgets; `None` while there is none.
    pub(crate) workload: Option<Workload>,
}

impl Facts {
    /// Reads everything about one rollout.
    pub(crate) async fn read(session: &Session, name: &str) -> Result<Self, Failure> {
        let raw = rollout(session, name).await?;
        Self::around(session, raw).await
    }

    /// Reads everything around a rollout that may not be stored (yet).
    pub(crate) async fn around(session: &Session, raw: Value) -> Result<Self, Failure> {
        let rollout: StatefulsetRollout = decoded(&raw, "statefulsetrollout")?;
        let namespace = rollout.metadata.namespace.as_deref().unwrap_or(&session.namespace);
        let own = rollout.metadata.name.as_deref().unwrap_or_default();
        let name = rollout.spec.statefulset.name().unwrap_or(own);
        let kind = cluster::Kind::StatefulSet;
        let workload = Workload::read(session, kind, namespace, name).await?;
        Ok(Self { rollout, raw, workload })
    }

    /// The revision that the Pods ran before this rollout; may be empty.
    pub(crate) fn stable(&self) -> &str {
        self.rollout.status.as_ref().map_or("", |status| &status.stable_revision)
    }
}

/// The rollout as it is stored. Where it is missing, tells a missing namespace apart.
pub(crate) async fn rollout(session: &Session, name: &str) -> Result<Value, Failure> {
    let namespace = session.namespace.as_str();
    let path = format!("{}/{name}", rollouts_path(Some(namespace)));
    match session.get(&path, &format!("statefulsetrollout {namespace}/{name}")).await {
        Err(Failure::NotFound(words)) => {
            require_namespace(session).await?;
            Err(Failure::NotFound(format!(
                "{words}; `sluice list -n {namespace}` shows what is there"
            )))
        }
        other => other,
    }
}

/// An error that says so when the namespace does not exist.
pub(crate) async fn require_namespace(session: &Session) -> Result<(), Failure> {
    let namespace = session.namespace.as_str();
    let path = format!("/api/v1/namespaces/{namespace}");
    match session.get(&path, &format!("namespace {namespace}")).await {
        Err(Failure::NotFound(_)) => Err(Failure::NotFound(format!(
            "namespace {namespace} does not exist; give another with -n, or see `kubectl get namespaces`"
        ))),
        // Who may not look at namespaces may well look into this one.
        _ => Ok(()),
    }
}

/// A label selector in the form of a query.
fn selector(selector: &Value) -> String {
    let mut terms = Vec::new();
    for (key, value) in selector["matchLabels"].as_object().into_iter().flatten() {
        terms.push(format!("{key}={}", value.as_str().unwrap_or_default()));
    }
    for term in selector["matchExpressions"].as_array().into_iter().flatten() {
        let key = term["key"].as_str().unwrap_or_default();
        let values: Vec<&str> =
            term["values"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let values = values.join(",");
        terms.push(match term["operator"].as_str() {
            Some("In") => format!("{key} in ({values})"),
            Some("NotIn") => format!("{key} notin ({values})"),
            Some("DoesNotExist") => format!("!{key}"),
            _ => key.to_owned(),
        });
    }
    terms.join(",")
}

/// An object as the type that is meant, or which object cannot be read and why.
pub(crate) fn decoded<T: DeserializeOwned>(object: &Value, kind: &str) -> Result<T, Failure> {
    T::deserialize(object).map_err(|error| {
        let name = object["metadata"]["name"].as_str().unwrap_or("without a name");
        Failure::Failed(format!("cannot read {kind} {name}: {error}"))
    })
}
