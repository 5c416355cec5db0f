//! Admission webhooks: which are asked about a write, what they are sent, what they answer.
//!
//! The calls happen outside the lock, through a caller that is handed in: in process for the
//! operator's own endpoint, over HTTPS for others.

mod matching;
mod review;

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;

use crate::authorization::User;
use crate::conversion;
use crate::error::ApiError;
use crate::json::Value;
use crate::kind::Kind;
use crate::object::{Key, Object};
use crate::server::delete::Deleted;
use crate::server::options::{DeleteOptions, WriteOptions};
use crate::server::write::{Attempt, Outcome};
use crate::server::{Inner, Server, convert};

pub use matching::{Hook, MUTATING, VALIDATING};
pub use review::Subject;
pub(crate) use review::user_info;

/// One call of a webhook.
#[derive(Clone, Debug)]
pub struct WebhookCall {
    /// `clientConfig.url`, if it has one.
    pub url: Option<String>,
    /// `clientConfig.service` as (namespace, name, port), if it has one.
    pub service: Option<(String, String, u16)>,
    /// Path on the service; empty with a URL.
    pub path: String,
    /// `clientConfig.caBundle`, base64 of PEM; empty if none.
    pub ca_bundle: String,
    /// The AdmissionReview.
    pub review: Value,
}

impl WebhookCall {
    /// A call to what a `clientConfig` names, without a review yet.
    pub(crate) fn to(config: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let service = config["service"].as_object().map(|service| {
            let port = service.get("port").and_then(Value::as_u64).unwrap_or(443);
            let field = |key: &str| service.get(key).map(text).unwrap_or_default();
            (field("namespace"), field("name"), u16::try_from(port).unwrap_or(443))
        });
        Self {
            url: config["url"].as_str().map(str::to_owned),
            service,
            path: text(&config["service"]["path"]),
            ca_bundle: text(&config["caBundle"]),
            review: Value::Null,
        }
    }
}

/// Carries a call out; an error is a webhook that could not be reached.
pub type WebhookCaller =
    Arc<dyn Fn(WebhookCall) -> BoxFuture<'static, Result<Value, String>> + Send + Sync>;

/// How often a write starts again because the object changed under it, as in the real server.
const TRIES: usize = 5;

enum Step {
    Done(Outcome),
    /// What is stored is wanted in another version first.
    Converting(Arc<Kind>, Object),
    /// What is to be stored, what is stored in the version of the request, and who is to be asked.
    Asking(Box<Attempt>, Option<Object>, Vec<Hook>),
}

impl Server {
    /// Prepares a write, lets webhooks change and judge it, and commits it. Starts again when the
    /// object changed meanwhile; a client that named a resourceVersion then gets its conflict.
    pub async fn submit(
        &self,
        kind: &Arc<Kind>,
        options: &WriteOptions,
        now: Timestamp,
        prepare: impl Fn(&mut Inner) -> Result<Attempt, ApiError>,
    ) -> Result<Outcome, ApiError> {
        for _ in 1..TRIES {
            if let Some(outcome) = self.submit_once(kind, options, now, &prepare).await? {
                return Ok(outcome);
            }
        }
        let last = self.submit_once(kind, options, now, &prepare).await?;
        last.ok_or_else(|| {
            ApiError::new(409, "Conflict", "the object kept changing while webhooks were asked")
        })
    }

    /// Prepares a write under the lock, and carries it through if nobody has to be asked.
    fn look(
        &self,
        kind: &Arc<Kind>,
        options: &WriteOptions,
        now: Timestamp,
        prepare: &impl Fn(&mut Inner) -> Result<Attempt, ApiError>,
        ready: Option<(Object, Object)>,
    ) -> Result<Step, ApiError> {
        let listens = self.webhook_caller().is_some();
        self.write(|inner| {
            inner.bring(ready);
            let prepared = prepare(inner);
            if let Some(stored) = inner.wanted() {
                return Ok(Step::Converting(kind.clone(), stored));
            }
            let mut attempt = prepared?;
            let before = if listens { inner.shown_before(&attempt) } else { None };
            let hooks = if listens {
                matching::hooks(inner, &Subject::of(&attempt, before.as_ref(), options))
            } else {
                Vec::new()
            };
            if hooks.is_empty() && !conversion::before_storage(kind) {
                let settled = inner.settle(&mut attempt, options, now);
                settled.map_err(|error| error.after_warnings(&attempt.warnings))?;
                return inner.store(attempt, options).map(Step::Done);
            }
            inner.shape(&mut attempt)?;
            match inner.wanted() {
                Some(stored) => Ok(Step::Converting(kind.clone(), stored)),
                None => Ok(Step::Asking(Box::new(attempt), before, hooks)),
            }
        })
    }

