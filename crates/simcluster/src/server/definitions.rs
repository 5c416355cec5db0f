//! Kinds that come and go with their CustomResourceDefinitions.

use std::sync::Arc;

use super::Inner;
use crate::behaviour::View as _;
use crate::json::Value;
use crate::kind::{Custom, Kind, ScalePaths};
use crate::object::{self, CRDS, Collection, Key, Object};

impl Inner {
    /// Stores an object; a CRD is served from then on.
    pub(super) fn put(&mut self, key: Key, object: Value) -> Object {
        let stored = self.store.put(key, object);
        if stored["kind"] == "CustomResourceDefinition" {
            self.registry.remove_crd(object::name(&stored));
            for kind in kinds(&stored) {
                self.registry.add(kind);
            }
            self.end_watches(&stored);
        }
        stored
    }

    /// Removes an object; a CRD's kinds are no longer served.
    pub(super) fn take(&mut self, key: &Key) {
        let removed = self.store.get(key).cloned().filter(|_| key.collection == CRDS);
        self.store.remove(key);
        if let Some(definition) = removed {
            self.registry.remove_crd(&key.name);
            self.end_watches(&definition);
        }
    }

    /// Has those who watch what it defines look whether that is still served in their version.
    fn end_watches(&self, definition: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let spec = &definition["spec"];
        let (group, plural) = (text(&spec["group"]), text(&spec["names"]["plural"]));
        let collection = Collection { group: group.into(), plural: plural.into() };
        if let Some(waker) = self.wakers.get(&collection) {
            waker.notify_waiters();
        }
    }
}

/// The kinds of a CRD, one for each served version.
pub fn kinds(crd: &Value) -> Vec<Kind> {
    let spec = &crd["spec"];
    let names = &spec["names"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().map(text).collect()
    };
    let versions = || spec["versions"].as_array().into_iter().flatten();
    let storage_version = versions()
        .find(|version| version["storage"] == true)
        .map(|version| text(&version["name"]))
        .unwrap_or_default();
    let conversion = (spec["conversion"]["strategy"] == "Webhook")
        .then(|| Arc::new(spec["conversion"]["webhook"].clone()));
    let kind = text(&names["kind"]);
    let or = |value: &Value, default: String| {
        value.as_str().filter(|text| !text.is_empty()).map_or(default, str::to_owned)
    };
    versions()
        .filter(|version| version["served"] == true)
        .map(|version| {
            let scale = &version["subresources"]["scale"];
            Kind {
                group: text(&spec["group"]),
                version: text(&version["name"]),
                kind: kind.clone(),
                list_kind: or(&names["listKind"], format!("{kind}List")),
                plural: text(&names["plural"]),
                singular: or(&names["singular"], kind.to_lowercase()),
                short_names: texts(&names["shortNames"]),
                categories: texts(&names["categories"]),
                namespaced: spec["scope"] == "Namespaced",
                has_status: version["subresources"]["status"].is_object(),
                scale: scale.is_object().then(|| ScalePaths {
                    spec_replicas: text(&scale["specReplicasPath"]),
                    status_replicas: text(&scale["statusReplicasPath"]),
                    selector: text(&scale["labelSelectorPath"]),
                }),
                storage_hash: storage_hash(crd),
                custom: Some(Custom {
                    schema: version["schema"]["openAPIV3Schema"].clone(),
                    columns: version["additionalPrinterColumns"]
                        .as_array()
                        .cloned()
                        .unwrap_or_default(),
                    storage_version: storage_version.clone(),
                    conversion: conversion.clone(),
                    crd: object::name(crd).to_owned(),
                }),
            }
        })
        .collect()
}

/// Opaque to clients; the same for the same CRD.
fn storage_hash(crd: &Value) -> String {
    use base64::Engine as _;
    let name = object::name(crd);
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, b| {
        (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    });
    base64::engine::general_purpose::STANDARD.encode(hash.to_be_bytes())
}
