//! Requests about objects: which verb a method and a path make, and its answer.

mod components;
mod delete;
mod kubelet;
mod special;
mod write;

use std::sync::Arc;

use axum::response::Response;
use http::{Method, header};

use super::respond::{self, Include};
use super::route::{self, Form, Resource};
use super::{Asked, Skin, discovery};
use crate::error::ApiError;
use crate::json::Value;
use crate::kind::Kind;
use crate::object::{Key, Object};
use crate::server::convert;
use crate::server::options::WriteOptions;
use crate::server::part::Part;
use crate::server::read::ListQuery;
use crate::server::write::Outcome;

/// One request about a kind, with everything that was read from it.
struct Call<'a> {
    skin: &'a Skin,
    asked: &'a Asked,
    kind: Arc<Kind>,
    namespace: Option<String>,
    form: Form,
}

impl Skin {
    pub(crate) async fn resource(
        &self,
        resource: Resource,
        asked: &Asked,
    ) -> Result<Response, ApiError> {
        let fleeting = discovery::FLEETING.iter().find(|one| {
            one.group == resource.group && one.plural == resource.plural && resource.version == "v1"
        });
        if let Some(fleeting) = fleeting {
            return match fleeting.kind {
                "Binding" => self.binding(&resource, asked),
                "ComponentStatus" => components::answer(&resource, asked),
                _ => self.review(fleeting, asked),
            };
        }
        let found = {
            let inner = self.server.lock();
            let registry = &inner.registry;
            registry
                .find(&resource.group, &resource.version, &resource.plural)
                .cloned()
                .ok_or_else(|| registry.serves(&resource.group, &resource.version))
        };
        let kind = match found {
            Ok(kind) => kind,
            Err(true) => return Err(ApiError::no_such_resource()),
            Err(false) => return self.nowhere(&resource.group),
        };
        // What lies in a namespace is nowhere else, and the reverse.
        if kind.namespaced != resource.namespace.is_some()
            && (!kind.namespaced || resource.name.is_some())
            && !resource.watch
        {
            return Err(ApiError::no_such_resource());
        }
        // Many libraries make this of a namespace that was not given: all of them, where that can be.
        let said = resource.namespace.is_some();
        let namespace = resource.namespace.filter(|namespace| !namespace.is_empty());
        let whole = resource.name.is_none() && asked.method == Method::GET;
        if kind.namespaced && namespace.is_none() && said && !whole {
            return Err(ApiError::bad_request("Namespace parameter required."));
        }
        let form = route::negotiate(asked.header(header::ACCEPT), false)?;
        let warning = deprecated(&kind).map(str::to_owned);
        let call = Call { skin: self, asked, kind, namespace, form };
        let response = match (resource.name, resource.subresource) {
            (name, None) if resource.watch => call.old_watch(name),
            (_, Some(_)) if resource.watch => Err(ApiError::no_such_resource()),
            (None, _) => call.collection().await,
            (Some(name), None) => call.object(&name, Part::Main).await,
            (Some(name), Some(sub)) => call.subresource(&name, &sub).await,
        };
        Ok(respond::with_warnings(response?, warning.as_slice()))
    }
}

/// What every answer about a kind warns of that is on its way out.
fn deprecated(kind: &Kind) -> Option<&'static str> {
    (kind.group.is_empty() && kind.plural == "endpoints")
        .then_some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice")
}

