//! What a server has to ask a kubelet for: logs, commands, ports, whatever a Pod or a Node serves. Here
//! no container runs and no kubelet listens, so that all of it ends at the Node's name.

use axum::response::Response;
use http::{Method, header};

use super::Call;
use crate::error::ApiError;
use crate::http::text;
use crate::json::{Value, json};
use crate::object;

/// Where a kubelet listens.
const PORT: u16 = 10250;
/// What the kubelet is told of what was asked for, in its order.
const OF_LOGS: &[&str] = &[
    "follow",
    "limitBytes",
    "previous",
    "sinceSeconds",
    "sinceTime",
    "stream",
    "tailLines",
    "timestamps",
];

impl Call<'_> {
    /// `/log`: of a Pod that is nowhere yet, nothing.
    pub(super) fn log(&self, name: &str) -> Result<Response, ApiError> {
        if !matches!(self.asked.method, Method::GET | Method::HEAD) {
            return Err(ApiError::method_not_allowed());
        }
        let pod = self.skin.server.lock().get(&self.kind, &self.key(name))?;
        let container = self.container(&pod, name)?;
        let Some(node) = pod["spec"]["nodeName"].as_str() else { return Ok(text(200, "")) };
        let mut asked: Vec<(&str, &str)> = self
            .asked
            .query
            .iter()
            .filter(|(key, value)| OF_LOGS.contains(&key.as_str()) && value != "false")
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        asked.sort_unstable();
        let asked: Vec<String> =
            asked.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let query = if asked.is_empty() { String::new() } else { format!("?{}", asked.join("&")) };
        let namespace = object::namespace(&pod);
        Err(ApiError::internal(format!(
            "Get \"https://{node}:{PORT}/containerLogs/{namespace}/{name}/{container}{query}\": \
             dial tcp: {}",
            no_host(node)
        )))
    }

    /// `/exec`, `/attach` and `/portforward`: a stream that comes to nothing.
    pub(super) fn stream(&self, name: &str, sub: &str) -> Result<Response, ApiError> {
        if !matches!(self.asked.method, Method::GET | Method::POST) {
            return Err(ApiError::method_not_allowed());
        }
        let pod = self.skin.server.lock().get(&self.kind, &self.key(name))?;
        if sub != "portforward" {
            self.container(&pod, name)?;
        }
        let Some(node) = pod["spec"]["nodeName"].as_str() else {
            let why = format!("pod {name} does not have a host assigned");
            return Err(ApiError::bad_request(why));
        };
        if self.asked.header(header::UPGRADE).is_empty() {
            return Err(ApiError::bad_request("Upgrade request required"));
        }
        Err(ApiError::internal(format!("error dialing backend: dial tcp: {}", no_host(node))))
    }

    /// The container that is meant.
    fn container(&self, pod: &Value, name: &str) -> Result<String, ApiError> {
        let named = self.asked.query.iter().find(|(key, _)| key == "container");
        let names: Vec<&str> = ["containers", "initContainers", "ephemeralContainers"]
            .into_iter()
            .flat_map(|list| pod["spec"][list].as_array().into_iter().flatten())
            .filter_map(|container| container["name"].as_str())
            .collect();
        match named.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty()) {
            Some(asked) if names.contains(&asked) => Ok(asked.to_owned()),
            Some(asked) => {
                Err(ApiError::bad_request(format!("container {asked} is not valid for pod {name}")))
            }
            None if names.len() == 1 => Ok(names.concat()),
            None => Err(ApiError::bad_request(format!(
                "a container name must be specified for pod {name}, choose one of: [{}]",
                names.join(" ")
            ))),
        }
    }

    /// `/proxy` of a Node, of a Service, of a Pod.
    pub(super) fn proxy(&self, name: &str) -> Result<Response, ApiError> {
        let scheme_and_port = |name: &str| match name.split(':').collect::<Vec<_>>().as_slice() {
            [_, name, _] | [name, ..] => (*name).to_owned(),
            [] => String::new(),
        };
        let name = &scheme_and_port(name);
        let found = self.skin.server.lock().get(&self.kind, &self.key(name))?;
        match self.kind.plural.as_str() {
            "nodes" => Err(ApiError::bad_request(no_host(name))),
            "services" => {
                let why = format!("no endpoints available for service \"{name}\"");
                Err(ApiError::new(503, "ServiceUnavailable", why))
            }
            _ => {
                let address = found["status"]["podIP"].as_str().unwrap_or_default();
                let why = format!("error trying to reach service: dial tcp {address}: no route");
                Err(ApiError::new(503, "ServiceUnavailable", why).with_details(json!({})))
            }
        }
    }
}

fn no_host(node: &str) -> String {
    format!("lookup {node}: no such host")
}
