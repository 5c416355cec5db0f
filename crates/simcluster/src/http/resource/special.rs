//! Subresources that are resources of their own: a Scale, an Eviction, a Binding.

use axum::response::Response;
use http::Method;

use super::Call;
use crate::admission::Subject;
use crate::error::ApiError;
use crate::eviction;
use crate::http::respond;
use crate::http::route::Form;
use crate::http::route::Resource;
use crate::http::typed;
use crate::http::{Asked, Skin};
use crate::kind::Kind;
use crate::object::{self, Key, PODS};
use crate::server::options::DeleteOptions;
use crate::server::options::WriteOptions;
use crate::server::scale::{self, How};
use crate::server::{decode, meta};

impl Call<'_> {
    pub(super) async fn scale(&self, name: &str) -> Result<Response, ApiError> {
        let how = match self.asked.method {
            Method::GET => {
                let object = self.skin.server.lock().get(&self.kind, &self.key(name))?;
                let shown = self.served(object).await?;
                let scale = scale::of(&self.kind, &shown)?;
                if self.form == Form::Table {
                    let table = respond::scale_table(scale, self.include(), self.now());
                    return Ok(respond::json(200, &table));
                }
                return Ok(respond::json(200, &scale));
            }
            Method::PUT => How::Replace(typed::read(self.asked, "Scale", true)?),
            Method::PATCH => How::Patch(self.patch_body(&self.kind)?),
            _ => return Err(ApiError::method_not_allowed()),
        };
        let options = self.write_options()?;
        let (key, now) = (self.key(name), self.now());
        let outcome = self
            .skin
            .server
            .submit(&self.kind, &options, now, |inner| {
                inner.prepare_scale(&self.kind, &key, &how, &options, now)
            })
            .await?;
        let shown = self.served(outcome.object).await?;
        let response = respond::json(200, &scale::of(&self.kind, &shown)?);
        Ok(respond::with_warnings(response, &outcome.warnings))
    }

    pub(super) async fn evict(&self, name: &str) -> Result<Response, ApiError> {
        if self.asked.method != Method::POST {
            return Err(ApiError::method_not_allowed());
        }
        let body = typed::read(self.asked, "Eviction", true)?;
        let written = self.write_options()?;
        let kind = Kind::behind("policy", "v1", "Eviction");
        decode::check_other(&self.skin.server.lock(), &kind, &body.value)?;
        let (mut body, told) = decode::read(&kind, &body, &written)?;
        let (key, now) = (self.key(name), self.now());
        meta::place(&kind, &mut body, &key.namespace)?;
        let mut options = DeleteOptions::read(&body["deleteOptions"]);
        options.dry_run |= written.dry_run;
        let warnings = self
            .skin
            .server
            .judge(|_| {
                Some(Subject {
                    subresource: "eviction".to_owned(),
                    operation: "CREATE",
                    object: body.clone(),
                    ..self.subject(name, options.dry_run)
                })
            })
            .await?;
        self.skin.server.write(|inner| inner.evict(&key, &body, &options, now))?;
        let warnings = [told, warnings].concat();
        Ok(respond::with_warnings(respond::json(201, &eviction::accepted()), &warnings))
    }
}

impl Skin {
    /// `/bindings`, as `pods/NAME/binding` was once called.
    pub(super) fn binding(&self, place: &Resource, asked: &Asked) -> Result<Response, ApiError> {
        let namespace = place.namespace.as_deref().unwrap_or_default();
        if place.name.is_some() || place.subresource.is_some() {
            return Err(ApiError::no_such_resource());
        }
        self.bind(asked, &Key::new(PODS, namespace, ""), false)
    }

    /// POST of a Binding; `named` when the path says which Pod it is.
    pub(super) fn bind(&self, asked: &Asked, key: &Key, named: bool) -> Result<Response, ApiError> {
        if asked.method != Method::POST {
            return Err(ApiError::method_not_allowed());
        }
        let body = typed::read(asked, "Binding", true)?.value;
        if named && object::name(&body) != key.name {
            let why = "name in URL does not match name in Binding object";
            return Err(ApiError::bad_request(why));
        }
        let key = Key::new(PODS, &key.namespace, object::name(&body));
        let options =
            WriteOptions::parse("Create", &asked.query, asked.header(http::header::USER_AGENT))?;
        let now = (self.clock)();
        self.server.write(|inner| inner.bind(&key, &body, &options, now))?;
        Ok(respond::json(201, &eviction::accepted()))
    }
}