    /// One try; `None` when the object changed while the webhooks were asked.
    async fn submit_once(
        &self,
        kind: &Arc<Kind>,
        options: &WriteOptions,
        now: Timestamp,
        prepare: &impl Fn(&mut Inner) -> Result<Attempt, ApiError>,
    ) -> Result<Option<Outcome>, ApiError> {
        let caller = self.webhook_caller();
        let mut ready = None;
        let mut step = self.look(kind, options, now, prepare, ready.clone())?;
        if let Step::Converting(kind, stored) = step {
            let shown = self.in_version(&kind, vec![stored.clone()]).await?;
            ready = shown.into_iter().next().map(|shown| (stored, shown));
            step = self.look(&kind, options, now, prepare, ready.clone())?;
        }
        let (mut attempt, before, hooks) = match step {
            Step::Done(outcome) => return Ok(Some(outcome)),
            // It changed while the webhook was asked.
            Step::Converting(..) => return Ok(None),
            Step::Asking(attempt, before, hooks) => (attempt, before, hooks),
        };
        let Some(caller) = caller else {
            return Err(ApiError::internal("a webhook was matched without a caller"));
        };
        for hook in hooks.iter().filter(|hook| hook.mutating) {
            let subject = Subject::of(&attempt, before.as_ref(), options);
            let patched = self.ask_hook(&caller, hook, &subject, &mut attempt.warnings).await?;
            attempt.after = patched.unwrap_or(attempt.after);
        }
        self.write(|inner| {
            inner.bring(ready);
            let settled = inner.settle(&mut attempt, options, now);
            settled.map_err(|error| error.after_warnings(&attempt.warnings))
        })?;
        let subject = Subject::of(&attempt, before.as_ref(), options);
        let mut warnings = std::mem::take(&mut attempt.warnings);
        for hook in hooks.iter().filter(|hook| !hook.mutating) {
            self.ask_hook(&caller, hook, &subject, &mut warnings).await?;
        }
        attempt.warnings = warnings;
        attempt.after = self.in_storage(&attempt.kind, attempt.after).await?;
        match self.write(|inner| inner.store(*attempt, options)) {
            Err(error) if error.reason == "Conflict" => Ok(None),
            other => other.map(Some),
        }
    }

    /// Asks validating webhooks about something that is not a plain write (a delete, an eviction).
    pub async fn judge(
        &self,
        subject: impl FnOnce(&mut Inner) -> Option<Subject>,
    ) -> Result<Vec<String>, ApiError> {
        let mut warnings = Vec::new();
        let Some(caller) = self.webhook_caller() else {
            return Ok(warnings);
        };
        let asked = self.write(|inner| {
            Ok(subject(inner).map(|subject| {
                let hooks = matching::hooks(inner, &subject);
                (subject, hooks)
            }))
        })?;
        let Some((subject, hooks)) = asked else {
            return Ok(warnings);
        };
        for hook in &hooks {
            self.ask_hook(&caller, hook, &subject, &mut warnings).await?;
        }
        Ok(warnings)
    }

    /// DELETE of one object, when the webhooks have been asked; what it led to, and what they warn of.
    pub(crate) async fn remove(
        &self,
        kind: &Arc<Kind>,
        key: &Key,
        options: &DeleteOptions,
        user: &User,
        now: Timestamp,
    ) -> Result<(Deleted, Vec<String>), ApiError> {
        let warnings = self
            .judge(|inner| {
                let old = inner.get(kind, key).ok()?;
                Some(Subject {
                    kind: kind.clone(),
                    namespace: key.namespace.clone(),
                    name: key.name.clone(),
                    subresource: String::new(),
                    operation: "DELETE",
                    object: Value::Null,
                    old_object: (*convert::served(kind, &old)).clone(),
                    dry_run: options.dry_run,
                    user: user.clone(),
                })
            })
            .await?;
        let deleted = self.write(|inner| inner.delete(kind, key, options, now))?;
        Ok((deleted, warnings))
    }

    /// One question, in the version that the webhook wants; the answer may be a changed object, in that of
    /// the request (mutating webhooks only).
    async fn ask_hook(
        &self,
        caller: &WebhookCaller,
        hook: &Hook,
        subject: &Subject,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Value>, ApiError> {
        if hook.kind.version == subject.kind.version {
            return ask(caller, hook, subject, subject, warnings).await;
        }
        let shown = Subject {
            kind: hook.kind.clone(),
            object: self.converted(&hook.kind, &subject.object).await?,
            old_object: self.converted(&hook.kind, &subject.old_object).await?,
            ..subject.clone()
        };
        match ask(caller, hook, subject, &shown, warnings).await? {
            Some(changed) => self.converted(&subject.kind, &changed).await.map(Some),
            None => Ok(None),
        }
    }

    /// An object, or nothing, in the version of a kind.
    async fn converted(&self, kind: &Kind, object: &Value) -> Result<Value, ApiError> {
        if object.is_null() {
            return Ok(Value::Null);
        }
        let converted = self.in_version(kind, vec![Arc::new(object.clone())]).await?;
        let converted = converted.into_iter().next().expect("one for one");
        Ok((*convert::served(kind, &converted)).clone())
    }
}

/// One question about what is `shown`; the answer may be a changed object in the same version.
async fn ask(
    caller: &WebhookCaller,
    hook: &Hook,
    subject: &Subject,
    shown: &Subject,
    warnings: &mut Vec<String>,
) -> Result<Option<Value>, ApiError> {
    let review = review::request(subject, shown, &hook.name);
    let call = WebhookCall { review, ..hook.call.clone() };
    let limit = Duration::from_secs(hook.timeout_seconds);
    let answer = tokio::select! {
        biased;
        answer = caller(call) => answer,
        () = tokio::time::sleep(limit) => Err("context deadline exceeded".to_owned()),
    };
    match answer {
        Ok(answer) => review::response(hook, shown, &answer, warnings),
        Err(_) if hook.ignores_failure => Ok(None),
        Err(why) => Err(review::failed(&hook.name, &why)),
    }
}

/// What an admission review shows of an object, if there is one.
pub(crate) fn shown(object: Option<&Object>) -> Value {
    object.map_or(Value::Null, |object| (**object).clone())
}
