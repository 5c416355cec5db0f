//! `serviceaccounts/token`: tokens for whoever is to act as a ServiceAccount.

use axum::response::Response;
use http::Method;
use jiff::SignedDuration;

use super::{Asked, Skin, respond};
use crate::authorization::token;
use crate::error::{ApiError, Cause};
use crate::json::{Value, json};
use crate::kind::Kind;
use crate::object::{self, Key};
use crate::server::meta;

/// How long a token is good for when nobody says.
const HOUR: i64 = 3600;
/// The shortest time that may be asked for.
const LEAST: i64 = 600;

impl Skin {
    /// What a token is bound to has to be there.
    fn bound(&self, to: &Value, namespace: &str) -> Result<(), ApiError> {
        let (plural, namespace) = match to["kind"].as_str() {
            Some("Pod") => ("pods", namespace),
            Some("Secret") => ("secrets", namespace),
            Some("Node") => ("nodes", ""),
            _ => return Ok(()),
        };
        let inner = self.server.lock();
        let Some(kind) = inner.registry.find("", "v1", plural) else { return Ok(()) };
        let name = to["name"].as_str().unwrap_or_default();
        inner.get(kind, &Key::new(kind.collection(), namespace, name)).map(|_| ())
    }

    pub(super) fn token(
        &self,
        asked: &Asked,
        kind: &Kind,
        key: &Key,
    ) -> Result<Response, ApiError> {
        if asked.method != Method::POST {
            return Err(ApiError::method_not_allowed());
        }
        let request =
            asked.read_any_body().map_err(|error| ApiError::bad_request(error.to_string()))?;
        let seconds = request["spec"]["expirationSeconds"].as_i64().unwrap_or(HOUR);
        if seconds < LEAST {
            let message = format!(
                "Invalid value: {seconds}: may not specify a duration less than 10 minutes"
            );
            let text = format!(
                "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: \
                 {message}"
            );
            let cause = Cause::new("FieldValueInvalid", message, "spec.expirationSeconds");
            return Err(ApiError::new(422, "Invalid", text)
                .with_details(json!({"group": "authentication.k8s.io", "kind": "TokenRequest"}))
                .with_causes(vec![cause]));
        }
        let account = self.server.lock().get(kind, key)?;
        self.bound(&request["spec"]["boundObjectRef"], &key.namespace)?;
        let now = (self.clock)();
        let until = now.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(now);
        let uid = object::uid(&account);
        let token = token::mint(self.seed, &key.namespace, &key.name, uid, until);
        let audiences = match &request["spec"]["audiences"] {
            given if given.as_array().is_some_and(|list| !list.is_empty()) => given.clone(),
            _ => json!(["https://kubernetes.default.svc"]),
        };
        let answer = json!({
            "kind": "TokenRequest",
            "apiVersion": "authentication.k8s.io/v1",
            "metadata": {
                "name": key.name,
                "namespace": key.namespace,
                "creationTimestamp": meta::stamp(now),
            },
            "spec": {"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": null},
            "status": {"token": token, "expirationTimestamp": meta::stamp(until)},
        });
        Ok(respond::json(201, &answer))
    }
}
