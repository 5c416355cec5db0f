//! Requests that delete.

use axum::response::Response;

use super::Call;
use crate::admission::Subject;
use crate::error::ApiError;
use crate::http::{respond, typed};
use crate::json::{Value, json};
use crate::object::Key;
use crate::server::delete::Deleted;
use crate::server::options::DeleteOptions;

impl Call<'_> {
    fn delete_options(&self) -> Result<DeleteOptions, ApiError> {
        if !self.asked.body.is_empty() {
            self.asked.readable(&self.kind)?;
        }
        DeleteOptions::parse(&typed::read_delete_options(self.asked)?, &self.asked.query)
    }

    /// Something that is not a plain write, as webhooks are told of it.
    pub(super) fn subject(&self, name: &str, dry_run: bool) -> Subject {
        Subject {
            kind: self.kind.clone(),
            namespace: self.namespace.clone().unwrap_or_default(),
            name: name.to_owned(),
            subresource: String::new(),
            operation: "DELETE",
            object: Value::Null,
            old_object: Value::Null,
            dry_run,
            user: self.asked.user.clone(),
        }
    }

    pub(super) async fn delete(&self, name: &str) -> Result<Response, ApiError> {
        let options = self.delete_options()?;
        let (key, now) = (self.key(name), self.now());
        let user = &self.asked.user;
        let (deleted, warnings) =
            self.skin.server.remove(&self.kind, &key, &options, user, now).await?;
        let response = match deleted {
            Deleted::Object(object) => self.show(200, &self.served(object).await?),
            Deleted::Gone(object) => {
                let mut details = self.kind.details(name);
                details["uid"] = object["metadata"]["uid"].clone();
                let status = json!({
                    "kind": "Status",
                    "apiVersion": "v1",
                    "metadata": {},
                    "status": "Success",
                    "details": details,
                });
                respond::json(200, &status)
            }
        };
        Ok(respond::with_warnings(response, &warnings))
    }

    pub(super) async fn delete_collection(&self) -> Result<Response, ApiError> {
        if self.kind.group.is_empty() && self.kind.plural == "namespaces" {
            return Err(ApiError::method_not_allowed());
        }
        let options = self.delete_options()?;
        let query = self.query();
        let now = self.now();
        let namespace = self.kind.namespaced.then_some(self.namespace.as_deref()).flatten();
        let server = &self.skin.server;
        let page = server.lock().list(&self.kind, namespace, &query)?;
        for object in &page.items {
            let (key, user) = (Key::of(self.kind.collection(), object), &self.asked.user);
            server.remove(&self.kind, &key, &options, user, now).await.map_err(|error| {
                // Here it is the kind that the real server names.
                let (found, named) = (self.kind.qualified(), &self.kind.kind);
                ApiError { message: error.message.replacen(&found, named, 1), ..error }
            })?;
        }
        Ok(respond::list(&self.kind, &page, self.form, self.include(), now))
    }
}
