//! PATCH: four kinds of patch, each turned into a new object over the stored one.

use std::sync::Arc;

use jiff::Timestamp;

use super::{Inner, decode, meta};
use crate::body::{self, Body};
use crate::error::{ApiError, Cause};
use crate::json::{Value, json};
use crate::kind::Kind;
use crate::object::{self, Key};
use crate::patch::shown::{self, Touch};
use crate::server::options::{FieldValidation, WriteOptions};
use crate::server::part::Part;
use crate::server::write::Attempt;
use crate::{patch, types};

/// The kinds of patch, by media type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchType {
    /// RFC 6902.
    Json,
    /// RFC 7386.
    Merge,
    /// Lists merge by key.
    Strategic,
    /// Server-side apply.
    Apply,
}

impl PatchType {
    /// From a media type; custom kinds have no strategic merge.
    pub fn parse(media_type: &str, kind: &Kind) -> Result<Self, ApiError> {
        let custom = kind.custom.is_some();
        Ok(match media_type {
            "application/json-patch+json" => Self::Json,
            "application/merge-patch+json" => Self::Merge,
            "application/strategic-merge-patch+json" if !custom => Self::Strategic,
            "application/apply-patch+yaml" => Self::Apply,
            // Said by whoever knows the paths of the built-in kinds.
            _ if !custom => {
                let error =
                    ApiError::new(415, "UnsupportedMediaType", "415: Unsupported Media Type");
                return Err(error.with_details(json!({})));
            }
            _ => {
                return Err(ApiError::unsupported_media_type(
                    "application/json-patch+json, application/merge-patch+json, \
                     application/apply-patch+yaml",
                ));
            }
        })
    }
}

/// A patch that was read.
#[derive(Clone, Debug)]
pub struct Patch {
    /// Its kind.
    pub type_: PatchType,
    body: Body,
}

impl Patch {
    /// A body as a patch of this kind.
    pub fn read(type_: PatchType, mut body: Body) -> Result<Self, ApiError> {
        let null = body.value.is_null();
        match type_ {
            PatchType::Merge if null => return Err(ApiError::bad_request("Invalid JSON Patch")),
            PatchType::Merge => {}
            PatchType::Json if null => body.value = json!([]),
            PatchType::Json => {}
            PatchType::Strategic | PatchType::Apply if null => body.value = json!({}),
            PatchType::Strategic | PatchType::Apply => {
                if !body.value.is_object() {
                    let yaml =
                        "error decoding YAML: error unmarshaling JSON: while decoding JSON: ";
                    let about = if type_ == PatchType::Apply { yaml } else { "" };
                    let why = cannot(&body.value, "map[string]interface {}");
                    return Err(ApiError::bad_request(format!("{about}{why}")));
                }
            }
        }
        Ok(Self { type_, body })
    }

    /// What it says.
    pub fn value(&self) -> &Value {
        &self.body.value
    }

    /// What a refusal shows of the object that it made: of a strategic merge the patch instead.
    pub(super) fn shown(&self, kind: &Kind, object: &Value) -> String {
        let touch = match self.type_ {
            PatchType::Strategic => return body::go::shown(self.value()),
            PatchType::Json => Touch::json(&self.body.text()),
            PatchType::Merge | PatchType::Apply => Touch::merge(self.value()),
        };
        let ty =
            kind.custom.is_none().then(|| types::of_kind(&kind.group, &kind.version, &kind.kind));
        shown::text(ty.flatten(), object, &touch)
    }

    /// What it tells twice, and what an operation of a JSON patch has too much.
    pub(super) fn complaints(&self) -> Vec<String> {
        if self.type_ != PatchType::Json {
            return self.body.twice();
        }
        let operations = || self.value().as_array().into_iter().flatten().enumerate();
        let mut out: Vec<String> = self
            .body
            .twice_at()
            .map(|path| format!("json patch duplicate field \"{path}\""))
            .collect();
        for (index, operation) in operations() {
            for key in operation.as_object().into_iter().flatten().map(|(key, _)| key) {
                if !matches!(key.as_str(), "op" | "path" | "from" | "value") {
                    out.push(format!("json patch unknown field \"[{index}].{key}\""));
                }
            }
        }
        // What is put in as it stands is told twice there as well.
        for (index, operation) in operations() {
            let path = operation["path"].as_str().unwrap_or_default();
            let (path, within) =
                (path.trim_start_matches('/').replace('/', "."), format!("[{index}].value."));
            let twice = self.body.twice_at().filter_map(|twice| twice.strip_prefix(&within));
            out.extend(twice.map(|rest| format!("duplicate field \"{path}.{rest}\"")));
        }
        out
    }
}

/// Applies a patch that is not an apply.
pub fn patched(
    kind: &Kind,
    type_: PatchType,
    current: &Value,
    body: &Value,
) -> Result<Value, ApiError> {
    match type_ {
        PatchType::Json if !body.is_array() => Err(undecodable(body, "[]handlers.jsonPatchOp")),
        PatchType::Merge if !body.is_object() => Err(undecodable(body, "map[string]interface {}")),
        PatchType::Json => patch::json::apply(current, body),
        PatchType::Merge => Ok(patch::merge::apply(current, body)),
        PatchType::Strategic => patch::strategic::apply(kind, current, body),
        PatchType::Apply => Err(ApiError::internal("an apply is no plain patch")),
    }
}

