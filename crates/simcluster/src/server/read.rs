//! GET and LIST, with selectors, pages and resourceVersions of the past.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::Inner;
use super::past::{Past, changes_since, place};
use crate::body::go;
use crate::error::{ApiError, Cause};
use crate::json::{Value, json};
use crate::kind::Kind;
use crate::object::{self, Key, Object};
use crate::selector::{FieldSelector, LabelSelector};
use crate::store::Store;

/// Which objects of a collection a list or watch is about.
#[derive(Clone, Debug)]
pub struct Filter {
    labels: Option<LabelSelector>,
    fields: Option<FieldSelector>,
}

impl Filter {
    /// From the query of a request, in the words of the server when it cannot be read.
    pub fn parse(kind: &Kind, query: &ListQuery) -> Result<Self, ApiError> {
        let bad = |error: crate::selector::SelectorError| ApiError::bad_request(error.to_string());
        let labels = match query.label_selector.as_str() {
            "" => None,
            text => Some(LabelSelector::parse(text).map_err(bad)?),
        };
        let fields = match query.field_selector.as_str() {
            "" => None,
            text => Some(FieldSelector::parse(kind, text).map_err(bad)?),
        };
        Ok(Self { labels, fields })
    }

    /// Whether everything matches.
    pub fn is_empty(&self) -> bool {
        self.labels.is_none() && self.fields.is_none()
    }

    /// The objects of a collection after a place that may be among them, in the order of lists.
    pub fn candidates<'a>(
        &self,
        store: &'a Store,
        kind: &Kind,
        namespace: Option<&str>,
        after: Option<(&'a str, &'a str)>,
    ) -> Box<dyn Iterator<Item = &'a Object> + 'a> {
        let collection = kind.collection();
        let label = self.labels.as_ref().and_then(LabelSelector::required);
        label
            .and_then(|label| store.labelled_after(&collection, namespace, after, label))
            .unwrap_or_else(|| store.list_after(&collection, namespace, after))
    }

    /// Whether an object is one of them.
    pub fn matches(&self, object: &Value) -> bool {
        self.labels.as_ref().is_none_or(|labels| labels.matches(&object["metadata"]["labels"]))
            && self.fields.as_ref().is_none_or(|fields| fields.matches(object))
    }
}

/// The query parameters of LIST and WATCH.
#[derive(Clone, Debug, Default)]
pub struct ListQuery {
    /// `labelSelector`.
    pub label_selector: String,
    /// `fieldSelector`.
    pub field_selector: String,
    /// `limit`, 0 for none.
    pub limit: usize,
    /// `continue`.
    pub continue_: String,
    /// `resourceVersion`.
    pub resource_version: String,
    /// `resourceVersionMatch`.
    pub match_: String,
    /// `watch`.
    pub watch: bool,
    /// `allowWatchBookmarks`.
    pub bookmarks: bool,
    /// `sendInitialEvents`.
    pub initial_events: Option<bool>,
    /// `timeoutSeconds`.
    pub timeout_seconds: Option<i64>,
    /// The first parameter that is no number and has to be one.
    pub(crate) wrong: Option<String>,
}

impl ListQuery {
    /// From decoded pairs; unknown ones are somebody else's.
    pub fn parse(query: &[(String, String)]) -> Self {
        let mut out = Self::default();
        // A parameter without a value, or with any other, is said.
        let truth = |value: &str| !matches!(value.to_ascii_lowercase().as_str(), "false" | "0");
        for (key, value) in query {
            match key.as_str() {
                "labelSelector" => out.label_selector.clone_from(value),
                "fieldSelector" => out.field_selector.clone_from(value),
                "limit" | "timeoutSeconds"
                    if !value.is_empty() && value.parse::<i64>().is_err() =>
                {
                    out.wrong.get_or_insert_with(|| value.clone());
                }
                "limit" => out.limit = value.parse().unwrap_or(0),
                "continue" => out.continue_.clone_from(value),
                "resourceVersion" => out.resource_version.clone_from(value),
                "resourceVersionMatch" => out.match_.clone_from(value),
                "watch" => out.watch = truth(value),
                "allowWatchBookmarks" => out.bookmarks = truth(value),
                "sendInitialEvents" => out.initial_events = Some(truth(value)),
                "timeoutSeconds" => out.timeout_seconds = value.parse().ok(),
                _ => {}
            }
        }
        out
    }

