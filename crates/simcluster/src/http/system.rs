//! What is not an object: discovery, version, health.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::response::Response;
use http::{Method, header};

use super::{Asked, Skin, discovery, respond, text};
use crate::error::ApiError;
use crate::http::route::{self, Form, Target};
use crate::json::json;
use crate::openapi;

impl Skin {
    pub(crate) fn system(&self, target: &Target, asked: &Asked) -> Result<Response, ApiError> {
        let accept = asked.header(header::ACCEPT);
        let missing = || text(404, "404 page not found\n");
        // These answer to whatever method.
        match target {
            Target::Index => return Ok(self.index()),
            Target::Health(path) => return Ok(health(path, asked).unwrap_or_else(missing)),
            Target::OpenApi(path) => return Ok(self.openapi(path, accept).unwrap_or_else(missing)),
            Target::Unknown => return Ok(missing()),
            Target::Nowhere(group) => return self.nowhere(group),
            _ => {}
        }
        if asked.method != Method::GET {
            return Err(ApiError::method_not_allowed());
        }
        let form = route::negotiate(accept, true)?;
        Ok(match target {
            Target::Version => respond::raw(200, "application/json", VERSION.into()),
            Target::Versions | Target::Groups => {
                let core = *target == Target::Versions;
                let inner = self.server.lock();
                if form == Form::Discovery {
                    return Ok(aggregated(&discovery::aggregated(&inner.registry, core)));
                }
                let body = if core {
                    discovery::versions(&self.address)
                } else {
                    discovery::group_list(&inner.registry)
                };
                respond::json(200, &body)
            }
            Target::Group(group) => match discovery::group(&self.server.lock().registry, group) {
                Some(body) => respond::json(200, &body),
                None => missing(),
            },
            Target::Resources(group, version) => {
                let found = discovery::resources(&self.server.lock().registry, group, version);
                match found {
                    Some(body) => respond::json(200, &body),
                    None => return self.nowhere(group),
                }
            }
            _ => missing(),
        })
    }

    /// Where a group has nothing: it says so itself, if it is one of the server's own.
    pub(super) fn nowhere(&self, group: &str) -> Result<Response, ApiError> {
        let own = self.server.lock().registry.is_own(group);
        if own { Err(ApiError::no_such_resource()) } else { Ok(text(404, "404 page not found\n")) }
    }

    /// `/`: every path that leads somewhere.
    fn index(&self) -> Response {
        let mut paths: BTreeSet<String> = PATHS.iter().map(|&path| path.to_owned()).collect();
        for health in HEALTH {
            paths.insert(format!("/{health}"));
            paths.extend(CHECKS.iter().map(|check| format!("/{health}/{check}")));
        }
        for (group, versions) in discovery::groups(&self.server.lock().registry) {
            paths.extend(versions.iter().map(|version| format!("/apis/{group}/{version}")));
            paths.insert(format!("/apis/{group}"));
        }
        let text = serde_json::to_string_pretty(&json!({"paths": paths}));
        respond::raw(200, "application/json", text.unwrap_or_default().into())
    }

    /// `/openapi/v3` and its documents; of v2 one document, which says nothing in protobuf.
    fn openapi(&self, path: &str, accept: &str) -> Option<Response> {
        let mut kinds: Vec<_> = self.server.lock().registry.iter().cloned().collect();
        kinds.extend(discovery::FLEETING.iter().map(|one| Arc::new(one.to_kind())));
        if path == "v2" {
            let json = !accept.contains("protobuf");
            return Some(if json {
                respond::json(200, &openapi::v2(&kinds))
            } else {
                openapi_v2()
            });
        }
        let mut parts = path.split('/');
        if parts.next() != Some("v3") {
            return None;
        }
        let parts: Vec<&str> = parts.collect();
        let document = match parts.as_slice() {
            [] => {
                let index = openapi::index(&kinds);
                return Some(text(200, index.to_string()));
            }
            ["api", version] => openapi::document(&kinds, "", version),
            ["apis", group, version] => openapi::document(&kinds, group, version),
            _ => None,
        };
        document.map(|document| respond::json(200, &document))
    }
}

/// `kubectl` reads v2 for a kind that v3 does not have, such as that of a definition that is not
/// installed yet. With an answer it goes on and says so; without one it speaks of validation.
fn openapi_v2() -> Response {
    let mut response = text(200, String::new());
    *response.body_mut() = openapi::EMPTY_V2.into();
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static(
            "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
        ),
    );
    response
}

fn aggregated(body: &crate::json::Value) -> Response {
    let mut response = respond::json(200, body);
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static(
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        ),
    );
    headers.insert(header::CACHE_CONTROL, header::HeaderValue::from_static("public"));
    headers.insert(header::VARY, header::HeaderValue::from_static("Accept"));
    response
}

/// As the server prints it: for people, in the order of its struct.
const VERSION: &str = r#"{
  "major": "1",
  "minor": "36",
  "emulationMajor": "1",
  "emulationMinor": "36",
  "minCompatibilityMajor": "1",
  "minCompatibilityMinor": "35",
  "gitVersion": "v1.36.3",
  "gitCommit": "$Format:%H$",
  "gitTreeState": "clean",
  "buildDate": "1970-01-01T00:00:00Z",
  "goVersion": "go1.26.8",
  "compiler": "gc",
  "platform": "linux/amd64"
}"#;

/// What is looked after; each check has a path of its own.
const CHECKS: [&str; 3] = ["ping", "log", "etcd"];
const HEALTH: [&str; 3] = ["healthz", "livez", "readyz"];

/// What `/` names beside health and the groups.
const PATHS: [&str; 8] = [
    "/api",
    "/api/v1",
    "/apis",
    "/apis/",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/",
    "/version",
];

fn health(path: &str, asked: &Asked) -> Option<Response> {
    let (which, check) = path.split_once('/').map_or((path, None), |(a, b)| (a, Some(b)));
    if let Some(check) = check {
        return CHECKS.contains(&check).then(|| text(200, "ok"));
    }
    if asked.query.iter().any(|(key, _)| key == "verbose") {
        let checks: String = CHECKS.iter().map(|check| format!("[+]{check} ok\n")).collect();
        return Some(text(200, format!("{checks}{which} check passed\n")));
    }
    Some(text(200, "ok"))
}
