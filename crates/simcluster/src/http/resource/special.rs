//! Subresources that are resources of their own: a Scale, an Eviction.

use axum::response::Response;
use http::Method;

use super::Call;
use crate::admission::Subject;
use crate::error::ApiError;
use crate::eviction;
use crate::http::respond;
use crate::http::route::Form;
use crate::http::typed;
use crate::server::options::DeleteOptions;
use crate::server::scale::{self, How};

impl Call<'_> {
    pub(super) async fn scale(&self, name: &str) -> Result<Response, ApiError> {
        let how = match self.asked.method {
            Method::GET | Method::HEAD => {
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
        let body = typed::read(self.asked, "Eviction", true)?.value;
        let mut options = DeleteOptions::parse(&body["deleteOptions"], &[])?;
        options.dry_run |= self.write_options()?.dry_run;
        let (key, now) = (self.key(name), self.now());
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
        Ok(respond::with_warnings(respond::json(201, &eviction::accepted()), &warnings))
    }
}
