//! What the plugins of a stock server do with a new object that others of the cluster have a say in:
//! ranges of its namespace, and the classes that it names.

use super::Inner;
use crate::admission::user_info;
use crate::authorization::User;
use crate::behaviour::View;
use crate::builtin::limits;
use crate::error::ApiError;
use crate::json::{Value, json};
use crate::kind::Kind;
use crate::object::{self, Collection};

const RANGES: Collection = Collection::known("", "limitranges");
const PRIORITIES: Collection = Collection::known("scheduling.k8s.io", "priorityclasses");
const RUNTIMES: Collection = Collection::known("node.k8s.io", "runtimeclasses");

/// The classes that every cluster has.
const SYSTEM: &[(&str, i64)] =
    &[("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];

impl Inner {
    /// Gives a new object what it does not say itself.
    pub(super) fn give(
        &self,
        kind: &Kind,
        namespace: &str,
        object: &mut Value,
        user: &User,
    ) -> Result<(), ApiError> {
        if kind.group == "certificates.k8s.io" && kind.kind == "CertificateSigningRequest" {
            // Who asks is who is asked for.
            for (field, value) in user_info(user).as_object().into_iter().flatten() {
                object["spec"][field] = value.clone();
            }
        }
        if !kind.group.is_empty() || kind.kind != "Pod" {
            return Ok(());
        }
        limits::fill(kind, self.store.list(&RANGES, Some(namespace)).map(AsRef::as_ref), object);
        self.rank(object).map_err(|why| ApiError::forbidden(kind, object::name(object), &why))?;
        let runtime = object["spec"]["runtimeClassName"].as_str();
        match runtime.filter(|name| self.store.find(&RUNTIMES, "", name).is_none()) {
            Some(name) => {
                let why = format!("pod rejected: RuntimeClass \"{name}\" not found");
                Err(ApiError::forbidden(kind, object::name(object), &why))
            }
            None => Ok(()),
        }
    }

    /// Refuses a new object that asks for what its namespace does not give.
    pub(super) fn refuse(
        &self,
        kind: &Kind,
        namespace: &str,
        object: &Value,
    ) -> Result<(), ApiError> {
        if !kind.namespaced || kind.custom.is_some() {
            return Ok(());
        }
        let ranges = self.store.list(&RANGES, Some(namespace)).map(AsRef::as_ref);
        match limits::refuse(kind, ranges, object) {
            Some(why) => Err(ApiError::forbidden(kind, object::name(object), &why)),
            None => Ok(()),
        }
    }

    /// The priority of a new Pod, from the class that it names.
    fn rank(&self, pod: &mut Value) -> Result<(), String> {
        let name = pod["spec"]["priorityClassName"].as_str().unwrap_or_default();
        if name.is_empty() {
            return Ok(());
        }
        let (value, policy) = match SYSTEM.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => (json!(value), json!("PreemptLowerPriority")),
            None => {
                let class = self.store.find(&PRIORITIES, "", name);
                let class =
                    class.ok_or_else(|| format!("no PriorityClass with name {name} was found"))?;
                (class["value"].clone(), class["preemptionPolicy"].clone())
            }
        };
        pod["spec"]["priority"] = value;
        if pod["spec"]["preemptionPolicy"].is_null() && !policy.is_null() {
            pod["spec"]["preemptionPolicy"] = policy;
        }
        Ok(())
    }
}
