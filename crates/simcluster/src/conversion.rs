//! Conversion webhooks: objects in another version than the one that they are stored in.
//!
//! A webhook is asked outside the lock, as admission is. What a write is prepared against has to be
//! there in the version of the request while the lock is held: so it is prepared once to find out
//! what is wanted, and once more when that has been converted.

use std::sync::Arc;
use std::time::Duration;

use crate::admission::WebhookCall;
use crate::error::ApiError;
use crate::json::{Value, json};
use crate::kind::Kind;
use crate::object::{self, Object};
use crate::server::{Inner, Server, convert, meta};

/// How long the real server waits for an answer.
const LIMIT: Duration = Duration::from_secs(30);

/// What stands between the two looks of a write.
#[derive(Debug, Default)]
pub struct Converted {
    /// A stored object, and the same in the version of the request.
    ready: Option<(Object, Object)>,
    /// A stored object that was wanted in another version and was not there.
    wanted: Option<Object>,
}

/// The webhook of a kind whose versions are more than labels.
pub(crate) fn webhook(kind: &Kind) -> Option<&Value> {
    kind.custom.as_ref()?.conversion.as_deref()
}

/// Whether an object of this kind has to be converted before it is stored.
pub(crate) fn before_storage(kind: &Kind) -> bool {
    webhook(kind).is_some() && !kind.is_stored()
}

fn says(object: &Value) -> &str {
    object["apiVersion"].as_str().unwrap_or_default()
}

impl Inner {
    /// A stored object in the version of `kind`; noted as wanted where only its webhook can say.
    pub(crate) fn served(&mut self, kind: &Kind, stored: &Object) -> Object {
        let version = kind.api_version();
        if webhook(kind).is_none() || says(stored) == version {
            return convert::served(kind, stored);
        }
        match &self.converted.ready {
            Some((of, shown)) if Arc::ptr_eq(of, stored) && says(shown) == version => shown.clone(),
            _ => {
                self.converted.wanted = Some(stored.clone());
                convert::served(kind, stored)
            }
        }
    }

    /// Hands in what a look before this one wanted.
    pub(crate) fn bring(&mut self, ready: Option<(Object, Object)>) {
        self.converted = Converted { ready, wanted: None };
    }

    /// What was wanted and was not there.
    pub(crate) fn wanted(&mut self) -> Option<Object> {
        self.converted.wanted.take()
    }
}

impl Server {
    /// Objects in the version of `kind`; those that are in it stay what they are.
    pub(crate) async fn in_version(
        &self,
        kind: &Kind,
        objects: Vec<Object>,
    ) -> Result<Vec<Object>, ApiError> {
        let version = kind.api_version();
        let other = |object: &&Object| says(object) != version;
        let Some(webhook) = webhook(kind).filter(|_| objects.iter().any(|one| other(&one))) else {
            return Ok(objects);
        };
        let old: Vec<Value> =
            objects.iter().filter(other).map(|object| (**object).clone()).collect();
        let mut new = self.ask(webhook, kind, &version, old).await?.into_iter();
        let converted = objects.into_iter().map(|object| {
            if says(&object) == version {
                return object;
            }
            Arc::new(new.next().expect("the answer has as many as were asked about"))
        });
        Ok(converted.collect())
    }

    /// An object in the version in which its kind is stored.
    pub(crate) async fn in_storage(&self, kind: &Kind, object: Value) -> Result<Value, ApiError> {
        let stored = kind.custom.as_ref().map(|custom| custom.storage_version.as_str());
        let (Some(webhook), Some(stored)) = (webhook(kind), stored) else { return Ok(object) };
        let version = format!("{}/{stored}", kind.group);
        if says(&object) == version {
            return Ok(object);
        }
        let mut new = self.ask(webhook, kind, &version, vec![object]).await?;
        Ok(new.pop().expect("the answer has as many as were asked about"))
    }

    async fn ask(
        &self,
        webhook: &Value,
        kind: &Kind,
        version: &str,
        objects: Vec<Value>,
    ) -> Result<Vec<Value>, ApiError> {
        let from = objects.first().map(says).unwrap_or_default().to_owned();
        let failed = |why: &str| {
            let name = &kind.kind;
            ApiError::internal(format!("conversion webhook for {from}, Kind={name} failed: {why}"))
        };
        let caller = self.webhook_caller().ok_or_else(|| failed("nothing carries the call"))?;
        let uid = question_uid(version, &objects);
        let review = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "ConversionReview",
            "request": {"uid": uid, "desiredAPIVersion": version, "objects": objects},
        });
        let call = WebhookCall { review, ..WebhookCall::to(&webhook["clientConfig"]) };
        let answer = tokio::select! {
            biased;
            answer = caller(call) => answer,
            () = tokio::time::sleep(LIMIT) => Err("context deadline exceeded".to_owned()),
        };
        let answer = answer.map_err(|why| failed(&why))?;
        let response = &answer["response"];
        if response["uid"] != uid {
            let given = response["uid"].as_str().unwrap_or_default();
            return Err(failed(&format!("expected response.uid={uid:?}, got {given:?}")));
        }
        let result = &response["result"];
        if result["status"] != "Success" {
            return Err(failed(result["message"].as_str().unwrap_or_default()));
        }
        let new = response["convertedObjects"].as_array().cloned().unwrap_or_default();
        if new.len() != objects.len() {
            let (wanted, given) = (objects.len(), new.len());
            return Err(failed(&format!("webhook returned {given} objects, expected {wanted}")));
        }
        let pairs = objects.iter().zip(new).enumerate();
        pairs
            .map(|(at, (old, new))| settle(old, new, version, at).map_err(|why| failed(&why)))
            .collect()
    }
}

/// A converted object, with the metadata that a webhook may not touch.
fn settle(old: &Value, mut new: Value, version: &str, at: usize) -> Result<Value, String> {
    if says(&new) != version {
        let given = says(&new);
        return Err(format!(
            "invalid converted object at index {at}: invalid groupVersion (expected {version}, \
             received {given})"
        ));
    }
    for (field, what) in
        [("kind", "kind"), ("name", "name"), ("namespace", "namespace"), ("uid", "UID")]
    {
        let read = |object: &Value| match field {
            "kind" => object["kind"].clone(),
            _ => object["metadata"][field].clone(),
        };
        if read(old) != read(&new) {
            return Err(format!(
                "invalid metadata of object at index {at}: must have the same {what}"
            ));
        }
    }
    let mut metadata = old["metadata"].clone();
    for field in ["labels", "annotations"] {
        match new["metadata"].get(field) {
            Some(value) => metadata[field] = value.clone(),
            None => {
                metadata.as_object_mut().map(|map| map.remove(field));
            }
        }
    }
    new["metadata"] = metadata;
    Ok(new)
}

/// A UID that is the same when the same history asks the same question.
fn question_uid(version: &str, objects: &[Value]) -> String {
    let parts = objects.iter().flat_map(|one| [object::uid(one), object::resource_version(one)]);
    let hash = std::iter::once(version)
        .chain(parts)
        .flat_map(|part| part.bytes().chain([0]))
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, b| {
            (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
        });
    meta::new_uid(&mut fastrand::Rng::with_seed(hash))
}
