//! A workload with its revisions, Pods and budgets, whichever front leads it.

use std::collections::BTreeMap;

use api::batches::names::IN_PROGRESSING;
use cluster::Kind;
use cluster::kind::Owns;
use cluster::seen::{BudgetSeen, PodSeen};
use engine::world::Pod;
use futures::try_join;
use serde_json::Value;

use super::revision::{Revision, clean};
use super::{decoded, kind, selector, stored};
use crate::exit::Failure;
use crate::session::{Session, escaped};

/// All of it.
pub(crate) struct Workload {
    pub(crate) kind: Kind,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    /// As it came.
    pub(crate) raw: Value,
    /// Its Pods, by ordinal and name.
    pub(crate) pods: Vec<Pod>,
    /// Its revisions, newest first.
    pub(crate) revisions: Vec<Revision>,
    /// The budgets that select its Pods.
    pub(crate) budgets: Vec<BudgetSeen>,
    /// By UID: the batch that a Pod of the template's revision was updated in, from 1. The others bear that of
    /// an earlier release.
    pub(crate) batches: BTreeMap<String, u32>,
    /// What Pods of the template carry in their label; empty while nobody has made a revision of it.
    pub(crate) update: String,
}

impl Workload {
    /// Reads it and everything around it.
    pub(crate) async fn read(
        session: &Session,
        kind: Kind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Self>, Failure> {
        let found = stored::find(session, kind, namespace, name).await?;
        let Some(raw) = found else { return Ok(None) };
        let selector = escaped(&selector(&raw["spec"]["selector"]));
        let keeps = match kind.facts().owns {
            Owns::ReplicaSets => "replicasets",
            Owns::Pods | Owns::Revisions => "controllerrevisions",
        };
        let pods = format!("/api/v1/namespaces/{namespace}/pods?labelSelector={selector}");
        let revisions =
            format!("/apis/apps/v1/namespaces/{namespace}/{keeps}?labelSelector={selector}");
        let budgets = format!("/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets");
        let of = |kind: &str| format!("{kind} of {namespace}/{name}");
        let (words_pods, words_revisions, words_budgets) =
            (of("pods"), of(keeps), of("poddisruptionbudgets"));
        let (pods, revisions, budgets) = try_join!(
            session.list(&pods, &words_pods),
            session.list(&revisions, &words_revisions),
            session.list(&budgets, &words_budgets),
        )?;
        Self::of(kind, raw, &pods, &revisions, &budgets).map(Some)
    }

    /// Of what was read.
    fn of(
        kind: Kind,
        raw: Value,
        pods: &[Value],
        revisions: &[Value],
        budgets: &[Value],
    ) -> Result<Self, Failure> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let uid = text(&raw["metadata"]["uid"]);
        let kept: Vec<&Value> =
            revisions.iter().filter(|one| is_controlled_by(one, &uid)).collect();
        let mut owners = vec![uid.clone()];
        if kind.facts().owns == Owns::ReplicaSets {
            owners = kept.iter().map(|set| text(&set["metadata"]["uid"])).collect();
        }
        let pods: Vec<PodSeen> = all(pods, "pod")?;
        let owned = |pod: &PodSeen| pod.owner.as_ref().is_some_and(|it| owners.contains(&it.uid));
        let pods: Vec<PodSeen> = pods.into_iter().filter(owned).collect();
        let mut revisions: Vec<Revision> =
            kept.iter().map(|one| Revision::read(kind, one)).collect();
        revisions.sort_by(|a, b| b.number.cmp(&a.number).then_with(|| a.name.cmp(&b.name)));
        let mut budgets: Vec<BudgetSeen> = all(budgets, "poddisruptionbudget")?;
        budgets.retain(|budget| budget.selects(&raw["spec"]["template"]["metadata"]["labels"]));
        let update = match kind.facts().owns {
            Owns::Pods => text(&raw["status"]["updateRevision"]),
            Owns::Revisions => {
                revisions.first().map(|newest| newest.hash.clone()).unwrap_or_default()
            }
            Owns::ReplicaSets => {
                let mut template = raw["spec"]["template"].clone();
                clean(&mut template);
                let same = revisions.iter().find(|one| one.template == template);
                same.map(|one| one.hash.clone()).unwrap_or_default()
            }
        };
        let batches = pods
            .iter()
            .filter(|seen| seen.pod.revision == update && seen.marks.no_need_update.is_empty());
        let batches =
            batches.filter_map(|seen| Some((seen.pod.uid.0.clone(), seen.marks.batch?))).collect();
        let mut pods: Vec<Pod> = pods.into_iter().map(|seen| seen.pod).collect();
        pods.sort_by(|a, b| a.ordinal.cmp(&b.ordinal).then_with(|| a.name.cmp(&b.name)));
        let (namespace, name) =
            (text(&raw["metadata"]["namespace"]), text(&raw["metadata"]["name"]));
        Ok(Self { kind, namespace, name, uid, raw, pods, revisions, budgets, batches, update })
    }

    /// `deployment shop/web`.
    pub(crate) fn title(&self) -> String {
        format!("{} {}/{}", kind::word(self.kind), self.namespace, self.name)
    }

    /// The Pod template.
    pub(crate) fn template(&self) -> &Value {
        &self.raw["spec"]["template"]
    }

    /// Pods that there are to be.
    pub(crate) fn replicas(&self) -> u32 {
        replicas(self.kind, &self.raw)
    }

    /// The revision that a word of a status means.
    pub(crate) fn revision(&self, word: &str) -> Option<&Revision> {
        self.revisions.iter().find(|one| one.is_called(word))
    }
}

/// Pods that a workload asks for.
pub(crate) fn replicas(kind: Kind, raw: &Value) -> u32 {
    let number = match kind::is_on_nodes(kind) {
        true => raw["status"]["desiredNumberScheduled"].as_u64().unwrap_or(0),
        false => raw["spec"]["replicas"].as_u64().unwrap_or(1),
    };
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Whether a change of it is held for a release.
pub(crate) fn is_marked(raw: &Value) -> bool {
    raw["metadata"]["annotations"].get(IN_PROGRESSING).is_some()
}

fn is_controlled_by(object: &Value, uid: &str) -> bool {
    let owners = object["metadata"]["ownerReferences"].as_array();
    owners.into_iter().flatten().any(|owner| owner["controller"] == true && owner["uid"] == uid)
}

fn all<T: serde::de::DeserializeOwned>(objects: &[Value], kind: &str) -> Result<Vec<T>, Failure> {
    objects.iter().map(|object| decoded(object, kind)).collect()
}
