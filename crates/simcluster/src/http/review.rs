//! Reviews of access and of oneself.

use axum::response::Response;
use http::{Method, header};
use serde_json::json;

use super::{Asked, Skin, respond};
use crate::error::ApiError;
use crate::kind::Kind;
use crate::server::options::WriteOptions;

impl Skin {
    /// Reviews of access and of oneself; they are answered and forgotten.
    pub(super) fn review(
        &self,
        group: &str,
        kind: &str,
        asked: &Asked,
    ) -> Result<Response, ApiError> {
        if asked.method != Method::POST {
            return Err(ApiError::method_not_allowed());
        }
        let mut review = asked.parse_body().map_err(ApiError::bad_request)?;
        if !review.is_object() {
            review = json!({});
        }
        review["kind"] = json!(kind);
        review["apiVersion"] = json!(format!("{group}/v1"));
        if kind == "SelfSubjectRulesReview" {
            review["status"] = json!({
                "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
                "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
                "incomplete": false,
            });
        } else if kind == "SelfSubjectReview" {
            review["status"] = json!({"userInfo": {
                "username": asked.user,
                "groups": ["system:masters", "system:authenticated"],
            }});
        } else {
            review["status"] = self.access.review(&asked.user, &review["spec"]);
        }
        let attributes = review.pointer_mut("/spec/resourceAttributes");
        if let Some(attributes) = attributes.and_then(|value| value.as_object_mut()) {
            attributes.retain(|_, value| value.as_str() != Some(""));
        }
        if !review["metadata"].is_object() {
            review["metadata"] = json!({});
        }
        let options = WriteOptions::parse(&asked.query, asked.header(header::USER_AGENT))?;
        let writer = crate::apply::Writer {
            manager: &options.manager,
            api_version: &format!("{group}/v1"),
            subresource: None,
            now: (self.clock)(),
        };
        crate::apply::track(&review_kind(group, kind), None, &mut review, &writer);
        Ok(respond::json(201, &review))
    }
}

/// A review is never stored; its kind only serves to say who wrote which field.
fn review_kind(group: &str, kind: &str) -> Kind {
    Kind {
        group: group.to_owned(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        list_kind: String::new(),
        plural: String::new(),
        singular: String::new(),
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced: false,
        has_status: true,
        scale: None,
        storage_hash: String::new(),
        custom: None,
    }
}
