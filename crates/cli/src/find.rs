//! Which rollout is meant: by its kind and name, by its name alone, or by the workload that it leads.

use api::batches::{Rollout, WorkloadRef};
use futures::join;
use serde_json::Value;

use crate::exit::Failure;
use crate::facts::release::{releases_path, rollouts_path};
use crate::facts::{self, decoded, kind, require_namespace, stored};
use crate::name::{Kind, Named};
use crate::session::Session;

/// Which of the served resources it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Front {
    /// `StatefulsetRollout`: by percent.
    Percent,
    /// `Rollout`: by steps.
    Steps,
    /// A `BatchRelease` that no Rollout wrote.
    Release,
}

impl Front {
    /// As kubectl writes it before a name.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Percent => "statefulsetrollout",
            Self::Steps => "rollout",
            Self::Release => "batchrelease",
        }
    }

    /// As Kubernetes writes it.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Percent => "StatefulsetRollout",
            Self::Steps => "Rollout",
            Self::Release => "BatchRelease",
        }
    }

    /// Path of all of a namespace, or of all.
    pub(crate) fn collection(self, namespace: Option<&str>) -> String {
        match self {
            Self::Percent => facts::rollouts_path(namespace),
            Self::Steps => rollouts_path(namespace),
            Self::Release => releases_path(namespace),
        }
    }
}

/// A rollout that is there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) front: Front,
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// As it was read.
    pub(crate) raw: Value,
}

impl Found {
    fn new(front: Front, namespace: &str, raw: Value) -> Self {
        let name = raw["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        Self { front, namespace: namespace.to_owned(), name, raw }
    }

    /// `rollout shop/web`: what messages call it.
    pub(crate) fn title(&self) -> String {
        format!("{} {}/{}", self.front.word(), self.namespace, self.name)
    }

    /// `rollout/web`: what an argument calls it.
    pub(crate) fn argument(&self) -> String {
        format!("{}/{}", self.front.word(), self.name)
    }

    /// Its path.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", self.front.collection(Some(&self.namespace)), self.name)
    }

    /// Its resourceVersion.
    pub(crate) fn version(&self) -> &str {
        self.raw["metadata"]["resourceVersion"].as_str().unwrap_or_default()
    }

    /// Reads it again.
    pub(crate) async fn again(&self, session: &Session) -> Result<Self, Failure> {
        let raw = session.get(&self.path(), &self.title()).await?;
        Ok(Self { raw, ..self.clone() })
    }

    /// Says no, with the reason and the remedy.
    pub(crate) fn refuse<T>(&self, why: &str) -> Result<T, Failure> {
        Err(Failure::Failed(format!("{} {why}", self.title())))
    }
}

/// Finds it.
pub(crate) async fn find(session: &Session, named: &Named) -> Result<Found, Failure> {
    let name = &named.name;
    match named.kind {
        Some(Kind::StatefulsetRollout) => one(session, Front::Percent, name).await,
        Some(Kind::Rollout) => one(session, Front::Steps, name).await,
        Some(Kind::BatchRelease) => release(session, name).await,
        Some(Kind::Workload(kind)) => leading(session, kind, name).await,
        None => either(session, name).await,
    }
}

async fn get(session: &Session, front: Front, name: &str) -> Result<Found, Failure> {
    let namespace = session.namespace.as_str();
    let path = format!("{}/{name}", front.collection(Some(namespace)));
    let raw = session.get(&path, &format!("{} {namespace}/{name}", front.word())).await?;
    Ok(Found::new(front, namespace, raw))
}

async fn one(session: &Session, front: Front, name: &str) -> Result<Found, Failure> {
    match get(session, front, name).await {
        Err(Failure::NotFound(words)) => absent(session, &words).await,
        other => other,
    }
}

/// Tells a missing namespace apart.
async fn absent(session: &Session, words: &str) -> Result<Found, Failure> {
    require_namespace(session).await?;
    let namespace = &session.namespace;
    Err(Failure::NotFound(format!("{words}; `sluice list -n {namespace}` shows what is there")))
}