/// What a built-in type does not write when it is empty.
fn without_empty(kind: &Kind, merged: &mut Value) -> Result<(), ApiError> {
    if kind.custom.is_some() {
        return Ok(());
    }
    let unreadable = |error: crate::types::DecodeError| ApiError::internal(error.to_string());
    crate::conform::decode(kind, merged).map(drop).map_err(unreadable)
}

/// 400: a patch that is not of the shape of its type.
fn undecodable(body: &Value, go_type: &str) -> ApiError {
    ApiError::bad_request(format!("error decoding patch: {}", cannot(body, go_type)))
}

fn cannot(found: &Value, go_type: &str) -> String {
    format!("json: cannot unmarshal {} into Go value of type {go_type}", body::go_kind(found))
}

impl Inner {
    /// A patched object over the stored one; an apply may also make a new one.
    pub fn prepare_patch(
        &mut self,
        kind: &Arc<Kind>,
        key: &Key,
        part: Part,
        patch: &Patch,
        options: &WriteOptions,
        now: Timestamp,
    ) -> Result<Attempt, ApiError> {
        let (type_, body) = (patch.type_, patch.value());
        if type_ == PatchType::Apply {
            let mut attempt = self.prepare_apply(kind, key, part, body, options, now)?;
            let strict = options.field_validation == FieldValidation::Strict;
            if let Some(twice) = patch.body.twice_refused().first().filter(|_| strict) {
                return Err(ApiError::bad_request(format!(
                    "error strict decoding YAML: error converting YAML to JSON: {twice}"
                )));
            }
            attempt.warnings.splice(0..0, decode::heeded(patch.body.twice(), options));
            return Ok(attempt);
        }
        if options.force {
            return Err(ApiError::new(
                422,
                "Invalid",
                "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified \
                 for non-apply patch",
            )
            .with_details(json!({"group": "meta.k8s.io", "kind": "PatchOptions"}))
            .with_causes(vec![Cause::new(
                "FieldValueForbidden",
                "Forbidden: may not be specified for non-apply patch",
                "force",
            )]));
        }
        let before = self.get(kind, key)?;
        let current = self.served(kind, &before);
        let (mut after, warnings) = decode::read_patched(kind, &current, patch, options)?;
        let twice = meta::single_owners(&mut after, meta::AFTER_ADMISSION);
        let mut attempt = self.prepare_change(kind, key, part, after, now)?;
        attempt.warnings = warnings.into_iter().chain(twice).collect();
        Ok(attempt)
    }

    pub(super) fn prepare_apply(
        &mut self,
        kind: &Arc<Kind>,
        key: &Key,
        part: Part,
        body: &Value,
        options: &WriteOptions,
        now: Timestamp,
    ) -> Result<Attempt, ApiError> {
        if !options.manager_given {
            return Err(ApiError::new(
                422,
                "Invalid",
                "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is \
                 required for apply patch",
            )
            .with_details(json!({"group": "meta.k8s.io", "kind": "PatchOptions"}))
            .with_causes(vec![Cause::new(
                "FieldValueRequired",
                "Required value: is required for apply patch",
                "fieldManager",
            )]));
        }
        let body = body.clone();
        let given = object::name(&body);
        if !given.is_empty() && given != key.name {
            return Err(ApiError::bad_request(format!(
                "the name of the object ({given}) does not match the name on the URL ({})",
                key.name
            )));
        }
        if body["metadata"].get("managedFields").is_some_and(|fields| !fields.is_null()) {
            return Err(ApiError::bad_request("metadata.managedFields must be nil"));
        }
        if body["apiVersion"].as_str().unwrap_or_default().is_empty() {
            return Err(ApiError::bad_request(format!(
                "invalid object type: /, Kind={}",
                body["kind"].as_str().unwrap_or_default()
            )));
        }
        let sent = body.clone();
        decode::check_applied(kind, &body, key)?;
        crate::apply::fits(kind, &sent)?;
        let (read, warnings) = decode::read(kind, &Body::of(body), options)?;
        // Decoding drops what is empty; who applies an empty map owns it all the same.
        let mut body = if kind.custom.is_none() { sent } else { read };
        meta::place(kind, &mut body, &key.namespace)?;
        body["metadata"]["name"] = json!(key.name);
        let before = self.store.find(&key.collection, &key.namespace, &key.name).cloned();
        let writer = crate::apply::Writer {
            manager: &options.manager,
            api_version: &kind.api_version(),
            subresource: (part != Part::Main).then(|| part.as_str()),
            now,
        };
        let Some(before) = before else {
            if part != Part::Main {
                return Err(ApiError::not_found(kind, &key.name));
            }
            let uid = object::uid(&body);
            if !uid.is_empty() {
                let why = format!(
                    "uid mismatch: the provided object specified uid {uid}, and no existing object \
                     was found"
                );
                return Err(ApiError::conflict(kind, &key.name, &why));
            }
            let mut merged = crate::apply::apply(kind, None, &body, &writer, options.force)?;
            without_empty(kind, &mut merged)?;
            let mut attempt = self.prepare_create(kind, &key.namespace, merged, options, now)?;
            attempt.tracked = true;
            attempt.warnings = warnings;
            return Ok(attempt);
        };
        let shown = self.served(kind, &before);
        let mut merged = crate::apply::apply(kind, Some(&shown), &body, &writer, options.force)?;
        without_empty(kind, &mut merged)?;
        let mut attempt = self.prepare_change(kind, key, part, merged, now)?;
        attempt.tracked = true;
        attempt.warnings = warnings;
        Ok(attempt)
    }
}
