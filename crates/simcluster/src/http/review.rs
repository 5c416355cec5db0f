//! Reviews of access and of oneself.

use axum::response::Response;
use http::{Method, header};

use super::discovery::Fleeting;
use super::{Asked, Skin, respond};
use crate::admission::user_info;
use crate::authorization::{self, User, Wish};
use crate::error::ApiError;
use crate::json::{Value, json};
use crate::server::options::WriteOptions;

impl Skin {
    /// Reviews of access and of oneself; they are answered and forgotten.
    pub(super) fn review(&self, what: &Fleeting, asked: &Asked) -> Result<Response, ApiError> {
        let (group, kind) = (what.group, what.kind);
        if asked.method != Method::POST {
            return Err(ApiError::method_not_allowed());
        }
        let mut review =
            asked.read_any_body().map_err(|error| ApiError::bad_request(error.to_string()))?;
        if !review.is_object() {
            review = json!({});
        }
        review["kind"] = json!(kind);
        review["apiVersion"] = json!(format!("{group}/v1"));
        if kind == "SelfSubjectRulesReview" {
            let namespace = review["spec"]["namespace"].as_str().unwrap_or_default();
            review["status"] =
                authorization::rules_status(&self.server.view(), &asked.user, namespace);
        } else if kind == "TokenReview" {
            let token = review["spec"]["token"].as_str().unwrap_or_default();
            review["status"] = match self.access.holder(token, self.seed, (self.clock)()) {
                Some(user) => json!({"authenticated": true, "user": user_info(&user)}),
                None => json!({"user": {}, "error": "the token is not of this cluster"}),
            };
        } else if kind == "SelfSubjectReview" {
            review["status"] = json!({"userInfo": user_info(&asked.user)});
            let now = crate::server::meta::stamp((self.clock)());
            review["metadata"] = json!({"creationTimestamp": now});
        } else {
            let user = if kind == "SelfSubjectAccessReview" {
                asked.user.clone()
            } else {
                reviewed(&review["spec"])
            };
            let wish = Wish::of_review(&review["spec"]);
            let verdict = self.access.verdict(&self.server.view(), &user, &wish);
            review["status"] = authorization::status(&verdict);
        }
        let attributes = review.pointer_mut("/spec/resourceAttributes");
        if let Some(attributes) = attributes.and_then(|value| value.as_object_mut()) {
            attributes.retain(|_, value| value.as_str() != Some(""));
        }
        if !review["metadata"].is_object() {
            review["metadata"] = json!({});
        }
        let options =
            WriteOptions::parse("Create", &asked.query, asked.header(header::USER_AGENT))?;
        let writer = crate::apply::Writer {
            manager: &options.manager,
            api_version: &format!("{group}/v1"),
            subresource: None,
            now: (self.clock)(),
        };
        crate::apply::track(&what.to_kind(), None, &mut review, &writer);
        Ok(respond::json(201, &review))
    }
}

/// The user that a review asks about.
fn reviewed(spec: &Value) -> User {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let groups = spec["groups"].as_array().into_iter().flatten().map(text).collect();
    User { name: text(&spec["user"]), uid: text(&spec["uid"]), groups, ..User::default() }
}
