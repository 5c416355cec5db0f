//! Metadata of a watched object, without `managedFields` and without kubectl's copy of the manifest.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};

use crate::key::Key;
use crate::kind::Kind;
use crate::subject::Workload;

/// kubectl's copy of the last applied manifest: as large as the object, and of no use to us.
pub(crate) const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The part of the metadata that is used. Absent fields are empty.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Meta {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// UID.
    pub uid: String,
    /// The version of this content.
    pub resource_version: String,
    /// Counts changes of the spec.
    pub generation: i64,
    /// Labels.
    #[serde(deserialize_with = "null_is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations, all but kubectl's copy of the manifest.
    #[serde(deserialize_with = "annotations")]
    pub annotations: BTreeMap<String, String>,
    /// When it was created.
    pub creation_timestamp: Option<Timestamp>,
    /// Since when, or until when, it is being deleted.
    pub deletion_timestamp: Option<Timestamp>,
    /// The owner that controls it, if one does.
    #[serde(rename = "ownerReferences", deserialize_with = "controller")]
    pub owner: Option<Owner>,
}

impl Meta {
    /// Namespace and name.
    pub fn key(&self) -> Key {
        Key::new(self.namespace.as_str(), self.name.as_str())
    }
}

/// The owner that controls an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Owner {
    /// Group and version.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// Name.
    pub name: String,
    /// UID.
    pub uid: String,
    /// Whether it is the one that controls it.
    pub controller: bool,
}

impl Owner {
    /// The kind of workload that it is of, if it is one; in whichever version it says.
    pub(crate) fn workload_kind(&self) -> Option<Kind> {
        Kind::of_version(&self.api_version, &self.kind)
    }

    /// The workload that it is, if it is one; what it owns is in `namespace`.
    pub(crate) fn workload(&self, namespace: &str) -> Option<Workload> {
        Some(Workload::new(self.workload_kind()?, Key::new(namespace, self.name.as_str())))
    }
}

/// `null` for a map or a list means the same as none.
pub(crate) fn null_is_empty<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn annotations<'de, D>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error>
where
    D: Deserializer<'de>,
{
    let mut annotations: BTreeMap<String, String> = null_is_empty(deserializer)?;
    annotations.remove(LAST_APPLIED);
    Ok(annotations)
}

fn controller<'de, D>(deserializer: D) -> Result<Option<Owner>, D::Error>
where
    D: Deserializer<'de>,
{
    let owners: Vec<Owner> = null_is_empty(deserializer)?;
    Ok(owners.into_iter().find(|owner| owner.controller))
}
