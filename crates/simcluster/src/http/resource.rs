//! Requests about objects: which verb a method and a path make, and its answer.

use std::sync::Arc;

use axum::response::Response;
use http::{Method, header};
use serde_json::{Value, json};

use super::respond::{self, Include};
use super::route::{self, Form, Resource};
use super::{Asked, Skin, discovery, text, typed};
use crate::admission::Subject;
use crate::authorization::escalate;
use crate::error::ApiError;
use crate::eviction;
use crate::kind::Kind;
use crate::object::{Key, Object};
use crate::protobuf;
use crate::server::delete::Deleted;
use crate::server::options::{DeleteOptions, WriteOptions};
use crate::server::part::Part;
use crate::server::patch::{Patch, PatchType};
use crate::server::read::ListQuery;
use crate::server::scale::{self, How};
use crate::server::write::{Attempt, Outcome};
use crate::server::{Inner, convert, decode};

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
        let review = discovery::REVIEWS.iter().find(|(group, _, plural)| {
            *group == resource.group && *plural == resource.plural && resource.version == "v1"
        });
        if let Some((group, kind, _)) = review {
            return self.review(group, kind, asked);
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
            Err(false) => return Ok(text(404, "404 page not found\n")),
        };
        if !kind.namespaced && resource.namespace.is_some() {
            return Err(ApiError::no_such_resource());
        }
        let form = route::negotiate(asked.header(header::ACCEPT), false)?;
        let warning = deprecated(&kind).map(str::to_owned);
        let call = Call { skin: self, asked, kind, namespace: resource.namespace, form };
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
            Method::GET | Method::HEAD => {
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
        self.skin.watch(&self.kind, self.namespace.clone(), query, self.form, self.include())
    }

    /// A watch by the path that clients used before `?watch=true`, of a collection or of one object.
    fn old_watch(&self, name: Option<String>) -> Result<Response, ApiError> {
        if !matches!(self.asked.method, Method::GET | Method::HEAD) {
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
            Method::GET | Method::HEAD => {
                // `watch` means nothing here, as for the real server.
                self.query().version()?;
                let object = self.skin.server.lock().get(&self.kind, &self.key(name))?;
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
            "token" if self.kind.group.is_empty() && self.kind.plural == "serviceaccounts" => {
                self.skin.token(self.asked, &self.kind, &self.key(name))
            }
            "log" if pods => {
                self.skin.server.lock().get(&self.kind, &self.key(name))?;
                Ok(text(200, ""))
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

    /// The body of a create or update: an object of the kind.
    fn read_body(&self, options: &WriteOptions) -> Result<(Value, Vec<String>), ApiError> {
        let media_type = self.asked.media_type();
        let readable = match media_type {
            protobuf::MEDIA_TYPE => protobuf::decode(&self.asked.body).is_some(),
            _ => matches!(media_type, "application/json" | "application/yaml" | ""),
        };
        if !readable {
            return Err(ApiError::unsupported_media_type(
                "application/json, application/yaml, application/vnd.kubernetes.protobuf",
            ));
        }
        let kind = &self.kind;
        let body = typed::read(self.asked, &kind.kind, kind.custom.is_none())?;
        if kind.custom.is_some() && body.value["kind"].as_str().unwrap_or_default().is_empty() {
            let why = format!("Object 'Kind' is missing in '{}'", body.value);
            return Err(typed::unrecognized(self.asked, &kind.kind, &why));
        }
        {
            let inner = self.skin.server.lock();
            decode::check_kind(kind, &body.value, |api_version, kind| {
                inner.registry.by_kind(api_version, kind).is_some()
            })?;
        }
        decode::read(kind, &body, options)
    }

    /// Nobody writes rights that he does not have.
    fn may_give(&self, inner: &Inner, attempt: Attempt) -> Result<Attempt, ApiError> {
        let before = attempt.before.as_deref();
        let user = &self.asked.user;
        escalate::check(&inner.store, user, &self.kind, &attempt.after, before)?;
        Ok(attempt)
    }

    async fn create(&self) -> Result<Response, ApiError> {
        let options = self.write_options()?;
        let (object, warnings) = self.read_body(&options)?;
        let now = self.now();
        let namespace = self.namespace.as_deref().unwrap_or_default();
        let mut outcome = self
            .skin
            .server
            .submit(&self.kind, &options, now, |inner| {
                let attempt =
                    inner.prepare_create(&self.kind, namespace, object.clone(), &options, now)?;
                self.may_give(inner, attempt)
            })
            .await
            .map_err(|error| error.after_warnings(&warnings))?;
        outcome.warnings.splice(0..0, warnings);
        self.answer(outcome).await
    }

    async fn update(&self, name: &str, part: Part) -> Result<Response, ApiError> {
        let options = self.write_options()?;
        let (object, warnings) = self.read_body(&options)?;
        let key = self.key(name);
        let mut outcome = self
            .skin
            .server
            .submit(&self.kind, &options, self.now(), |inner| {
                let attempt =
                    inner.prepare_update(&self.kind, &key, part, object.clone(), self.now())?;
                self.may_give(inner, attempt)
            })
            .await
            .map_err(|error| error.after_warnings(&warnings))?;
        outcome.warnings.splice(0..0, warnings);
        self.answer(outcome).await
    }

    fn patch_body(&self, kind: &Kind) -> Result<Patch, ApiError> {
        let type_ = PatchType::parse(self.asked.media_type(), kind)?;
        let body = self.asked.read_body(false).map_err(|error| {
            let about = match type_ {
                PatchType::Strategic => "",
                PatchType::Apply => "error decoding YAML: error converting YAML to JSON: ",
                _ => "error decoding patch: ",
            };
            ApiError::bad_request(format!("{about}{error}"))
        })?;
        Patch::read(type_, body)
    }

    async fn patch(&self, name: &str, part: Part) -> Result<Response, ApiError> {
        let patch = self.patch_body(&self.kind)?;
        let options = self.write_options()?;
        let (key, now) = (self.key(name), self.now());
        let outcome = self
            .skin
            .server
            .submit(&self.kind, &options, now, |inner| {
                let attempt = inner.prepare_patch(&self.kind, &key, part, &patch, &options, now)?;
                self.may_give(inner, attempt)
            })
            .await?;
        self.answer(outcome).await
    }

    async fn scale(&self, name: &str) -> Result<Response, ApiError> {
        let how = match self.asked.method {
            Method::GET | Method::HEAD => {
                let object = self.skin.server.lock().get(&self.kind, &self.key(name))?;
                let shown = self.served(object).await?;
                let scale = scale::of(&self.kind, &shown)?;
                if self.form == Form::Table {
                    let table = respond::scale_table(scale, self.include(), self.now());
                    return Ok(respond::json(200, &table));
                }
                return Ok(respond::json(200, &scale));
            }
            Method::PUT => How::Replace(typed::read(self.asked, "Scale", true)?),
            Method::PATCH => How::Patch(self.patch_body(&self.kind)?),
            _ => return Err(ApiError::method_not_allowed()),
        };
        let options = self.write_options()?;
        let (key, now) = (self.key(name), self.now());
        let outcome = self
            .skin
            .server
            .submit(&self.kind, &options, now, |inner| {
                inner.prepare_scale(&self.kind, &key, &how, &options, now)
            })
            .await?;
        let shown = self.served(outcome.object).await?;
        let response = respond::json(200, &scale::of(&self.kind, &shown)?);
        Ok(respond::with_warnings(response, &outcome.warnings))
    }

    async fn evict(&self, name: &str) -> Result<Response, ApiError> {
        if self.asked.method != Method::POST {
            return Err(ApiError::method_not_allowed());
        }
        let body = typed::read(self.asked, "Eviction", true)?.value;
        let mut options = DeleteOptions::parse(&body["deleteOptions"], &[])?;
        options.dry_run |= self.write_options()?.dry_run;
        let (key, now) = (self.key(name), self.now());
        let warnings = self
            .skin
            .server
            .judge(|_| {
                Some(Subject {
                    subresource: "eviction".to_owned(),
                    operation: "CREATE",
                    object: body.clone(),
                    ..self.subject(name, options.dry_run)
                })
            })
            .await?;
        self.skin.server.write(|inner| inner.evict(&key, &body, &options, now))?;
        Ok(respond::with_warnings(respond::json(201, &eviction::accepted()), &warnings))
    }

    fn delete_options(&self) -> Result<DeleteOptions, ApiError> {
        DeleteOptions::parse(&typed::read_delete_options(self.asked)?, &self.asked.query)
    }

    /// Something that is not a plain write, as webhooks are told of it.
    fn subject(&self, name: &str, dry_run: bool) -> Subject {
        Subject {
            kind: self.kind.clone(),
            namespace: self.namespace.clone().unwrap_or_default(),
            name: name.to_owned(),
            subresource: String::new(),
            operation: "DELETE",
            object: Value::Null,
            old_object: Value::Null,
            dry_run,
            user: self.asked.user.clone(),
        }
    }

    async fn delete(&self, name: &str) -> Result<Response, ApiError> {
        let options = self.delete_options()?;
        let (key, now) = (self.key(name), self.now());
        let user = &self.asked.user;
        let (deleted, warnings) =
            self.skin.server.remove(&self.kind, &key, &options, user, now).await?;
        let response = match deleted {
            Deleted::Object(object) => self.show(200, &self.served(object).await?),
            Deleted::Gone(object) => {
                let mut details = self.kind.details(name);
                details["uid"] = object["metadata"]["uid"].clone();
                let status = json!({
                    "kind": "Status",
                    "apiVersion": "v1",
                    "metadata": {},
                    "status": "Success",
                    "details": details,
                });
                respond::json(200, &status)
            }
        };
        Ok(respond::with_warnings(response, &warnings))
    }

    async fn delete_collection(&self) -> Result<Response, ApiError> {
        if self.kind.group.is_empty() && self.kind.plural == "namespaces" {
            return Err(ApiError::method_not_allowed());
        }
        let options = self.delete_options()?;
        let query = self.query();
        let now = self.now();
        let namespace = self.kind.namespaced.then_some(self.namespace.as_deref()).flatten();
        let server = &self.skin.server;
        let page = server.lock().list(&self.kind, namespace, &query)?;
        for object in &page.items {
            let (key, user) = (Key::of(self.kind.collection(), object), &self.asked.user);
            server.remove(&self.kind, &key, &options, user, now).await.map_err(|error| {
                // Here it is the kind that the real server names.
                let (found, named) = (self.kind.qualified(), &self.kind.kind);
                ApiError { message: error.message.replacen(&found, named, 1), ..error }
            })?;
        }
        Ok(respond::list(&self.kind, &page, self.form, self.include(), now))
    }
}