/// A name alone: whichever of the two resources has it.
async fn either(session: &Session, name: &str) -> Result<Found, Failure> {
    let (percent, steps) =
        join!(get(session, Front::Percent, name), get(session, Front::Steps, name));
    let namespace = &session.namespace;
    match (percent, steps) {
        (Ok(_), Ok(_)) => Err(Failure::Usage(format!(
            "{name} is the name of two in namespace {namespace}: say statefulsetrollout/{name} or \
             rollout/{name}"
        ))),
        (Ok(found), _) | (_, Ok(found)) => Ok(found),
        (Err(Failure::NotFound(_)), Err(Failure::NotFound(_))) => {
            let words =
                format!("neither a statefulsetrollout nor a rollout {namespace}/{name} exists");
            absent(session, &words).await
        }
        (Err(Failure::NotFound(words)), Err(Failure::NotServed(_)))
        | (Err(Failure::NotServed(_)), Err(Failure::NotFound(words))) => {
            absent(session, &words).await
        }
        // What cannot be asked weighs more than what is not there.
        (Err(Failure::NotFound(_) | Failure::NotServed(_)), Err(failure)) | (Err(failure), _) => {
            Err(failure)
        }
    }
}

/// A BatchRelease; where a Rollout wrote it, that is meant.
async fn release(session: &Session, name: &str) -> Result<Found, Failure> {
    let found = one(session, Front::Release, name).await?;
    match writer(&found.raw) {
        Some(rollout) => one(session, Front::Steps, rollout).await,
        None => Ok(found),
    }
}

/// The Rollout that wrote a BatchRelease, if one did.
pub(crate) fn writer(release: &Value) -> Option<&str> {
    let owners = release["metadata"]["ownerReferences"].as_array()?;
    let mut rollouts =
        owners.iter().filter(|owner| owner["controller"] == true && owner["kind"] == "Rollout");
    rollouts.next()?["name"].as_str()
}

/// The rollout that leads a workload.
async fn leading(session: &Session, kind: cluster::Kind, name: &str) -> Result<Found, Failure> {
    let namespace = session.namespace.as_str();
    let mut leaders = Vec::new();
    for raw in all(session, Front::Steps, Some(namespace)).await? {
        let rollout: Rollout = decoded(&raw, "rollout")?;
        let reference = &rollout.spec.workload_ref;
        if kind::of(reference) == Some(kind) && reference.name == name {
            leaders.push(Found::new(Front::Steps, namespace, raw));
        }
    }
    if kind == cluster::Kind::StatefulSet {
        for raw in all(session, Front::Percent, Some(namespace)).await? {
            let rollout: api::bedrock::StatefulsetRollout = decoded(&raw, "statefulsetrollout")?;
            let own = rollout.metadata.name.as_deref().unwrap_or_default();
            if rollout.spec.statefulset.name().unwrap_or(own) == name {
                leaders.push(Found::new(Front::Percent, namespace, raw));
            }
        }
    }
    let word = kind::word(kind);
    let names: Vec<String> = leaders.iter().map(Found::argument).collect();
    match (leaders.pop(), leaders.is_empty()) {
        (Some(found), true) => Ok(found),
        (Some(_), false) => Err(Failure::Usage(format!(
            "{word} {namespace}/{name} is led by several: say which, {}",
            names.join(" or ")
        ))),
        (None, _) => {
            let title = format!("{word} {namespace}/{name}");
            if stored::find(session, kind, namespace, name).await?.is_none() {
                let other = namesake(session, kind, namespace, name).await?;
                return Err(Failure::NotFound(format!("{title} does not exist{other}")));
            }
            Err(Failure::NotFound(format!(
                "{title} is led by no rollout: nothing holds its changes; create a Rollout with this \
                 workloadRef"
            )))
        }
    }
}

/// That there is one of this name of the kind that is called the same in another group.
async fn namesake(
    session: &Session,
    kind: cluster::Kind,
    namespace: &str,
    name: &str,
) -> Result<String, Failure> {
    let Some(other) = kind::namesake(kind) else { return Ok(String::new()) };
    let found = stored::find(session, other, namespace, name).await?;
    let words = || format!(", but {} {name} does: say {}/{name}", other.word(), kind::word(other));
    Ok(found.map(|_| words()).unwrap_or_default())
}

/// The workload of a Rollout or BatchRelease as it came; `None` where there is none, or where its kind is
/// not one that is shown.
pub(crate) async fn workload(
    session: &Session,
    namespace: &str,
    reference: &WorkloadRef,
) -> Result<Option<Value>, Failure> {
    match kind::of(reference) {
        Some(kind) => stored::find(session, kind, namespace, &reference.name).await,
        None => Ok(None),
    }
}

