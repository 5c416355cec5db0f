//! Carries out what was decided about a Rollout: one write, whose answer is noted until the watches show it.
//!
//! RBAC: `patch` on `rollouts` and on the workloads, `create`, `patch` and `delete` on `batchreleases`; `get`
//! on both before a Rollout is let go.

mod give_back;

use api::batches::engine::rollout as convert;
use api::batches::names::{PLAN_HASH, ROLLOUT_FINALIZER, WORKLOAD_TYPE};
use engine::front::rollout::Action;
use engine::world::Uid;
use http::Method;
use kube::ResourceExt;
use serde_json::{Value, json};

use super::work::{Object, Work, managed};
use super::{ActReport, GoOn, Hands};
use crate::error::Error;
use crate::observe::rollout::{Live, Observed, marks};
use crate::subject::{Front, Subject};
use crate::unseen::Unseen;
use crate::wire::{self, Ask, Content};
use crate::workload::{Hold, held, marked};

/// How far an action got.
#[derive(Debug, Default)]
pub struct Report {
    /// Writes that the watches have not shown yet.
    pub unseen: Unseen,
    /// What `go_on` said when it stopped the action.
    pub stopped: Option<GoOn>,
    /// Why it was not done, or what is not known of it.
    pub failed: Option<Error>,
    /// Not yet: what stands in the way, in words.
    pub waits: Option<String>,
}

/// Carries out `action` on what was seen. `go_on` is asked before each request; anything but [`GoOn::Yes`] ends
/// the action there.
pub async fn act(
    hands: &Hands,
    seen: &Observed,
    action: &Action,
    go_on: &(dyn Fn() -> GoOn + Send + Sync),
) -> Report {
    let subject = Subject::new(Front::Rollout, seen.key.clone());
    let mut writer = Writer { work: Work::new(hands, subject, go_on), seen, waits: None };
    let failed = writer.carry_out(action).await.err();
    let ActReport { unseen, stopped, .. } = writer.work.report;
    Report { unseen, stopped, failed, waits: writer.waits }
}

struct Writer<'a> {
    work: Work<'a>,
    seen: &'a Observed,
    /// What stands in the way.
    waits: Option<String>,
}