impl Call<'_> {
    fn key(&self, name: &str) -> Key {
        let namespace = self.namespace.as_deref().unwrap_or_default();
        Key::new(self.kind.collection(), namespace, name)
    }

    fn query(&self) -> ListQuery {
        ListQuery::parse(&self.asked.query)
    }

    fn write_options(&self) -> Result<WriteOptions, ApiError> {
        let agent = self.asked.header(header::USER_AGENT);
        let verb = match self.asked.method {
            Method::PUT => "Update",
            Method::PATCH => "Patch",
            _ => "Create",
        };
        let options = WriteOptions::parse(verb, &self.asked.query, agent)?;
        Ok(WriteOptions { user: self.asked.user.clone(), ..options })
    }

    fn include(&self) -> Include {
        Include::parse(&self.asked.query)
    }

    fn now(&self) -> jiff::Timestamp {
        (self.skin.clock)()
    }

    async fn collection(&self) -> Result<Response, ApiError> {
        let all_namespaces = self.kind.namespaced && self.namespace.is_none();
        match self.asked.method {
            Method::GET => {
                let query = self.query();
                query.check()?;
                if query.watch {
                    return self.watch(&query);
                }
                let namespace = self.kind.namespaced.then_some(self.namespace.as_deref()).flatten();
                let mut page = self.skin.server.lock().list(&self.kind, namespace, &query)?;
                page.items = self.skin.server.in_version(&self.kind, page.items).await?;
                Ok(respond::list(&self.kind, &page, self.form, self.include(), self.now()))
            }
            Method::POST if !all_namespaces => self.create().await,
            Method::DELETE if !all_namespaces => self.delete_collection().await,
            _ => Err(ApiError::method_not_allowed()),
        }
    }

    fn watch(&self, query: &ListQuery) -> Result<Response, ApiError> {
        if self.form == Form::Yaml {
            return Err(ApiError::not_acceptable(
                "only the following media types are accepted: application/json;stream=watch, \
                 application/vnd.kubernetes.protobuf;stream=watch",
            ));
        }
        self.skin.watch(&self.kind, self.namespace.clone(), query, self.form, self.include())
    }

    /// A watch by the path that clients used before `?watch=true`, of a collection or of one object.
    fn old_watch(&self, name: Option<String>) -> Result<Response, ApiError> {
        if self.asked.method != Method::GET {
            return Err(ApiError::method_not_allowed());
        }
        let mut query = ListQuery { watch: true, ..self.query() };
        if let Some(name) = name {
            let selector = format!("metadata.name={name}");
            if !query.field_selector.is_empty() && query.field_selector != selector {
                let why = "fieldSelector metadata.name doesn't match requested name";
                return Err(ApiError::bad_request(why));
            }
            query.field_selector = selector;
        }
        self.watch(&query)
    }

    async fn object(&self, name: &str, part: Part) -> Result<Response, ApiError> {
        match self.asked.method {
            Method::GET => {
                // `watch` means nothing here, as for the real server.
                let object = {
                    let inner = self.skin.server.lock();
                    inner.reached(self.query().version()?)?;
                    inner.get(&self.kind, &self.key(name))?
                };
                Ok(self.show(200, &self.served(object).await?))
            }
            Method::PUT => self.update(name, part).await,
            Method::PATCH => self.patch(name, part).await,
            Method::DELETE if part == Part::Main => self.delete(name).await,
            _ => Err(ApiError::method_not_allowed()),
        }
    }

    async fn subresource(&self, name: &str, sub: &str) -> Result<Response, ApiError> {
        let pods = self.kind.group.is_empty() && self.kind.plural == "pods";
        let proxied = self.kind.group.is_empty()
            && matches!(self.kind.plural.as_str(), "nodes" | "pods" | "services");
        match sub {
            "status" if self.kind.has_status => self.object(name, Part::Status).await,
            "finalize" if self.kind.plural == "namespaces" => {
                if self.asked.method != Method::PUT {
                    return Err(ApiError::method_not_allowed());
                }
                self.update(name, Part::Finalize).await
            }
            "scale" if self.kind.scale.is_some() => self.scale(name).await,
            "eviction" if pods => self.evict(name).await,
            "binding" if pods => self.skin.bind(self.asked, &self.key(name), true),
            "token" if self.kind.group.is_empty() && self.kind.plural == "serviceaccounts" => {
                self.skin.token(self.asked, &self.kind, &self.key(name))
            }
            "ephemeralcontainers" if pods => self.object(name, Part::Ephemeral).await,
            "resize" if pods => self.object(name, Part::Resize).await,
            "log" if pods => self.log(name),
            "exec" | "attach" | "portforward" if pods => self.stream(name, sub),
            "proxy" if proxied => self.proxy(name),
            "approval" if self.kind.plural == "certificatesigningrequests" => {
                self.object(name, Part::Approval).await
            }
            // Each definition answers for its own paths.
            _ if self.kind.custom.is_some() => {
                let mut error = ApiError::not_found(&self.kind, name);
                if let Some(details) = &mut error.details {
                    details["causes"] = Value::Null;
                }
                Err(error)
            }
            _ => Err(ApiError::no_such_resource()),
        }
    }

    fn show(&self, code: u16, object: &Object) -> Response {
        respond::object(code, &self.kind, object, self.form, self.include(), self.now())
    }

    /// An object in the version of the request.
    async fn served(&self, object: Object) -> Result<Object, ApiError> {
        let converted = self.skin.server.in_version(&self.kind, vec![object.clone()]).await?;
        let object = converted.into_iter().next().unwrap_or(object);
        Ok(convert::served(&self.kind, &object))
    }

    async fn answer(&self, outcome: Outcome) -> Result<Response, ApiError> {
        let code = if outcome.created { 201 } else { 200 };
        let object = self.served(outcome.object).await?;
        Ok(respond::with_warnings(self.show(code, &object), &outcome.warnings))
    }
}
