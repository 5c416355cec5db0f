//! URLs: which resource, object and subresource a path names.

use crate::error::ApiError;

/// What a path is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// `/api`.
    Versions,
    /// `/apis`.
    Groups,
    /// `/apis/{group}`.
    Group(String),
    /// `/api/v1` or `/apis/{group}/{version}`.
    Resources(String, String),
    /// Objects.
    Resource(Resource),
    /// `/version`.
    Version,
    /// `/healthz`, `/livez`, `/readyz` and below: the path without its first slash.
    Health(String),
    /// `/openapi/…`; the rest of the path.
    OpenApi(String),
    /// Nothing that is served.
    Unknown,
}

/// A resource, or one object of it, or a subresource of that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Group, empty for core.
    pub group: String,
    /// Version.
    pub version: String,
    /// Namespace, if the path has one.
    pub namespace: Option<String>,
    /// Plural.
    pub plural: String,
    /// Object name.
    pub name: Option<String>,
    /// Subresource.
    pub subresource: Option<String>,
    /// A watch by its old path, `/watch/` before the resource.
    pub watch: bool,
}

/// Reads a path.
pub fn parse(path: &str) -> Target {
    let parts: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(decode).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match parts.as_slice() {
        ["version"] => Target::Version,
        ["healthz" | "livez" | "readyz", ..] => Target::Health(parts.join("/")),
        ["openapi", rest @ ..] => Target::OpenApi(rest.join("/")),
        ["api"] => Target::Versions,
        ["apis"] => Target::Groups,
        ["api", version] => Target::Resources(String::new(), (*version).to_owned()),
        ["apis", group] => Target::Group((*group).to_owned()),
        ["apis", group, version] => Target::Resources((*group).to_owned(), (*version).to_owned()),
        ["api", version, "watch", rest @ ..] if !rest.is_empty() => {
            resource("", version, rest, true)
        }
        ["apis", group, version, "watch", rest @ ..] if !rest.is_empty() => {
            resource(group, version, rest, true)
        }
        ["api", version, rest @ ..] => resource("", version, rest, false),
        ["apis", group, version, rest @ ..] => resource(group, version, rest, false),
        _ => Target::Unknown,
    }
}

fn resource(group: &str, version: &str, rest: &[&str], watch: bool) -> Target {
    let owned = |text: &&str| (*text).to_owned();
    // `/namespaces/{name}/status` is a subresource of the namespace, anything else lies in it.
    let (namespace, rest) = match rest {
        ["namespaces", _] | ["namespaces", _, "status" | "finalize"] => (None, rest),
        ["namespaces", namespace, inside @ ..] => (Some((*namespace).to_owned()), inside),
        _ => (None, rest),
    };
    let Some(plural) = rest.first() else {
        return Target::Unknown;
    };
    if rest.len() > 3 && rest.get(2) != Some(&"proxy") {
        return Target::Unknown;
    }
    Target::Resource(Resource {
        group: group.to_owned(),
        version: version.to_owned(),
        namespace,
        plural: owned(plural),
        name: rest.get(1).map(owned),
        subresource: rest.get(2).map(owned),
        watch,
    })
}

/// The pairs of a query string, decoded.
pub fn query(text: &str) -> Vec<(String, String)> {
    text.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(&key.replace('+', " ")), decode(&value.replace('+', " ")))
        })
        .collect()
}

/// Percent-decoding; what is not valid stays as it is.
pub(super) fn decode(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let hex = (bytes[at] == b'%')
            .then(|| text.get(at + 1..at + 3))
            .flatten()
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match hex {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// In what form an answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The object itself, as JSON.
    Json,
    /// The object itself, as YAML.
    Yaml,
    /// `meta.k8s.io/v1` Table.
    Table,
    /// Metadata alone.
    Partial,
    /// Aggregated discovery.
    Discovery,
}

/// The first form of an `Accept` header that the server can give.
pub fn negotiate(accept: &str, discovery: bool) -> Result<Form, ApiError> {
    if accept.trim().is_empty() {
        return Ok(Form::Json);
    }
    for range in accept.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let param = |key: &str| {
            parts.clone().find_map(|part| {
                part.strip_prefix(key).and_then(|rest| rest.strip_prefix('=')).map(str::to_owned)
            })
        };
        let json = matches!(media, "application/json" | "*/*" | "application/*");
        let yaml = matches!(media, "application/yaml" | "text/yaml");
        if !json && !yaml {
            continue;
        }
        let (as_, group, version) = (param("as"), param("g"), param("v"));
        match (as_.as_deref(), group.as_deref(), version.as_deref()) {
            (None, _, _) => return Ok(if json { Form::Json } else { Form::Yaml }),
            (Some("Table"), Some("meta.k8s.io"), Some("v1")) if !discovery => {
                return Ok(Form::Table);
            }
            (
                Some("PartialObjectMetadata" | "PartialObjectMetadataList"),
                Some("meta.k8s.io"),
                Some("v1"),
            ) if !discovery => return Ok(Form::Partial),
            (Some("APIGroupDiscoveryList"), Some("apidiscovery.k8s.io"), Some("v2"))
                if discovery =>
            {
                return Ok(Form::Discovery);
            }
            _ => {}
        }
    }
    Err(ApiError::new(
        406,
        "NotAcceptable",
        "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, \
         application/vnd.kubernetes.protobuf, application/json;stream=watch, \
         application/vnd.kubernetes.protobuf;stream=watch",
    )
    .with_details(crate::json::json!({})))
}
