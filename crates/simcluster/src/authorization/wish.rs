//! What somebody wants to do, as authorization sees it.

use http::Method;

use crate::error::ApiError;
use crate::http::route::{Resource, Target};
use crate::json::Value;

use super::User;

/// Where it is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// To objects.
    Resource {
        /// Group of the resource, empty for core.
        group: &'a str,
        /// `pods`, `pods/eviction`.
        resource: String,
        /// Empty for all of them, or at the cluster scope.
        namespace: &'a str,
        /// Empty for many or new ones.
        name: String,
    },
    /// At a path that is no object's.
    Path(&'a str),
}

/// One thing that somebody wants to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish<'a> {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, and what
    /// only reviews ask for.
    pub verb: String,
    /// Where.
    pub place: Place<'a>,
}

impl<'a> Wish<'a> {
    /// The wish that a request makes.
    pub(crate) fn of(
        method: &Method,
        path: &'a str,
        target: &'a Target,
        watch: bool,
        query: &[(String, String)],
    ) -> Self {
        let Target::Resource(resource) = target else {
            return Self { verb: method.as_str().to_lowercase(), place: Place::Path(path) };
        };
        let selected = query.iter().find(|(key, _)| key == "fieldSelector");
        let selected = selected.and_then(|(_, text)| field_name(text));
        let named = resource.name.is_some();
        let one_of = |one: &'static str, many: &'static str| if named { one } else { many };
        let verb = match method.as_str() {
            "GET" | "HEAD" if watch => "watch",
            "GET" | "HEAD" => one_of("get", "list"),
            "POST" => "create",
            "PUT" => "update",
            "PATCH" => "patch",
            "DELETE" => one_of("delete", "deletecollection"),
            other => return Self { verb: other.to_lowercase(), place: place(resource, selected) },
        };
        Self { verb: verb.to_owned(), place: place(resource, selected) }
    }

    /// A wish about objects.
    pub fn about(
        verb: &str,
        group: &'a str,
        resource: &str,
        namespace: &'a str,
        name: &str,
    ) -> Self {
        let place = Place::Resource {
            group,
            resource: resource.to_owned(),
            namespace,
            name: name.to_owned(),
        };
        Self { verb: verb.to_owned(), place }
    }

    /// The wish that a review asks about.
    pub fn of_review(spec: &'a Value) -> Self {
        let text = |value: &'a Value| value.as_str().unwrap_or_default();
        let path = &spec["nonResourceAttributes"];
        if path.is_object() {
            let verb = text(&path["verb"]).to_owned();
            return Self { verb, place: Place::Path(text(&path["path"])) };
        }
        let asked = &spec["resourceAttributes"];
        let resource = match text(&asked["subresource"]) {
            "" => text(&asked["resource"]).to_owned(),
            sub => format!("{}/{sub}", text(&asked["resource"])),
        };
        let namespace = text(&asked["namespace"]);
        Self::about(
            text(&asked["verb"]),
            text(&asked["group"]),
            &resource,
            namespace,
            text(&asked["name"]),
        )
    }

    /// The namespace whose Roles count; empty when only ClusterRoles do.
    pub fn namespace(&self) -> &'a str {
        match &self.place {
            Place::Resource { namespace, .. } => namespace,
            Place::Path(_) => "",
        }
    }

    /// Whether a rule allows it.
    pub fn is_in(&self, rule: &Value) -> bool {
        let any = |field: &str, test: &dyn Fn(&str) -> bool| {
            rule[field].as_array().into_iter().flatten().filter_map(Value::as_str).any(test)
        };
        if !any("verbs", &|verb| verb == "*" || verb == self.verb) {
            return false;
        }
        match &self.place {
            Place::Path(path) => any("nonResourceURLs", &|url| match url.strip_suffix('*') {
                Some(begins) => path.starts_with(begins),
                None => url == *path,
            }),
            Place::Resource { group, resource, name, .. } => {
                let sub = resource.split_once('/').map(|(_, sub)| sub);
                any("apiGroups", &|one| one == "*" || one == *group)
                    && any("resources", &|one| {
                        one == "*"
                            || one == resource
                            || (sub.is_some() && one.strip_prefix("*/") == sub)
                    })
                    && (!super::rules::has(rule, "resourceNames")
                        || any("resourceNames", &|one| one == name))
            }
        }
    }

    /// 403 in the server's words; `why` may be empty.
    pub fn refusal(&self, user: &User, why: &str) -> ApiError {
        let user = &user.name;
        let because = if why.is_empty() { String::new() } else { format!(": {why}") };
        let verb = &self.verb;
        let Place::Resource { group, resource, namespace, name } = &self.place else {
            let Place::Path(path) = self.place else { unreachable!("one of two") };
            let text = format!("forbidden: User \"{user}\" cannot {verb} path \"{path}\"{because}");
            return ApiError::new(403, "Forbidden", text).with_details(crate::json::json!({}));
        };
        let plural = resource.split('/').next().unwrap_or_default();
        let dotted = if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") };
        let what = if name.is_empty() { dotted } else { format!("{dotted} \"{name}\"") };
        let place = if namespace.is_empty() {
            "at the cluster scope".to_owned()
        } else {
            format!("in the namespace \"{namespace}\"")
        };
        let mut details = crate::json::json!({"kind": plural});
        for (field, value) in [("name", name.as_str()), ("group", group)] {
            if !value.is_empty() {
                details[field] = value.into();
            }
        }
        let text = format!(
            "{what} is forbidden: User \"{user}\" cannot {verb} resource \"{resource}\" in API \
             group \"{group}\" {place}{because}"
        );
        ApiError::new(403, "Forbidden", text).with_details(details)
    }
}

/// The name that a field selector pins, which makes a list one of that object.
fn field_name(text: &str) -> Option<String> {
    let mut terms = text.split(',');
    let name = terms.find_map(|term| term.strip_prefix("metadata.name="))?;
    Some(name.trim_start_matches('=').to_owned())
}

fn place(resource: &Resource, selected: Option<String>) -> Place<'_> {
    let name = resource.name.clone().or(selected).unwrap_or_default();
    // A Namespace lies in itself.
    let own = (resource.group.is_empty() && resource.plural == "namespaces")
        .then_some(resource.name.as_deref())
        .flatten();
    let namespace = resource.namespace.as_deref().or(own).unwrap_or_default();
    let with_sub = match &resource.subresource {
        Some(sub) => format!("{}/{sub}", resource.plural),
        None => resource.plural.clone(),
    };
    Place::Resource { group: &resource.group, resource: with_sub, namespace, name }
}
