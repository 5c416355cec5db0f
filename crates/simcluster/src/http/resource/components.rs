//! ComponentStatuses: what is behind the server, as it was once told.

use axum::response::Response;
use http::{Method, header};

use crate::error::ApiError;
use crate::http::route::{self, Form, Resource};
use crate::http::{Asked, respond};
use crate::json::{Value, json};

const COMPONENTS: &[&str] = &["controller-manager", "etcd-0", "scheduler"];
const WARNING: &str = "v1 ComponentStatus is deprecated in v1.19+";

/// All of them, or one; here they are one process, and well as long as it answers.
pub(super) fn answer(place: &Resource, asked: &Asked) -> Result<Response, ApiError> {
    if place.namespace.is_some() || place.subresource.is_some() || place.watch {
        return Err(ApiError::no_such_resource());
    }
    if !matches!(asked.method, Method::GET | Method::HEAD) {
        return Err(ApiError::method_not_allowed());
    }
    let form = route::negotiate(asked.header(header::ACCEPT), false)?;
    let shown: Vec<Value> = match &place.name {
        None => COMPONENTS.iter().copied().map(status).collect(),
        Some(name) if COMPONENTS.contains(&name.as_str()) => vec![status(name)],
        Some(name) => {
            let text = format!("componentstatus \"{name}\" not found");
            return Err(ApiError::new(404, "NotFound", text)
                .with_details(json!({"name": name, "kind": "componentstatus"}))
                .after_warnings(&[WARNING.to_owned()]));
        }
    };
    let answer = match (form, &place.name) {
        (Form::Table, _) => table(&shown),
        (_, Some(_)) => shown.into_iter().next().unwrap_or_default(),
        (_, None) => json!({
            "kind": "ComponentStatusList", "apiVersion": "v1", "metadata": {}, "items": shown,
        }),
    };
    Ok(respond::with_warnings(respond::json(200, &answer), &[WARNING.to_owned()]))
}

fn status(name: &str) -> Value {
    json!({
        "kind": "ComponentStatus",
        "apiVersion": "v1",
        "metadata": {"name": name},
        "conditions": [{"type": "Healthy", "status": "True", "message": "ok"}],
    })
}

fn table(shown: &[Value]) -> Value {
    let column = |name: &str| {
        let format = if name == "Name" { "name" } else { "" };
        json!({"name": name, "type": "string", "format": format, "description": "", "priority": 0})
    };
    let columns = ["Name", "Status", "Message", "Error"].map(column);
    let rows: Vec<Value> = shown
        .iter()
        .map(|one| {
            json!({
                "cells": [one["metadata"]["name"], "Healthy", "ok", ""],
                "object": respond::partial(one),
            })
        })
        .collect();
    json!({
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {},
        "columnDefinitions": columns,
        "rows": rows,
    })
}
