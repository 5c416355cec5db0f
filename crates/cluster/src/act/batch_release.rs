//! Carries out one action of a `BatchRelease`, one request after another, and reports how far it got.
//!
//! RBAC: `patch` on `batchreleases` (its finalizer), on workloads of each kind and on `pods`
//! (labels); `list`, `create` and `patch` on `replicasets`; and what evictions need.
//!
//! Each write is a merge patch that names the UID and the resourceVersion of what was looked at: whoever was
//! faster is looked at first. A label needs the UID alone.

use api::batches::names::{BATCH_ID, BATCH_RELEASE_FINALIZER, NO_NEED_UPDATE, ROLLOUT_ID};
use engine::decision::Action as Motion;
use engine::front::batch_release::{Action, Held, Label, Mark, Original, Target};
use engine::mover::replica_sets::Write as Size;
use engine::world::{ApplyRefused, Strategy};
use futures::future::join_all;
use http::Method;
use kube::{Client, ResourceExt};
use serde::Deserialize;
use serde_json::{Value, json};
use tracing::warn;

use super::work::{Object, Work, managed, patch};
use super::{ActReport, GoOn, Hands};
use crate::disrupt::Way;
use crate::error::Error;
use crate::observe::batch_release::{Live, Observed};
use crate::seen::{PodSeen, ReplicaSetSeen};
use crate::subject::{Front, Subject};
use crate::wire::{self, Ask, Content};
use crate::workload::Take;
use crate::workload::replica_sets::{self, NAMES};

/// How many Pods are labelled at once.
const AT_ONCE: usize = 8;

/// Carries out `action` on what was seen. `go_on` is asked before each request; anything but
/// [`GoOn::Yes`] ends the action there.
pub async fn act(
    hands: &Hands,
    seen: &Observed,
    action: &Action,
    go_on: &(dyn Fn() -> GoOn + Send + Sync),
) -> ActReport {
    let subject = Subject::new(Front::BatchRelease, seen.key.clone());
    let mut writer = Writer { work: Work::new(hands, subject, go_on), seen };
    match action {
        Action::AddFinalizer => writer.finalizers(true).await,
        Action::RemoveFinalizer => writer.finalizers(false).await,
        Action::Take { keep, held } => writer.take(*keep, *held).await,
        Action::Release { restore } => writer.release(*restore).await,
        Action::Move(Motion::SetStrategy { strategy } | Motion::Apply { strategy }) => {
            writer.strategy(*strategy, None).await;
        }
        Action::Move(Motion::Open { partition, percent }) => {
            let strategy = Strategy::RollingUpdate { partition: *partition };
            writer.strategy(strategy, *percent).await;
        }
        Action::Move(Motion::Evict { pods }) => writer.work.disrupt(pods, Way::Evict).await,
        Action::Move(Motion::Delete { pods }) => writer.work.disrupt(pods, Way::Delete).await,
        Action::Size(Size::Create { size }) => writer.create(*size).await,
        Action::Size(Size::Size { name, size }) => writer.size(name, *size).await,
        Action::Label { pods } => writer.label(pods).await,
    }
    writer.work.report
}

struct Writer<'a> {
    work: Work<'a>,
    seen: &'a Observed,
}

