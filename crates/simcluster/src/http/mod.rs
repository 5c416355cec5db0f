//! The HTTP skin: an axum Router over the synchronous server.

pub mod access;
pub mod discovery;
mod resource;
pub mod respond;
mod review;
pub mod route;
mod system;
mod token;
mod watch;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, Method, header};
use http_body_util::{BodyExt, Limited};
use jiff::Timestamp;
use serde_json::Value;

use crate::authorization::User;
use crate::error::ApiError;
use crate::http::access::Access;
use crate::http::route::Target;
use crate::protobuf;
use crate::server::Server;
use crate::server::read::ListQuery;

/// Where the time comes from above the synchronous core.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The real server's limit on a request body.
const BODY_LIMIT: usize = 3 * 1024 * 1024;

/// The skin's state, shared by all requests.
#[derive(Clone)]
pub struct Skin {
    pub(crate) server: Arc<Server>,
    pub(crate) clock: Clock,
    /// What `/api` says that the address is.
    pub(crate) address: String,
    pub(crate) access: Arc<Access>,
    /// What tokens of ServiceAccounts are known by.
    pub(crate) seed: u64,
}

/// One request, read.
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) user: User,
}

impl Asked {
    pub(crate) fn header(&self, name: header::HeaderName) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The media type of the body without parameters.
    pub(crate) fn media_type(&self) -> &str {
        self.header(header::CONTENT_TYPE).split(';').next().unwrap_or_default().trim()
    }

    /// The body as JSON, whichever of JSON and YAML it is in; `null` when empty.
    pub(crate) fn parse_body(&self) -> Result<Value, String> {
        if self.body.is_empty() {
            return Ok(Value::Null);
        }
        if self.media_type() == protobuf::MEDIA_TYPE {
            return protobuf::decode(&self.body)
                .ok_or_else(|| "this kind is not understood as protobuf".to_owned());
        }
        if matches!(
            self.media_type(),
            "application/yaml" | "text/yaml" | "application/apply-patch+yaml"
        ) {
            let text = std::str::from_utf8(&self.body).map_err(|error| error.to_string())?;
            return serde_saphyr::from_str(text).map_err(|error| error.to_string());
        }
        serde_json::from_slice(&self.body).map_err(|error| go_words(&error, &self.body))
    }
}

/// What Go's decoder would say about malformed JSON.
fn go_words(error: &serde_json::Error, body: &[u8]) -> String {
    if error.is_eof() {
        return "unexpected end of JSON input".to_owned();
    }
    let line_start = body
        .split_inclusive(|&b| b == b'\n')
        .take(error.line().saturating_sub(1))
        .map(<[u8]>::len)
        .sum::<usize>();
    let at = line_start + error.column().saturating_sub(1);
    let found = body.get(at).map_or(' ', |&b| char::from(b));
    format!("invalid character '{found}' looking for beginning of value")
}

/// The Router that serves everything.
pub fn router(skin: Skin) -> Router {
    Router::new().fallback(handle).with_state(skin)
}

async fn handle(State(skin): State<Skin>, request: Request) -> Response {
    skin.handle(request).await.unwrap_or_else(|error| respond::error(&error))
}

impl Skin {
    async fn handle(&self, request: Request) -> Result<Response, ApiError> {
        let (parts, body) = request.into_parts();
        let user = self.access.user(&parts.headers, self.seed, (self.clock)())?;
        let path = parts.uri.path();
        let target = route::parse(path);
        let query = route::query(parts.uri.query().unwrap_or_default());
        let watch = ListQuery::parse(&query).watch;
        let user = {
            let store = self.server.view();
            let user = self.access.acting(&store, user, &parts.headers)?;
            let request = (&parts.method, path, &target);
            self.access.check(&store, &user, request, watch, &query)?;
            user
        };
        let body = read(body).await?;
        let asked = Asked { method: parts.method, query, headers: parts.headers, body, user };
        match target {
            Target::Resource(resource) => self.resource(resource, &asked).await,
            other => self.system(&other, &asked),
        }
    }
}

async fn read(body: Body) -> Result<Bytes, ApiError> {
    match Limited::new(body, BODY_LIMIT).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => Err(ApiError::new(
            413,
            "RequestEntityTooLarge",
            format!("Request entity too large: limit is {BODY_LIMIT}"),
        )),
        Err(error) => Err(ApiError::bad_request(error.to_string())),
    }
}

/// A body of text.
pub(crate) fn text(code: u16, text: impl Into<Body>) -> Response {
    respond::raw(code, "text/plain; charset=utf-8", text.into())
}