impl Writer<'_> {
    async fn carry_out(&mut self, action: &Action) -> Result<(), Error> {
        let seen = self.seen;
        match action {
            Action::Adopt => {
                let mut finalizers = seen.rollout.finalizers().to_vec();
                finalizers.push(ROLLOUT_FINALIZER.to_owned());
                self.patch_rollout(json!({
                    "finalizers": finalizers,
                    "annotations": { PLAN_HASH: seen.world.rollout.hash },
                }))
                .await
            }
            Action::MarkHash => {
                let hash = &seen.world.rollout.hash;
                self.patch_rollout(json!({ "annotations": { PLAN_HASH: hash } })).await
            }
            Action::Forget => self.forget().await,
            Action::Label => {
                let Some(live) = &seen.live else { return Ok(()) };
                let kind = live.workload.kind.facts().label;
                let labels = json!({ "metadata": { "labels": { WORKLOAD_TYPE: kind } } });
                self.patch_workload(live, labels).await
            }
            Action::Hold => {
                let Some(live) = &seen.live else { return Ok(()) };
                let stable = seen.world.workload.as_ref().map(|it| it.stable_revision.as_str());
                let by = Hold {
                    rollout: &seen.key.name,
                    stable_revision: stable.filter(|stable| !stable.is_empty()),
                    partition: live.partition,
                };
                let patch = live.workload.kind.hold(&live.object, &by);
                self.patch_workload(live, patch).await
            }
            Action::Create(plan) => {
                self.create_release(&convert::new_release(&seen.rollout, plan)).await
            }
            Action::Update(plan) => {
                self.patch_release(convert::release_patch(&seen.rollout, plan)).await
            }
            Action::Promote(policy) => self.patch_release(convert::promotion(*policy)).await,
            Action::Delete(uid) => self.delete_release(uid).await,
            Action::Release { freeze } => {
                let Some(live) = &seen.live else { return Ok(()) };
                let patch = give_back::patch(live, *freeze);
                self.patch_workload(live, patch).await
            }
        }
    }

    /// The Rollout's metadata, under the version that was read: its finalizers are a list.
    async fn patch_rollout(&mut self, metadata: Value) -> Result<(), Error> {
        let seen = self.seen;
        let object = Object::of(&self.work.subject, &seen.uid.0, &seen.resource_version);
        self.work.patch(&object, json!({ "metadata": metadata })).await
    }

    async fn patch_workload(&mut self, live: &Live, body: Value) -> Result<(), Error> {
        let Live { workload, path, uid, resource_version, .. } = live;
        self.work.patch(&Object::workload(workload, path, uid, resource_version), body).await
    }

    async fn patch_release(&mut self, body: Value) -> Result<(), Error> {
        let seen = self.seen;
        let Some(release) = &seen.world.release else { return Ok(()) };
        let object = Object::of(&self.release(), &release.uid.0, &seen.release_version);
        self.work.patch(&object, body).await
    }

    async fn create_release(&mut self, body: &Value) -> Result<(), Error> {
        let (front, namespace) = (Front::BatchRelease, &self.seen.key.namespace);
        let (version, plural) = (front.api_version(), front.plural());
        let path = managed(&format!("/apis/{version}/namespaces/{namespace}/{plural}"));
        self.write("create", Method::POST, path, body).await
    }

    async fn delete_release(&mut self, uid: &Uid) -> Result<(), Error> {
        let body = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": { "uid": uid.0 },
        });
        match self.write("delete", Method::DELETE, self.release().path(), &body).await {
            // It is what was asked for, or one that came after it.
            Err(Error::Gone { .. } | Error::Conflict { .. }) => Ok(()),
            other => other,
        }
    }

    /// A BatchRelease comes or goes.
    async fn write(
        &mut self,
        verb: &'static str,
        method: Method,
        path: String,
        body: &Value,
    ) -> Result<(), Error> {
        if !self.work.may() {
            return Ok(());
        }
        let (object, content) = (self.release().to_string(), Content::Json);
        let ask = Ask { verb, object: &object, method, path, content, body: Some(body) };
        let answer = wire::ask(&self.work.hands.client, &ask).await?;
        self.work.note(Front::BatchRelease.plural(), &answer);
        Ok(())
    }

    /// The finalizer goes when the server itself says that nothing is left to be given back: the caches may
    /// be late, and nobody looks afterwards.
    async fn forget(&mut self) -> Result<(), Error> {
        if let Some(why) = self.left_over().await? {
            self.waits = Some(why);
            return Ok(());
        }
        if self.work.report.stopped.is_some() {
            return Ok(());
        }
        let finalizers = self.seen.rollout.finalizers().iter();
        let others: Vec<&String> = finalizers.filter(|it| *it != ROLLOUT_FINALIZER).collect();
        match self.patch_rollout(json!({ "finalizers": others })).await {
            Err(Error::Gone { .. }) => Ok(()),
            other => other,
        }
    }

    async fn left_over(&mut self) -> Result<Option<String>, Error> {
        let Some(release) = self.read(&self.release().path(), "BatchRelease").await? else {
            return self.still_held().await;
        };
        let owners = release["metadata"]["ownerReferences"].as_array();
        let ours = |owner: &Value| owner["uid"] == self.seen.uid.0.as_str();
        if owners.is_some_and(|owners| owners.iter().any(ours)) {
            return Ok(Some(format!("{} is still there", self.release())));
        }
        self.still_held().await
    }

    async fn still_held(&mut self) -> Result<Option<String>, Error> {
        let world = &self.seen.world;
        let live = self.seen.live.as_ref().filter(|_| world.rollout.rival.is_none());
        let Some(Live { workload: named, path, .. }) = live else { return Ok(None) };
        let Some(object) = self.read(path, named.kind.word()).await? else {
            return Ok(None);
        };
        let freeze = world.settings.freeze_on_deletion;
        // What a living release of somebody else left is that one's.
        let is_held = world.workload.as_ref().is_some_and(|workload| workload.held)
            || (held(named.kind, &object) && !marks::controlled(&object));
        let left = marked(&object) || (is_held && !freeze);
        Ok(left.then(|| format!("{named} is still held")))
    }

    /// `None` where there is none, or where it may not be asked any more.
    async fn read(&mut self, path: &str, what: &str) -> Result<Option<Value>, Error> {
        if !self.work.may() {
            return Ok(None);
        }
        let (verb, method, content) = ("get", Method::GET, Content::Json);
        let object = format!("{what} of Rollout {}", self.seen.key);
        let ask = Ask { verb, object: &object, method, path: path.into(), content, body: None };
        match wire::ask(&self.work.hands.client, &ask).await {
            Ok(object) => Ok(Some(object)),
            Err(Error::Gone { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn release(&self) -> Subject {
        Subject::new(Front::BatchRelease, self.seen.key.clone())
    }
}
