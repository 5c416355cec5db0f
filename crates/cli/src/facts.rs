//! What there is around a rollout, read once: the rollout, its StatefulSet, Pods, revisions, budgets.

use api::bedrock::{StatefulsetRollout, pod_version};
use cluster::seen::{BudgetSeen, PodSeen, StatefulSetSeen};
use engine::world::Pod;
use futures::try_join;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::exit::Failure;
use crate::session::{Session, escaped};

/// Path of the rollouts of a namespace, or of all.
pub(crate) fn rollouts_path(namespace: Option<&str>) -> String {
    const GROUP: &str = "/apis/bedrock.operator.slack.com/v1";
    match namespace {
        Some(namespace) => format!("{GROUP}/namespaces/{namespace}/statefulsetrollouts"),
        None => format!("{GROUP}/statefulsetrollouts"),
    }
}

/// A revision of a StatefulSet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Revision {
    /// Name of the ControllerRevision, which Pods carry in `controller-revision-hash`.
    pub(crate) name: String,
    /// Its number; the highest is the newest.
    pub(crate) number: i64,
    /// Image of the first container.
    pub(crate) image: String,
    /// Version label, else image tag.
    pub(crate) version: String,
    /// When it was made.
    pub(crate) created: Option<Timestamp>,
    /// The Pod template.
    pub(crate) template: Value,
}

/// All of it.
pub(crate) struct Facts {
    /// The rollout.
    pub(crate) rollout: StatefulsetRollout,
    /// The rollout as it came.
    pub(crate) raw: Value,
    /// Its StatefulSet, if there is one.
    pub(crate) set: Option<StatefulSetSeen>,
    /// Its Pods, by ordinal.
    pub(crate) pods: Vec<Pod>,
    /// Its revisions, newest first.
    pub(crate) revisions: Vec<Revision>,
    /// The budgets that select its Pods.
    pub(crate) budgets: Vec<BudgetSeen>,
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
        let workload = rollout.spec.statefulset.name().unwrap_or(own);
        let path = format!("/apis/apps/v1/namespaces/{namespace}/statefulsets/{workload}");
        let set = session.find(&path, &format!("statefulset {namespace}/{workload}")).await?;
        let Some(set) = set else {
            let (pods, revisions, budgets) = Default::default();
            return Ok(Self { rollout, raw, set: None, pods, revisions, budgets });
        };
        let set: StatefulSetSeen = decoded(&set, "statefulset")?;
        let selector = escaped(&selector(&set.spec()["selector"]));
        let pods = format!("/api/v1/namespaces/{namespace}/pods?labelSelector={selector}");
        let revisions = format!(
            "/apis/apps/v1/namespaces/{namespace}/controllerrevisions?labelSelector={selector}"
        );
        let budgets = format!("/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets");
        let of = |kind: &str| format!("{kind} of {namespace}/{workload}");
        let (words_pods, words_revisions, words_budgets) =
            (of("pods"), of("controllerrevisions"), of("poddisruptionbudgets"));
        let (pods, revisions, budgets) = try_join!(
            session.list(&pods, &words_pods),
            session.list(&revisions, &words_revisions),
            session.list(&budgets, &words_budgets),
        )?;
        let uid = set.meta.uid.as_str();
        let pods: Vec<PodSeen> = all(&pods, "pod")?;
        let mut pods: Vec<Pod> = pods
            .into_iter()
            .filter(|pod| pod.owner.as_ref().is_some_and(|owner| owner.uid == uid))
            .map(|seen| seen.pod)
            .collect();
        pods.sort_by_key(|pod| pod.ordinal);
        let mut revisions: Vec<Revision> =
            revisions.iter().filter(|one| is_controlled_by(one, uid)).map(revision).collect();
        revisions.sort_by(|a, b| b.number.cmp(&a.number).then_with(|| a.name.cmp(&b.name)));
        let mut budgets: Vec<BudgetSeen> = all(&budgets, "poddisruptionbudget")?;
        budgets.retain(|budget| budget.selects(set.template_labels()));
        Ok(Self { rollout, raw, set: Some(set), pods, revisions, budgets })
    }

    /// The revision of a name.
    pub(crate) fn revision(&self, name: &str) -> Option<&Revision> {
        self.revisions.iter().find(|revision| revision.name == name)
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

fn is_controlled_by(object: &Value, uid: &str) -> bool {
    let owners = object["metadata"]["ownerReferences"].as_array();
    owners.into_iter().flatten().any(|owner| owner["controller"] == true && owner["uid"] == uid)
}

fn revision(object: &Value) -> Revision {
    let mut template = object["data"]["spec"]["template"].clone();
    if let Some(map) = template.as_object_mut() {
        // A mark for the StatefulSet controller's own patch, and no field of a template.
        map.remove("$patch");
    }
    if let Some(metadata) = template["metadata"].as_object_mut() {
        metadata.retain(|key, value| key != "creationTimestamp" || !value.is_null());
    }
    let of = pod_version(&template);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Revision {
        name: text(&object["metadata"]["name"]),
        number: object["revision"].as_i64().unwrap_or(0),
        image: of.image,
        version: of.version,
        created: object["metadata"]["creationTimestamp"].as_str().and_then(|at| at.parse().ok()),
        template,
    }
}

fn all<T: DeserializeOwned>(objects: &[Value], kind: &str) -> Result<Vec<T>, Failure> {
    objects.iter().map(|object| decoded(object, kind)).collect()
}

/// An object as the type that is meant, or which object cannot be read and why.
pub(crate) fn decoded<T: DeserializeOwned>(object: &Value, kind: &str) -> Result<T, Failure> {
    T::deserialize(object).map_err(|error| {
        let name = object["metadata"]["name"].as_str().unwrap_or("without a name");
        Failure::Failed(format!("cannot read {kind} {name}: {error}"))
    })
}
