//! Answers: objects, lists, Tables, metadata, and `Status` for what failed.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, header};
use jiff::Timestamp;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::error::ApiError;
use crate::http::route::Form;
use crate::json::{Value, json};
use crate::kind::Kind;
use crate::object::Object;
use crate::server::convert;
use crate::server::read::Page;
use crate::table::{cells, columns};

/// Any body under a content type.
pub(crate) fn raw(code: u16, content_type: &str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() =
        http::StatusCode::from_u16(code).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    if let Ok(value) = HeaderValue::from_str(content_type) {
        headers.insert(header::CONTENT_TYPE, value);
    }
    response
}

/// A JSON body.
pub(crate) fn json<T: Serialize>(code: u16, value: &T) -> Response {
    let mut body = serde_json::to_vec(value).expect("a Value always encodes");
    // As Go's encoder ends: the next prompt of `kubectl get --raw` has a line of its own.
    body.push(b'\n');
    raw(code, "application/json", Body::from(body))
}

/// A `Status` for a refusal, with its headers.
pub fn error(error: &ApiError, form: Form) -> Response {
    let mut response = match form {
        Form::Yaml => yaml(error.code, &error.status()),
        _ => json(error.code, &error.status()),
    };
    if let Some(seconds) = error.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    with_warnings(response, &error.warnings)
}

/// The same answer with `Warning` headers.
pub(crate) fn with_warnings(mut response: Response, warnings: &[String]) -> Response {
    for warning in warnings {
        let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{quoted}\"")) {
            response.headers_mut().append(header::WARNING, value);
        }
    }
    response
}

/// One object in the form that was asked for.
pub(crate) fn object(
    code: u16,
    kind: &Kind,
    object: &Object,
    form: Form,
    include: Include,
    now: Timestamp,
) -> Response {
    let shown = convert::served(kind, object);
    match form {
        Form::Table => json(code, &table(kind, std::slice::from_ref(&shown), include, now)),
        Form::Partial => json(code, &partial(&shown)),
        Form::Yaml => yaml(code, &*shown),
        Form::Json | Form::Discovery => json(code, &*shown),
    }
}

fn yaml<T: Serialize>(code: u16, value: &T) -> Response {
    let text = serde_saphyr::to_string(value).unwrap_or_default();
    raw(code, "application/yaml", Body::from(text))
}

/// A page of objects in the form that was asked for.
pub(crate) fn list(
    kind: &Kind,
    page: &Page,
    form: Form,
    include: Include,
    now: Timestamp,
) -> Response {
    let items: Vec<Object> = page.items.iter().map(|item| convert::served(kind, item)).collect();
    let mut metadata = json!({"resourceVersion": page.revision.to_string()});
    // Lists of custom objects name the field always.
    if !page.continue_.is_empty() || (kind.custom.is_some() && form == Form::Json) {
        metadata["continue"] = json!(page.continue_);
    }
    if let Some(remaining) = page.remaining {
        metadata["remainingItemCount"] = json!(remaining);
    }
    match form {
        Form::Table => {
            let mut out = table(kind, &items, include, now);
            out["metadata"] = metadata;
            json(200, &out)
        }
        Form::Partial => json(
            200,
            &json!({
                "kind": "PartialObjectMetadataList",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": metadata,
                "items": items.iter().map(|item| partial(item)).collect::<Vec<_>>(),
            }),
        ),
        Form::Yaml => yaml(200, &List { kind, metadata: &metadata, items: &items }),
        Form::Json | Form::Discovery => {
            json(200, &List { kind, metadata: &metadata, items: &items })
        }
    }
}

/// A list that borrows its items. Items of built-in kinds come without kind and apiVersion.
struct List<'a> {
    kind: &'a Kind,
    metadata: &'a Value,
    items: &'a [Object],
}

impl Serialize for List<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("kind", &self.kind.list_kind)?;
        map.serialize_entry("apiVersion", &self.kind.api_version())?;
        map.serialize_entry("metadata", self.metadata)?;
        if self.kind.custom.is_some() {
            let items: Vec<&Value> = self.items.iter().map(|item| &**item).collect();
            map.serialize_entry("items", &items)?;
        } else {
            let items: Vec<Bare<'_>> = self.items.iter().map(|item| Bare(item)).collect();
            map.serialize_entry("items", &items)?;
        }
        map.end()
    }
}

struct Bare<'a>(&'a Value);

impl Serialize for Bare<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = self.0.as_object().into_iter().flatten();
        serializer
            .collect_map(fields.filter(|(key, _)| !matches!(key.as_str(), "kind" | "apiVersion")))
    }
}

/// `includeObject` of a Table request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Include {
    Metadata,
    Object,
    None,
}

impl Include {
    pub(crate) fn parse(query: &[(String, String)]) -> Self {
        match query.iter().find(|(key, _)| key == "includeObject").map(|(_, value)| &**value) {
            Some("Object") => Self::Object,
            Some("None") => Self::None,
            _ => Self::Metadata,
        }
    }
}

/// An object reduced to its metadata.
pub(crate) fn partial(object: &Value) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": object["metadata"],
    })
}

/// A Scale as a table of one row.
pub(crate) fn scale_table(scale: Value, include: Include, now: Timestamp) -> Value {
    let count = |value: &Value| json!(value.as_i64().unwrap_or_default());
    let cells = json!([
        scale["metadata"]["name"],
        count(&scale["spec"]["replicas"]),
        count(&scale["status"]["replicas"]),
        crate::table::since(&scale["metadata"]["creationTimestamp"], now),
    ]);
    let column = |name: &str, of_type: &str| {
        let format = if name == "Name" { "name" } else { "" };
        json!({"name": name, "type": of_type, "format": format, "description": "", "priority": 0})
    };
    let version = scale["metadata"]["resourceVersion"].clone();
    let mut row = json!({"cells": cells});
    match include {
        Include::Metadata => row["object"] = partial(&scale),
        Include::Object => row["object"] = scale,
        Include::None => {}
    }
    json!({
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": version},
        "columnDefinitions": [
            column("Name", "string"),
            column("Desired", "integer"),
            column("Available", "integer"),
            column("Age", "string"),
        ],
        "rows": [row],
    })
}

/// Objects as rows; the metadata is a lone object's, lists put theirs.
pub(crate) fn table(kind: &Kind, items: &[Object], include: Include, now: Timestamp) -> Value {
    let rows: Vec<Value> = items
        .iter()
        .map(|item| {
            let mut row = json!({"cells": cells(kind, item, now)});
            match include {
                Include::Metadata => row["object"] = partial(item),
                Include::Object => row["object"] = (**item).clone(),
                Include::None => {}
            }
            row
        })
        .collect();
    let version = match items {
        [one] => one["metadata"]["resourceVersion"].clone(),
        _ => json!(""),
    };
    json!({
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": version},
        "columnDefinitions": columns(kind),
        "rows": rows,
    })
}