/// All of a resource; none where the cluster does not serve it.
pub(crate) async fn all(
    session: &Session,
    front: Front,
    namespace: Option<&str>,
) -> Result<Vec<Value>, Failure> {
    let words = format!("{}s", front.word());
    match session.list(&front.collection(namespace), &words).await {
        Err(Failure::NotServed(_) | Failure::NotFound(_)) => Ok(Vec::new()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::far_side::{FarSide, web};

    const PERCENT: &str =
        "/apis/bedrock.operator.slack.com/v1/namespaces/default/statefulsetrollouts";
    const STEPS: &str = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/rollouts";

    async fn found(far_side: &FarSide, name: &str) -> Result<String, String> {
        let named = crate::name::object(name).unwrap();
        let found = find(&far_side.session(), &named).await;
        found
            .map(|found| found.argument())
            .map_err(|failure| format!("{:?}: {failure}", failure.exit()))
    }

    #[tokio::test(start_paused = true)]
    async fn a_name_alone_is_looked_up_in_both_resources() {
        let check = async |far_side: &FarSide, expect: Result<&str, &str>| {
            let found = found(far_side, "web").await;
            match expect {
                Ok(name) => assert_eq!(found.as_deref(), Ok(name)),
                Err(says) => {
                    assert!(found.as_ref().is_err_and(|words| words.contains(says)), "{found:?}");
                }
            }
        };
        let named = json!({"metadata": {"name": "web"}});
        check(&FarSide::in_steps(), Ok("rollout/web")).await;
        let percent = FarSide::default().with(&format!("{PERCENT}/web"), &named);
        check(&percent, Ok("statefulsetrollout/web")).await;
        let both = FarSide::in_steps().with(&format!("{PERCENT}/web"), &named);
        check(&both, Err("Usage: web is the name of two")).await;
        check(&both, Err("say statefulsetrollout/web or rollout/web")).await;
        let namespace = json!({"metadata": {"name": "default"}});
        let none = FarSide::default().with("/api/v1/namespaces/default", &namespace);
        check(&none, Err("Absent: neither a statefulsetrollout nor a rollout default/web")).await;
        check(&FarSide::default(), Err("namespace default does not exist")).await;
        let not_served = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
            "code": 404, "reason": "NotFound", "message": "no such path"});
        let one = FarSide::in_steps().with(&format!("{PERCENT}/web"), &not_served);
        check(&one, Ok("rollout/web")).await;
        let forbidden = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
            "code": 403, "reason": "Forbidden", "message": "no", "details": {"name": "web"}});
        let hidden = FarSide::default().with(&format!("{STEPS}/web"), &forbidden);
        check(&hidden, Err("cannot get rollout default/web")).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_workload_stands_for_the_rollout_that_leads_it() {
        let far_side = FarSide::in_steps();
        assert_eq!(found(&far_side, "deploy/web").await.unwrap(), "rollout/web");
        let words = found(&far_side, "deployment/other").await.unwrap_err();
        assert!(words.contains("deployment default/other does not exist"), "{words}");
        let mut second = web::rollout();
        second["metadata"]["name"] = json!("web-2");
        let two = far_side.with(STEPS, &json!({"items": [web::rollout(), second]}));
        let words = found(&two, "deploy/web").await.unwrap_err();
        assert!(
            words.contains("led by several: say which, rollout/web or rollout/web-2"),
            "{words}"
        );
        let path = "/apis/apps.kruise.io/v1beta1/namespaces/default/statefulsets/store";
        let advanced = FarSide::in_steps().with(path, &json!({"metadata": {"name": "store"}}));
        let words = found(&advanced, "sts/store").await.unwrap_err();
        let rather = "but Advanced StatefulSet store does: say statefulset.apps.kruise.io/store";
        assert!(
            words.contains("default/store does not exist") && words.contains(rather),
            "{words}"
        );
        let percent = FarSide::rolling_out();
        assert_eq!(found(&percent, "sts/tester").await.unwrap(), "statefulsetrollout/tester");
        let alone = FarSide::in_steps().with(STEPS, &json!({"items": []}));
        let words = found(&alone, "deploy/web").await.unwrap_err();
        assert!(words.contains("is led by no rollout"), "{words}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_batch_release_stands_for_the_rollout_that_wrote_it() {
        assert_eq!(found(&FarSide::in_steps(), "br/web").await.unwrap(), "rollout/web");
        let path = "/apis/rollouts.kruise.io/v1beta1/namespaces/default/batchreleases/own";
        let own = FarSide::default().with(path, &web::release_of_ones_own());
        assert_eq!(found(&own, "br/own").await.unwrap(), "batchrelease/own");
    }
}