    /// 400: a parameter that has to be a number and is none.
    pub fn check(&self) -> Result<(), ApiError> {
        match &self.wrong {
            None => Ok(()),
            Some(text) => Err(ApiError::bad_request(format!(
                "strconv.ParseInt: parsing \"{text}\": invalid syntax"
            ))),
        }
    }

    /// `resourceVersion` as a number; `None` when absent.
    pub fn version(&self) -> Result<Option<u64>, ApiError> {
        match self.resource_version.as_str() {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| {
                ApiError::internal(format!(
                    "resourceVersion: Invalid value: \"{text}\": strconv.ParseUint: parsing \
                     \"{text}\": invalid syntax"
                ))
            }),
        }
    }
}

/// One page of a list.
#[derive(Clone, Debug)]
pub struct Page {
    /// In the order of namespace and name.
    pub items: Vec<Object>,
    /// `metadata.resourceVersion`.
    pub revision: u64,
    /// `metadata.continue`, empty at the end.
    pub continue_: String,
    /// `metadata.remainingItemCount`, known when nothing is selected.
    pub remaining: Option<usize>,
}

impl Inner {
    /// One object.
    pub fn get(&self, kind: &Kind, key: &Key) -> Result<Object, ApiError> {
        self.store
            .find(&key.collection, &key.namespace, &key.name)
            .cloned()
            .ok_or_else(|| ApiError::not_found(kind, &key.name))
    }

    /// One page of a collection, in one namespace or (`None`) in all.
    pub fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        query: &ListQuery,
    ) -> Result<Page, ApiError> {
        let filter = Filter::parse(kind, query)?;
        let (mut revision, mut after) = (self.store.revision(), None);
        query.refuse()?;
        if query.continue_.is_empty() {
            revision = self.revision_for(kind, query)?;
        } else {
            if !matches!(query.resource_version.as_str(), "" | "0") {
                return Err(ApiError::bad_request(
                    "specifying resource version is not allowed when using continue",
                ));
            }
            let token = Token::parse(&query.continue_)?;
            if token.revision < self.store.compacted(&kind.collection()) {
                return Err(ApiError::expired(
                    "The provided continue parameter is too old to display a consistent list \
                     result. You can start a new list without the continue parameter, or use the \
                     continue token in this response to retrieve the remainder of the results. \
                     Continuing with the provided token results in an inconsistent list - objects \
                     that were created, modified, or deleted between the time the first chunk was \
                     returned and now may show up in the list.",
                ));
            }
            revision = revision.min(token.revision);
            after = Some(token.place(namespace));
        }
        let since = changes_since(&self.store, kind, revision);
        let past = Past::new(&since, namespace);
        let after = after.as_ref().map(|(namespace, name)| (namespace.as_str(), name.as_str()));
        let present = filter.candidates(&self.store, kind, namespace, after);
        let all: Box<dyn Iterator<Item = &Object>> =
            if since.is_empty() { present } else { Box::new(past.instead_of(present, after)) };
        // What is asked of the cache comes whole.
        let cached =
            query.resource_version == "0" && query.match_.is_empty() && query.continue_.is_empty();
        let limit = if query.limit == 0 || cached { usize::MAX } else { query.limit };
        let matching = all.filter(|object| filter.matches(object));
        let items: Vec<Object> = matching.take(limit).cloned().collect();
        let mut page = Page { items, revision, continue_: String::new(), remaining: None };
        if page.items.len() == limit {
            // What is left need not match: the real server does not look on to find out.
            let last = page.items.last().expect("a limit of 0 means no limit");
            let place = place(last);
            let there = self.store.count_after(&kind.collection(), namespace, place);
            let left = past.count_after(&self.store, &kind.collection(), place, there);
            if left > 0 {
                page.continue_ = Token::after(revision, namespace.is_none(), last);
                page.remaining = filter.is_empty().then_some(left);
            }
        }
        Ok(page)
    }

    /// 504 while the server is not where somebody has seen it already.
    pub fn reached(&self, wanted: Option<u64>) -> Result<(), ApiError> {
        let current = self.store.revision();
        match wanted.filter(|&wanted| wanted > current) {
            Some(wanted) => Err(too_large(wanted, current)),
            None => Ok(()),
        }
    }

    /// The revision at which a list is read; refuses the future and a past that is gone.
    pub fn revision_for(&self, kind: &Kind, query: &ListQuery) -> Result<u64, ApiError> {
        let current = self.store.revision();
        query.refuse()?;
        let version = query.version().map_err(|error| {
            ApiError::bad_request(format!("invalid resource version: {}", error.message))
        });
        let Some(wanted) = version? else {
            return Ok(current);
        };
        self.reached(Some(wanted))?;
        if query.match_ != "Exact" {
            return Ok(current);
        }
        let oldest = self.store.compacted(&kind.collection());
        if wanted < oldest {
            return Err(too_old(wanted, oldest));
        }
        Ok(wanted)
    }
}

