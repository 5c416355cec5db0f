//! Who is asking, and whether they may: tokens and a list of what is denied.
//!
//! Without tokens everybody is the admin. A cluster that wants to show how a client takes a refusal
//! gives tokens to users and denies them things; there are no roles.

use std::collections::BTreeMap;

use http::{HeaderMap, header};
use serde_json::{Value, json};

use super::route::{Resource, Target};
use crate::error::ApiError;

/// The user that everybody is on a cluster without tokens.
pub const ADMIN: &str = "kubernetes-admin";
const ANONYMOUS: &str = "system:anonymous";

/// One thing that a user may not do. `*` stands for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// User name.
    pub user: String,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// Group of the resource, empty for core.
    pub group: String,
    /// `pods`, `pods/eviction`.
    pub resource: String,
}

/// Users by token, and what they may not do.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Bearer token → user name. Empty: everybody is the admin.
    pub tokens: BTreeMap<String, String>,
    /// What is denied.
    pub denied: Vec<Denial>,
}

/// What somebody wants to do, as authorization sees it.
#[derive(Clone, Debug)]
pub(crate) struct Wish<'a> {
    pub(crate) verb: &'a str,
    pub(crate) group: &'a str,
    /// `pods`, `pods/eviction`.
    pub(crate) resource: String,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
}

impl Access {
    /// The user of a request; 401 for a token that nobody has.
    pub(crate) fn user(&self, headers: &HeaderMap) -> Result<String, ApiError> {
        if self.tokens.is_empty() {
            return Ok(ADMIN.to_owned());
        }
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let Some(given) = given else { return Ok(ANONYMOUS.to_owned()) };
        given
            .strip_prefix("Bearer ")
            .and_then(|token| self.tokens.get(token))
            .cloned()
            .ok_or_else(|| ApiError::new(401, "Unauthorized", "Unauthorized"))
    }

    /// Whether nothing denies this.
    pub(crate) fn allows(&self, user: &str, wish: &Wish<'_>) -> bool {
        let is = |pattern: &str, value: &str| pattern == "*" || pattern == value;
        user != ANONYMOUS
            && !self.denied.iter().any(|denial| {
                is(&denial.user, user)
                    && is(&denial.verb, wish.verb)
                    && is(&denial.group, wish.group)
                    && is(&denial.resource, &wish.resource)
            })
    }

    /// 403 in the server's words, when something denies the request.
    pub(crate) fn check(
        &self,
        user: &str,
        method: &http::Method,
        path: &str,
        target: &Target,
        watch: bool,
    ) -> Result<(), ApiError> {
        let verb = |one: &'static str, many: &'static str, named: bool| {
            if named { one } else { many }
        };
        match target {
            Target::Resource(resource) => {
                let named = resource.name.is_some();
                let verb = match method.as_str() {
                    "GET" | "HEAD" if watch => "watch",
                    "GET" | "HEAD" => verb("get", "list", named),
                    "POST" => "create",
                    "PUT" => "update",
                    "PATCH" => "patch",
                    "DELETE" => verb("delete", "deletecollection", named),
                    _ => return Ok(()),
                };
                let wish = wish(resource, verb);
                if self.allows(user, &wish) { Ok(()) } else { Err(refusal(user, &wish)) }
            }
            Target::Version | Target::Health(_) => Ok(()),
            _ if user == ANONYMOUS => {
                let verb = method.as_str().to_lowercase();
                let why = format!("forbidden: User \"{user}\" cannot {verb} path \"{path}\"");
                Err(ApiError::new(403, "Forbidden", why).with_details(json!({})))
            }
            _ => Ok(()),
        }
    }

    /// `status` of an access review about this user.
    pub(crate) fn review(&self, user: &str, spec: &Value) -> Value {
        let asked = &spec["resourceAttributes"];
        let text = |field: &str| asked[field].as_str().unwrap_or_default();
        let resource = match text("subresource") {
            "" => text("resource").to_owned(),
            sub => format!("{}/{sub}", text("resource")),
        };
        let wish = Wish {
            verb: text("verb"),
            group: text("group"),
            resource,
            namespace: text("namespace"),
            name: text("name"),
        };
        json!({"allowed": self.allows(user, &wish)})
    }
}

fn wish<'a>(resource: &'a Resource, verb: &'a str) -> Wish<'a> {
    let name = match &resource.subresource {
        Some(sub) => format!("{}/{sub}", resource.plural),
        None => resource.plural.clone(),
    };
    Wish {
        verb,
        group: &resource.group,
        resource: name,
        namespace: resource.namespace.as_deref().unwrap_or_default(),
        name: resource.name.as_deref().unwrap_or_default(),
    }
}

fn refusal(user: &str, wish: &Wish<'_>) -> ApiError {
    let plural = wish.resource.split('/').next().unwrap_or_default();
    let dotted = |name: &str| {
        if wish.group.is_empty() { name.to_owned() } else { format!("{name}.{}", wish.group) }
    };
    let what = if wish.name.is_empty() {
        dotted(plural)
    } else {
        format!("{} \"{}\"", dotted(plural), wish.name)
    };
    let place = if wish.namespace.is_empty() {
        "at the cluster scope".to_owned()
    } else {
        format!("in the namespace \"{}\"", wish.namespace)
    };
    let mut details = json!({"kind": plural});
    for (field, value) in [("name", wish.name), ("group", wish.group)] {
        if !value.is_empty() {
            details[field] = json!(value);
        }
    }
    ApiError::new(
        403,
        "Forbidden",
        format!(
            "{what} is forbidden: User \"{user}\" cannot {} resource \"{}\" in API group \"{}\" \
             {place}",
            wish.verb, wish.resource, wish.group
        ),
    )
    .with_details(details)
}
