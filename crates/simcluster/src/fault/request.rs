//! What a request asks for, read off its method, path and query.

use http::{Method, Uri};

/// The sort of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A stream of changes.
    Watch,
    /// A collection.
    List,
    /// One object, or anything else that only reads.
    Read,
    /// POST: a new object, an eviction, a review.
    Create,
    /// PUT or PATCH.
    Update,
    /// DELETE of one object or of many.
    Delete,
}

impl Asked {
    /// Reads a request.
    pub fn of(method: &Method, uri: &Uri) -> Self {
        match *method {
            Method::POST => return Self::Create,
            Method::PUT | Method::PATCH => return Self::Update,
            Method::DELETE => return Self::Delete,
            _ => {}
        }
        let watches = |query: &str| {
            query.split('&').any(|pair| matches!(pair, "watch=true" | "watch=1" | "watch"))
        };
        if uri.query().is_some_and(watches) {
            return Self::Watch;
        }
        if is_collection(uri.path()) { Self::List } else { Self::Read }
    }

    /// Whether it may change anything.
    pub fn is_write(self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Delete)
    }
}

/// `/api/v1/…` or `/apis/GROUP/VERSION/…`, then `PLURAL` or `namespaces/NAME/PLURAL`.
fn is_collection(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let rest = match parts.as_slice() {
        ["api", _, rest @ ..] | ["apis", _, _, rest @ ..] => rest,
        _ => return false,
    };
    matches!(rest, [_] | ["namespaces", _, _])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: &Method, uri: &'static str, expect: Asked) {
        assert_eq!(Asked::of(method, &Uri::from_static(uri)), expect, "{uri}");
    }

    #[test]
    fn requests_are_told_apart() {
        check(&Method::GET, "/api/v1/pods?&limit=500", Asked::List);
        check(&Method::GET, "/api/v1/namespaces/ns/pods", Asked::List);
        check(&Method::GET, "/apis/apps/v1/namespaces/ns/statefulsets?&watch=true", Asked::Watch);
        check(&Method::GET, "/api/v1/pods?watch=1", Asked::Watch);
        check(&Method::GET, "/api/v1/namespaces/ns/pods/p", Asked::Read);
        check(&Method::GET, "/api/v1/namespaces/ns", Asked::Read);
        check(&Method::GET, "/api/v1/namespaces", Asked::List);
        check(&Method::GET, "/apis/apps/v1", Asked::Read);
        check(&Method::GET, "/version", Asked::Read);
        check(&Method::POST, "/api/v1/namespaces/ns/pods/p/eviction", Asked::Create);
        check(&Method::PATCH, "/api/v1/namespaces/ns/pods/p/status", Asked::Update);
        check(&Method::DELETE, "/api/v1/namespaces/ns/pods/p", Asked::Delete);
    }
}
