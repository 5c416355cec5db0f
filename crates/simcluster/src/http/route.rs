//! URLs: which resource, object and subresource a path names.

use crate::error::ApiError;

/// What a path is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// `/`: what there is.
    Index,
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
    /// Nothing of this group's, whatever the version.
    Nowhere(String),
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

/// Reads a path. It is decoded before it is taken apart, so a `%2F` is as good as a slash; and two
/// slashes have something between them, which is named nothing.
pub fn parse(path: &str) -> Target {
    let path = decode(path);
    let path = path.strip_prefix('/').unwrap_or(&path);
    let whole: Vec<&str> = path.split('/').collect();
    match whole.as_slice() {
        [""] | ["index.html"] => return Target::Index,
        ["healthz" | "livez" | "readyz", ..] => return Target::Health(path.to_owned()),
        ["openapi", rest @ ..] => return Target::OpenApi(rest.join("/")),
        _ => {}
    }
    let parts: Vec<&str> = path.strip_suffix('/').unwrap_or(path).split('/').collect();
    match parts.as_slice() {
        ["version"] => Target::Version,
        ["api"] => Target::Versions,
        ["apis"] => Target::Groups,
        ["api", version] => Target::Resources(String::new(), (*version).to_owned()),
        ["apis", "", ..] => Target::Unknown,
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
    // Who lists in no namespace may end with a slash more.
    let rest = match rest {
        [plural, ""] => std::slice::from_ref(plural),
        _ => rest,
    };
    let (Some(plural), false) = (rest.first(), version.is_empty() || rest.contains(&"")) else {
        return Target::Nowhere(group.to_owned());
    };
    if rest.len() > 3 && rest.get(2) != Some(&"proxy") {
        return Target::Nowhere(group.to_owned());
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
    Err(ApiError::not_acceptable(
        "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, \
         application/vnd.kubernetes.protobuf, application/json;stream=watch, \
         application/vnd.kubernetes.protobuf;stream=watch",
    )
    .with_details(crate::json::json!({})))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(namespace: Option<&str>, rest: &[&str]) -> Target {
        let owned = |text: &&str| (*text).to_owned();
        Target::Resource(Resource {
            group: String::new(),
            version: "v1".to_owned(),
            namespace: namespace.map(str::to_owned),
            plural: owned(&rest[0]),
            name: rest.get(1).map(owned),
            subresource: rest.get(2).map(owned),
            watch: false,
        })
    }

    #[test]
    fn a_slash_too_many_is_a_part_without_a_name_but_for_one_at_the_end() {
        fn check(path: &str, expect: &Target) {
            assert_eq!(parse(path), *expect, "{path}");
        }
        let core = || Target::Resources(String::new(), "v1".to_owned());
        let nowhere = || Target::Nowhere(String::new());
        check("/", &Target::Index);
        check("//", &Target::Unknown);
        check("/api/", &Target::Versions);
        check("/api/v1/", &core());
        check("/api//v1", &nowhere());
        check("//api/v1", &Target::Unknown);
        check("/apis//apps/v1", &Target::Unknown);
        check("/version/", &Target::Version);
        let one = object(Some("a"), &["pods", "x"]);
        check("/api/v1/namespaces/a/pods/x", &one);
        check("/api/v1/namespaces/a/pods/x/", &one);
        check("/api/v1/namespaces/a//pods/x", &nowhere());
        check("/api/v1/namespaces/a/pods//x", &nowhere());
        check("/api/v1/namespaces/a/pods//", &object(Some("a"), &["pods"]));
        check("/api/v1/namespaces//pods", &object(Some(""), &["pods"]));
        check("/api/v1/namespaces/a/pods/x/y/z", &nowhere());
        check("/healthz/", &Target::Health("healthz/".to_owned()));
        check("/readyz/ping", &Target::Health("readyz/ping".to_owned()));
    }

    #[test]
    fn a_path_is_decoded_before_it_is_taken_apart() {
        fn check(path: &str, expect: &Target) {
            assert_eq!(parse(path), *expect, "{path}");
        }
        check("/api/v1/namespaces/a/p%6Fds/%78", &object(Some("a"), &["pods", "x"]));
        check("/api/v1/namespaces/a/pods/x%2Fstatus", &object(Some("a"), &["pods", "x", "status"]));
        check("/api/v1/nodes/a+b%20c", &object(None, &["nodes", "a+b c"]));
    }
}