impl Writer<'_> {
    async fn finalizers(&mut self, stands: bool) {
        let seen = self.seen;
        let others = seen.release.finalizers().iter().filter(|one| *one != BATCH_RELEASE_FINALIZER);
        let mut finalizers: Vec<&str> = others.map(String::as_str).collect();
        finalizers.extend(stands.then_some(BATCH_RELEASE_FINALIZER));
        let object = Object::of(&self.work.subject, &seen.uid.0, &seen.resource_version);
        self.patch(&object, json!({"metadata": {"finalizers": finalizers}})).await;
    }

    async fn take(&mut self, keep: Option<Original>, held: Held) {
        let seen = self.seen;
        let (Some(live), Target::Found(body)) = (&seen.workload, &seen.world.target) else {
            return;
        };
        let control = json!({
            "apiVersion": "rollouts.kruise.io/v1beta1", "kind": "BatchRelease",
            "name": seen.key.name, "uid": seen.uid.0,
            "controller": true, "blockOwnerDeletion": true,
        });
        let take = Take {
            control: &control.to_string(),
            keep,
            held,
            stable: body.stable_revision.as_deref(),
            update: &body.workload.update_revision,
        };
        let patch = live.workload.kind.adapter().hand.take(&live.object, &take);
        self.patch(&object(live), patch).await;
    }

    async fn release(&mut self, restore: Option<Original>) {
        let Some(live) = &self.seen.workload else { return };
        let patch = live.workload.kind.adapter().hand.release(&live.object, restore);
        self.patch(&object(live), patch).await;
    }

    async fn strategy(&mut self, strategy: Strategy, percent: Option<u32>) {
        let Some(live) = &self.seen.workload else { return };
        let hand = live.workload.kind.adapter().hand;
        let Some(patch) = hand.set_strategy(&live.object, strategy, percent) else { return };
        self.patch(&object(live), patch).await;
    }

    async fn size(&mut self, name: &str, size: u32) {
        let Some(live) = &self.seen.workload else { return };
        let Some(set) = live.sets.get(name) else { return };
        let object = Object {
            title: ReplicaSetSeen::SOURCE.title,
            words: format!("ReplicaSet {}/{name}", self.seen.key.namespace),
            path: format!("{}/{name}", self.replica_sets()),
            uid: &set.meta.uid,
            resource_version: &set.meta.resource_version,
        };
        self.patch(&object, replica_sets::size(&live.object, size)).await;
    }

    /// Makes the new ReplicaSet, under the first of its names that is free.
    ///
    /// Read first, once for each release: one that the Deployment's own controller made a moment before the
    /// Deployment was held may not be in the caches, and two of one template are one too many.
    async fn create(&mut self, size: u32) {
        let Some(live) = &self.seen.workload else { return };
        if !self.work.may() {
            return;
        }
        match twin(&self.work.hands.client, self.replica_sets(), live).await {
            Ok(None) => {}
            Ok(Some(name)) => {
                let message = format!("ReplicaSet {name} is there already");
                return self.failed(&Error::Conflict { object: name, message });
            }
            Err(error) => return self.failed(&error),
        }
        for nth in 0..NAMES {
            if !self.work.may() {
                return;
            }
            let set = live.new_set(size, nth);
            let name = set["metadata"]["name"].as_str().unwrap_or_default();
            let object = format!("ReplicaSet {}/{name}", self.seen.key.namespace);
            let ask = Ask {
                verb: "create",
                object: &object,
                method: Method::POST,
                path: managed(&self.replica_sets()),
                content: Content::Json,
                body: Some(&set),
            };
            let made = wire::ask(&self.work.hands.client, &ask).await;
            let taken = matches!(&made, Err(Error::Conflict { .. })) && nth + 1 < NAMES;
            if !taken {
                return self.note(ReplicaSetSeen::SOURCE.title, made);
            }
        }
    }

    fn replica_sets(&self) -> String {
        let source = ReplicaSetSeen::SOURCE;
        let served = source.served.first().copied().unwrap_or_default();
        source.collection(served, Some(&self.seen.key.namespace))
    }

    /// Some at once; stops after those in which one fails.
    async fn label(&mut self, pods: &[Label]) {
        let namespace = &self.seen.key.namespace;
        for some in pods.chunks(AT_ONCE) {
            let some: Vec<&Label> = some.iter().take_while(|_| self.work.may()).collect();
            let client = &self.work.hands.client;
            let writes = some.iter().map(async |label| {
                let object = Object {
                    title: PodSeen::SOURCE.title,
                    words: format!("Pod {namespace}/{}", label.name),
                    path: format!("/api/v1/namespaces/{namespace}/pods/{}", label.name),
                    uid: &label.uid.0,
                    resource_version: "",
                };
                patch(client, &object, labels(&label.mark)).await
            });
            for written in join_all(writes).await {
                match written {
                    // Another Pod by now, or gone.
                    Err(Error::Conflict { .. } | Error::Gone { .. }) => {}
                    written => self.note(PodSeen::SOURCE.title, written),
                }
            }
            if self.work.report.stopped.is_some() || self.work.report.error.is_some() {
                return;
            }
        }
    }

    async fn patch(&mut self, object: &Object<'_>, body: Value) {
        if let Err(error) = self.work.patch(object, body).await {
            self.failed(&error);
        }
    }

    /// What came of a write.
    fn note(&mut self, title: &'static str, written: Result<Value, Error>) {
        match written {
            Ok(object) => self.work.note(title, &object),
            Err(error) => self.failed(&error),
        }
    }

    fn failed(&mut self, error: &Error) {
        self.work.report.error = Some(error.name());
        let words = |message: &str, invalid| ApplyRefused {
            hash: self.seen.world.release.plan_hash.clone(),
            invalid,
            message: message.to_owned(),
        };
        match error {
            Error::Refused { message, code, .. } => {
                warn!(release = %self.seen.key, message, "a write is refused");
                self.work.report.apply_refused = Some(words(message, matches!(code, 400 | 422)));
            }
            Error::Unknown { message, retry_after, .. } => {
                self.work.report.apply_failed = Some(words(message, false));
                if retry_after.is_some() {
                    self.work.hold(*retry_after);
                }
                self.work.fail(error.to_string());
            }
            Error::Conflict { .. } | Error::Gone { .. } | Error::Unreadable { .. } => {
                self.work.fail(error.to_string());
            }
        }
    }
}

fn object(live: &Live) -> Object<'_> {
    let uid = live.object["metadata"]["uid"].as_str().unwrap_or_default();
    Object::workload(&live.workload, &live.path, uid, &live.resource_version)
}

fn labels(mark: &Mark) -> Value {
    let labels = match mark {
        Mark::Batch { rollout_id, batch } => {
            json!({ROLLOUT_ID: rollout_id, BATCH_ID: batch.to_string()})
        }
        Mark::NoNeedUpdate { rollout_id } => json!({NO_NEED_UPDATE: rollout_id}),
    };
    json!({"metadata": {"labels": labels}})
}

/// A ReplicaSet of the Deployment that has its template already, as the server has it now.
async fn twin(client: &Client, path: String, live: &Live) -> Result<Option<String>, Error> {
    let object = format!("ReplicaSets of {}", live.workload);
    let (verb, method, content) = ("list", Method::GET, Content::Json);
    // Keys and values of labels need no escaping; expressions would, and narrow the list only more.
    let labels = live.object["spec"]["selector"]["matchLabels"].as_object();
    let labels = labels.into_iter().flatten();
    let labels = labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()));
    let path = format!("{path}?labelSelector={}", labels.collect::<Vec<_>>().join(","));
    let ask = Ask { verb, object: &object, method, path, content, body: None };
    let list = wire::ask(client, &ask).await?;
    let template = crate::seen::replica_set::fingerprint(&live.object["spec"]["template"]);
    let uid = live.object["metadata"]["uid"].as_str().unwrap_or_default();
    let sets = list["items"].as_array().into_iter().flatten();
    let twin = sets.filter_map(|set| ReplicaSetSeen::deserialize(set).ok()).find(|set| {
        let ours = set.meta.owner.as_ref().is_some_and(|owner| owner.uid == uid);
        ours && set.template == template
    });
    Ok(twin.map(|set| set.meta.name))
}
