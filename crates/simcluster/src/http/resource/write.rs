//! Requests that create, replace and patch.

use axum::response::Response;

use super::Call;
use crate::authorization::escalate;
use crate::error::ApiError;
use crate::http::typed;
use crate::json::Value;
use crate::kind::Kind;
use crate::server::options::WriteOptions;
use crate::server::part::Part;
use crate::server::patch::{Patch, PatchType};
use crate::server::write::Attempt;
use crate::server::{Inner, decode};

impl Call<'_> {
    /// The body of a create or update: an object of the kind.
    fn read_body(&self, options: &WriteOptions) -> Result<(Value, Vec<String>), ApiError> {
        let kind = &self.kind;
        self.asked.readable(kind)?;
        let body = typed::read(self.asked, &kind.kind, kind.custom.is_none())?;
        if kind.custom.is_some() && body.value["kind"].as_str().unwrap_or_default().is_empty() {
            let why = format!("Object 'Kind' is missing in '{}'", body.value);
            return Err(typed::unrecognized(self.asked, &kind.kind, &why));
        }
        {
            let inner = self.skin.server.lock();
            decode::check_kind(kind, &body.value, |api_version, kind| {
                inner.registry.by_kind(api_version, kind).is_some()
            })?;
        }
        decode::read(kind, &body, options)
    }

    /// Nobody writes rights that he does not have.
    fn may_give(&self, inner: &Inner, attempt: Attempt) -> Result<Attempt, ApiError> {
        let before = attempt.before.as_deref();
        let user = &self.asked.user;
        escalate::check(&inner.store, user, &self.kind, &attempt.after, before)?;
        Ok(attempt)
    }

    pub(super) async fn create(&self) -> Result<Response, ApiError> {
        let options = self.write_options()?;
        let (object, warnings) = self.read_body(&options)?;
        let now = self.now();
        let namespace = self.namespace.as_deref().unwrap_or_default();
        let mut outcome = self
            .skin
            .server
            .submit(&self.kind, &options, now, |inner| {
                let attempt =
                    inner.prepare_create(&self.kind, namespace, object.clone(), &options, now)?;
                self.may_give(inner, attempt)
            })
            .await
            .map_err(|error| error.after_warnings(&warnings))?;
        outcome.warnings.splice(0..0, warnings);
        self.answer(outcome).await
    }

    pub(super) async fn update(&self, name: &str, part: Part) -> Result<Response, ApiError> {
        let options = self.write_options()?;
        let (object, warnings) = self.read_body(&options)?;
        let key = self.key(name);
        let mut outcome = self
            .skin
            .server
            .submit(&self.kind, &options, self.now(), |inner| {
                let attempt =
                    inner.prepare_update(&self.kind, &key, part, object.clone(), self.now())?;
                self.may_give(inner, attempt)
            })
            .await
            .map_err(|error| error.after_warnings(&warnings))?;
        outcome.warnings.splice(0..0, warnings);
        self.answer(outcome).await
    }

    pub(super) fn patch_body(&self, kind: &Kind) -> Result<Patch, ApiError> {
        let type_ = PatchType::parse(&self.asked.media_type(), kind)?;
        let body = self.asked.read_body(false).map_err(|error| {
            let about = match type_ {
                PatchType::Strategic => "",
                PatchType::Apply => "error decoding YAML: error converting YAML to JSON: ",
                _ => "error decoding patch: ",
            };
            ApiError::bad_request(format!("{about}{error}"))
        })?;
        Patch::read(type_, body)
    }

    pub(super) async fn patch(&self, name: &str, part: Part) -> Result<Response, ApiError> {
        let patch = self.patch_body(&self.kind)?;
        let options = self.write_options()?;
        let (key, now) = (self.key(name), self.now());
        let outcome = self
            .skin
            .server
            .submit(&self.kind, &options, now, |inner| {
                let attempt = inner.prepare_patch(&self.kind, &key, part, &patch, &options, now)?;
                self.may_give(inner, attempt)
            })
            .await?;
        self.answer(outcome).await
    }
}
