//! Between v1alpha1 and v1beta1, exactly: what comes back is what went in.
//!
//! The rules are the original's ([`rollout`], [`batch_release`]), and they lose things: a v1alpha1
//! step that has only a weight, a style that was written in capitals or not at all. So whatever the
//! way back would not restore goes along in an annotation ([`record`]), and is taken out again on
//! the way back. Fields that are not known stay where they are.

mod batch_release;
pub mod record;
mod review;
mod rollout;
mod shape;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use thiserror::Error;

pub use review::convert_review;

use super::names::GROUP;
use super::{BatchRelease, Rollout, v1alpha1};

/// A version of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    V1alpha1,
    V1beta1,
}

impl Version {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::V1alpha1 => "v1alpha1",
            Self::V1beta1 => "v1beta1",
        }
    }

    /// With the group, as objects have it.
    pub fn api_version(self) -> String {
        format!("{GROUP}/{}", self.name())
    }

    /// Of an `apiVersion`; `None` for another group or an unknown version.
    pub fn of(api_version: &str) -> Option<Self> {
        let (group, version) = api_version.split_once('/')?;
        [Self::V1alpha1, Self::V1beta1]
            .into_iter()
            .find(|known| group == GROUP && version == known.name())
    }

    fn other(self) -> Self {
        match self {
            Self::V1alpha1 => Self::V1beta1,
            Self::V1beta1 => Self::V1alpha1,
        }
    }
}

/// Why an object cannot be converted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConvertError {
    /// Not an object at all.
    #[error("{0} is no object")]
    NotAnObject(String),
    /// Of a group or version that is not ours.
    #[error("{object}: apiVersion is {found}, but must be {GROUP}/v1alpha1 or {GROUP}/v1beta1")]
    Version { object: String, found: String },
    /// Of a kind that has no two versions.
    #[error("{object}: kind is {found}, but must be Rollout or BatchRelease")]
    Kind { object: String, found: String },
    /// A field of a shape that says nothing.
    #[error("{object}: {field} must be {wanted}, but is {found}")]
    Shape { object: String, field: String, wanted: &'static str, found: String },
}

/// The object in the version that is asked for.
pub fn convert(object: &Value, to: Version) -> Result<Value, ConvertError> {
    let kind = Kind::of(object)?;
    if kind.version == to {
        return Ok(object.clone());
    }
    let (bare, changes) = record::take(object);
    let by_rules = plain(kind, to, &bare)?;
    let made = record::apply(&changes, &by_rules);
    // Anybody can write an annotation. One object that cannot be read would end the list, and the
    // watch, of all.
    let made = if is_readable(kind, to, &made) { made } else { by_rules };
    // What the way back needs beside the rules. Whether the object needs a record again after that
    // is found then: none is kept for its own sake.
    let back = plain(kind, to.other(), &made)?;
    let lost = record::difference(&back, &bare);
    Ok(if lost.is_empty() { made } else { record::put(&lost, made) })
}

/// Whatever version an object is in, what is worked with.
pub fn to_stored(object: &Value) -> Result<Value, ConvertError> {
    convert(object, Version::V1beta1)
}

/// Whether an object has the shapes that its version promises.
fn is_readable(kind: Kind, version: Version, object: &Value) -> bool {
    let known = match (kind.is_rollout, version) {
        (true, Version::V1alpha1) => v1alpha1::Rollout::deserialize(object).is_ok(),
        (true, Version::V1beta1) => Rollout::deserialize(object).is_ok(),
        (false, Version::V1alpha1) => v1alpha1::BatchRelease::deserialize(object).is_ok(),
        (false, Version::V1beta1) => BatchRelease::deserialize(object).is_ok(),
    };
    known && plain(kind, version.other(), object).is_ok()
}

/// By the rules alone.
fn plain(kind: Kind, to: Version, object: &Value) -> Result<Value, ConvertError> {
    let mut object = object.clone();
    let name = describe(&object);
    let root = shape::Fields::root(&mut object, &name)?;
    root.map.insert("apiVersion".into(), json!(to.api_version()));
    match (kind.is_rollout, to) {
        (true, Version::V1beta1) => rollout::up(root),
        (true, Version::V1alpha1) => rollout::down(root),
        (false, Version::V1beta1) => batch_release::up(root),
        (false, Version::V1alpha1) => batch_release::down(root),
    }?;
    Ok(object)
}

#[derive(Clone, Copy)]
struct Kind {
    is_rollout: bool,
    version: Version,
}

impl Kind {
    fn of(object: &Value) -> Result<Self, ConvertError> {
        let name = describe(object);
        let Some(map) = object.as_object() else { return Err(ConvertError::NotAnObject(name)) };
        let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default();
        let found = |key: &str| map.get(key).unwrap_or(&Value::Null).to_string();
        let Some(version) = Version::of(text("apiVersion")) else {
            return Err(ConvertError::Version { object: name, found: found("apiVersion") });
        };
        match text("kind") {
            "Rollout" => Ok(Self { is_rollout: true, version }),
            "BatchRelease" => Ok(Self { is_rollout: false, version }),
            _ => Err(ConvertError::Kind { object: name, found: found("kind") }),
        }
    }
}

/// `Rollout shop/web`, as far as that is known.
fn describe(object: &Value) -> String {
    let nothing = Map::new();
    let Some(map) = object.as_object() else {
        return object.to_string().chars().take(40).collect();
    };
    let metadata = map.get("metadata").and_then(Value::as_object).unwrap_or(&nothing);
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let (namespace, name) = (text(metadata.get("namespace")), text(metadata.get("name")));
    let name = if name.is_empty() { "without a name".to_owned() } else { name };
    let place = if namespace.is_empty() { name } else { format!("{namespace}/{name}") };
    let kind = text(map.get("kind"));
    if kind.is_empty() { format!("object {place}") } else { format!("{kind} {place}") }
}
