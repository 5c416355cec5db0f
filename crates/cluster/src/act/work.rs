//! One action under way, whichever front decided it: whether the next request may be made, patches of what was
//! looked at, Pods that are asked to go one after another, and what came of it all.

use engine::decision::Victim;
use engine::world::Refusal;
use http::Method;
use jiff::SignedDuration;
use kube::Client;
use serde_json::{Value, json};
use tracing::{debug, info, warn};

use super::{ActReport, BUSY, GoOn, Hands};
use crate::disrupt::{Disruption, Way, disrupt};
use crate::error::Error;
use crate::subject::{Subject, Workload};
use crate::wire::{self, Ask, Content, FIELD_MANAGER};

/// An object to be written, as it was looked at.
pub(super) struct Object<'a> {
    /// As its watch is called.
    pub(super) title: &'static str,
    /// As errors call it.
    pub(super) words: String,
    pub(super) path: String,
    pub(super) uid: &'a str,
    /// Empty where any version will do.
    pub(super) resource_version: &'a str,
}

impl<'a> Object<'a> {
    /// One of our own resources.
    pub(super) fn of(subject: &Subject, uid: &'a str, resource_version: &'a str) -> Self {
        let (words, path) = (subject.to_string(), subject.path());
        Self { title: subject.front.plural(), words, path, uid, resource_version }
    }

    /// A workload.
    pub(super) fn workload(
        workload: &Workload,
        path: &str,
        uid: &'a str,
        resource_version: &'a str,
    ) -> Self {
        let (title, words) = (workload.kind.facts().source.title, workload.to_string());
        Self { title, words, path: path.to_owned(), uid, resource_version }
    }
}

/// One merge patch of the object that was looked at.
pub(super) async fn patch(
    client: &Client,
    object: &Object<'_>,
    mut body: Value,
) -> Result<Value, Error> {
    body["metadata"]["uid"] = json!(object.uid);
    if !object.resource_version.is_empty() {
        body["metadata"]["resourceVersion"] = json!(object.resource_version);
    }
    let ask = Ask {
        verb: "patch",
        object: &object.words,
        method: Method::PATCH,
        path: managed(&object.path),
        content: Content::MergePatch,
        body: Some(&body),
    };
    wire::ask(client, &ask).await
}

/// The path of a write of ours.
pub(super) fn managed(path: &str) -> String {
    format!("{path}?fieldManager={FIELD_MANAGER}")
}

/// An action that is under way.
pub(super) struct Work<'a> {
    pub(super) hands: &'a Hands,
    /// Whose action it is.
    pub(super) subject: Subject,
    go_on: &'a (dyn Fn() -> GoOn + Send + Sync),
    pub(super) report: ActReport,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        hands: &'a Hands,
        subject: Subject,
        go_on: &'a (dyn Fn() -> GoOn + Send + Sync),
    ) -> Self {
        Self { hands, subject, go_on, report: ActReport::default() }
    }

    /// Asks whether the next request may be made, and notes that it is.
    pub(super) fn may(&mut self) -> bool {
        match (self.go_on)() {
            GoOn::Yes => {
                self.report.acted_at = Some(self.hands.clock.now());
                self.report.requests += 1;
                true
            }
            stop => {
                info!(subject = %self.subject, ?stop, "the action stops here");
                self.report.stopped = Some(stop);
                false
            }
        }
    }

    /// One merge patch of what was looked at, if it may still be made.
    pub(super) async fn patch(&mut self, object: &Object<'_>, body: Value) -> Result<(), Error> {
        if !self.may() {
            return Ok(());
        }
        let written = patch(&self.hands.client, object, body).await?;
        self.note(object.title, &written);
        Ok(())
    }

    /// What was written is not in the caches yet. A deletion that is done at once answers with no version: the
    /// next look at an old cache asks for it once more, and hears that it is gone.
    pub(super) fn note(&mut self, title: &'static str, written: &Value) {
        let version = written["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        debug!(subject = %self.subject, title, version, "written");
        if !version.is_empty() {
            self.report.unseen.note(title, version);
        }
    }

    /// One Pod after another; stops at the first that is refused for a reason that would hold for
    /// the next as well.
    pub(super) async fn disrupt(&mut self, pods: &[Victim], way: Way) {
        for (done, pod) in pods.iter().enumerate() {
            if !self.may() {
                self.leave(&pods[done..]);
                return;
            }
            let (client, namespace) = (&self.hands.client, &self.subject.key.namespace);
            let disruption = disrupt(client, namespace, pod, way).await;
            debug!(subject = %self.subject, pod = pod.name, ?disruption, "asked a Pod to go");
            match disruption {
                Disruption::Accepted => {
                    self.report.accepted.insert(pod.uid.clone());
                }
                Disruption::Refused { refusal: Refusal::Gone, .. } => {
                    self.report.refused.insert(pod.uid.clone(), Refusal::Gone);
                }
                Disruption::Refused { refusal, retry_after } => {
                    if refusal == Refusal::Overloaded {
                        self.hold(retry_after);
                    }
                    self.report.refused.insert(pod.uid.clone(), refusal);
                    self.leave(&pods[done + 1..]);
                    return;
                }
                Disruption::Unknown(message) => {
                    self.fail(message);
                    self.leave(&pods[done + 1..]);
                    return;
                }
            }
        }
    }

    fn leave(&mut self, pods: &[Victim]) {
        let left = pods.iter().map(|pod| (pod.uid.clone(), Refusal::NotTried));
        self.report.refused.extend(left);
    }

    /// The server wants to be left alone.
    pub(super) fn hold(&mut self, seconds: Option<u32>) {
        let pause = seconds.map_or(BUSY, |seconds| SignedDuration::from_secs(seconds.into()));
        self.report.hold_until = self.hands.clock.now().checked_add(pause).ok();
    }

    pub(super) fn fail(&mut self, message: String) {
        warn!(subject = %self.subject, message, "what came of the last request is not known");
        self.report.failed = Some(message);
    }
}
