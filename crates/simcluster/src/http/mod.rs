//! The HTTP skin: an axum Router over the synchronous server.

pub mod access;
pub mod discovery;
mod people;
mod resource;
pub mod respond;
mod review;
pub mod route;
mod system;
mod timeout;
mod token;
mod typed;
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

use crate::authorization::User;
use crate::body::{self, Broken};
use crate::error::ApiError;
use crate::http::access::Access;
use crate::http::route::{Form, Target};
use crate::json::Value;
use crate::kind::Kind;
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

    /// The media type of the body without parameters, in small letters.
    pub(crate) fn media_type(&self) -> String {
        let media = self.header(header::CONTENT_TYPE).split(';').next().unwrap_or_default();
        media.trim().to_ascii_lowercase()
    }

    /// 415 when nobody reads objects of this kind from such a body. Nothing said is JSON.
    pub(crate) fn readable(&self, kind: &Kind) -> Result<(), ApiError> {
        let media_type = self.media_type();
        // A definition says how an object looks in JSON, and nothing of numbers on a wire.
        let known = matches!(media_type.as_str(), "application/json" | "application/yaml" | "")
            || (media_type == protobuf::MEDIA_TYPE && kind.custom.is_none());
        if known {
            return Ok(());
        }
        Err(ApiError::unsupported_media_type(
            "application/json, application/yaml, application/vnd.kubernetes.protobuf",
        ))
    }

    /// The body in whichever of JSON, YAML and protobuf it is. With `merge`, maps that JSON tells twice
    /// are both: see [`body::json`].
    pub(crate) fn read_body(&self, merge: bool) -> Result<body::Body, Broken> {
        match self.media_type().as_str() {
            protobuf::MEDIA_TYPE => {
                protobuf::decode(&self.body).map(body::Body::of).map_err(Broken::Protobuf)
            }
            "application/yaml" | "text/yaml" | "application/apply-patch+yaml" => {
                body::yaml(&self.body)
            }
            _ => body::json(&self.body, merge),
        }
    }

    /// The body where none will do as well: `null` then.
    pub(crate) fn read_any_body(&self) -> Result<Value, Broken> {
        if self.body.is_empty() {
            return Ok(Value::Null);
        }
        self.read_body(false).map(|body| body.value)
    }
}

/// The Router that serves everything.
pub fn router(skin: Skin) -> Router {
    Router::new().fallback(handle).with_state(skin)
}

async fn handle(State(skin): State<Skin>, request: Request) -> Response {
    let accept = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let form = route::negotiate(accept.unwrap_or_default(), false).unwrap_or(Form::Json);
    let query = route::query(request.uri().query().unwrap_or_default());
    let pretty = people::asks(request.headers(), &query);
    let watch = ListQuery::parse(&query).watch;
    let answer = skin.handle(request, query).await;
    let endless = answer.is_ok() && watch;
    let answer = answer.unwrap_or_else(|error| respond::error(&error, form));
    if pretty && !endless { people::indented(answer).await } else { answer }
}

impl Skin {
    async fn handle(
        &self,
        request: Request,
        query: Vec<(String, String)>,
    ) -> Result<Response, ApiError> {
        let (parts, body) = request.into_parts();
        let user = self.access.user(&parts.headers, self.seed, (self.clock)())?;
        let path = parts.uri.path();
        let target = route::parse(path);
        let watch = ListQuery::parse(&query).watch
            || matches!(&target, Target::Resource(resource) if resource.watch);
        if !watch {
            timeout::check(&query)?;
        }
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