/// 504: the version is not there yet.
pub fn too_large(wanted: u64, current: u64) -> ApiError {
    ApiError::new(
        504,
        "Timeout",
        format!("Timeout: Too large resource version: {wanted}, current: {current}"),
    )
    .with_causes(vec![Cause::new(
        "ResourceVersionTooLarge",
        "Too large resource version",
        String::new(),
    )])
    .with_retry_after(1)
}

/// 410: the version is no longer there.
pub fn too_old(wanted: u64, oldest: u64) -> ApiError {
    ApiError::expired(format!("too old resource version: {wanted} ({oldest})"))
}

/// A `continue` token, in the format of the real server: opaque, but people do look inside.
struct Token {
    revision: u64,
    start: String,
}

impl Token {
    fn after(revision: u64, all_namespaces: bool, last: &Arc<Value>) -> String {
        let place = if all_namespaces && !object::namespace(last).is_empty() {
            format!("/{}/{}\0", object::namespace(last), object::name(last))
        } else {
            format!("/{}\0", object::name(last))
        };
        // The real server's fields come in this order, which a map of serde_json would not keep.
        let text =
            format!("{{\"v\":\"meta.k8s.io/v1\",\"rv\":{revision},\"start\":{}}}", json!(place));
        STANDARD_NO_PAD.encode(text)
    }

    fn parse(text: &str) -> Result<Self, ApiError> {
        let bad = |why: String| {
            ApiError::bad_request(format!(
                "invalid continue token: continue key is not valid: {why}"
            ))
        };
        let engine = base64::engine::general_purpose::URL_SAFE_NO_PAD;
        let bytes = engine
            .decode(text)
            .or_else(|_| STANDARD_NO_PAD.decode(text))
            .map_err(|error| bad(error.to_string()))?;
        let read: Result<Value, _> = serde_json::from_slice(&bytes);
        let value = read.map_err(|_| {
            let first = go::quoted(bytes.first().copied().unwrap_or(b' '));
            bad(format!("invalid character {first} looking for beginning of value"))
        })?;
        let (Some(revision), Some(start)) = (value["rv"].as_u64(), value["start"].as_str()) else {
            return Err(bad("incorrect encoded start resourceVersion".to_owned()));
        };
        Ok(Self { revision, start: start.to_owned() })
    }

    fn place(&self, namespace: Option<&str>) -> (String, String) {
        let start = self.start.trim_start_matches('/').trim_end_matches('\0');
        match (namespace, start.split_once('/')) {
            (Some(namespace), _) => (namespace.to_owned(), start.to_owned()),
            (None, Some((namespace, name))) => (namespace.to_owned(), name.to_owned()),
            (None, None) => (String::new(), start.to_owned()),
        }
    }
}
