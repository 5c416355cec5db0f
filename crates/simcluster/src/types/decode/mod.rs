//! Reading a body as a typed object: wrong types, unknown fields and empty values.
//!
//! The real server decodes into Go structs and encodes those again. What that does to an object is
//! done here on JSON: unknown fields go (and are named), and so do nulls, empty maps and lists, and
//! the zero values that Go leaves out.

mod scalar;

use self::scalar::{go_name, kind_of, read_bytes, read_quantity, read_time};
use super::{Ty, Type, at};
use crate::error::{ApiError, Cause};
use crate::json::{Map, Text, Value};
use crate::kind::Kind;

/// A body that is no object of its kind; the text is the decoder's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
// What can be a number or a text is read by itself, and as a number if it is no text.
#[error("{}", .0.replace(INT_OR_STRING, "int32"))]
pub struct DecodeError(pub String);

/// What Go calls a number that may be a percentage.
pub const INT_OR_STRING: &str = "intstr.IntOrString";

impl DecodeError {
    /// How complaints about fields are refused under `fieldValidation=Strict`.
    pub fn strict(complaints: &[String]) -> Self {
        Self(format!("strict decoding error: {}", complaints.join(", ")))
    }

    /// 400, as create and update answer.
    pub fn refused(&self, kind: &Kind) -> ApiError {
        let (name, version) = (&kind.kind, &kind.version);
        ApiError::bad_request(format!(
            "{name} in version \"{version}\" cannot be handled as a {name}: {self}"
        ))
    }

    /// 422, as a patch whose result does not decode is answered: about no kind and no name.
    pub fn refused_patch(&self, shown: &str) -> ApiError {
        let shown = Value::from(shown);
        let message = format!("Invalid value: {shown}: {self}");
        let cause = Cause::new("FieldValueInvalid", message, "patch");
        ApiError::new(422, "Invalid", format!(" \"\" is invalid: patch: {}", cause.message))
            .with_causes(vec![cause])
    }
}

/// Reads `object` as `ty`, in place. Returns the paths of the unknown fields that were dropped.
pub fn decode(ty: &'static Type, object: &mut Value) -> Result<Vec<String>, DecodeError> {
    let mut reader = Reader { unknown: Vec::new(), strict: Vec::new(), fields: Vec::new() };
    let Some(map) = object.as_object_mut() else {
        return Err(DecodeError(format!(
            "json: cannot unmarshal {} into Go value of type v1.{}",
            kind_of(object),
            ty.short_name()
        )));
    };
    reader.read_struct(ty, map)?;
    Ok(reader.unknown)
}

/// Times that conditions show as null when they have none.
const PROBE_TIME: &str = "lastProbeTime";
const TRANSITION_TIME: &str = "lastTransitionTime";

struct Reader {
    unknown: Vec<String>,
    /// Where we are, with indices, as unknown fields are named.
    strict: Vec<String>,
    /// Where we are, fields only, as type errors are named.
    fields: Vec<String>,
}

impl Reader {
    fn read_struct(&mut self, ty: &'static Type, map: &mut Map) -> Result<(), DecodeError> {
        let keys: Vec<String> = map.keys().map(Text::to_string).collect();
        for key in keys {
            let Some(field) = ty.fields.get(&key) else {
                if !(ty.says_its_kind() && matches!(key.as_str(), "apiVersion" | "kind")) {
                    self.unknown.push(self.path_to(&key));
                    map.remove(&key);
                }
                continue;
            };
            let Some(value) = map.get_mut(&key) else { continue };
            if value.is_null() {
                if key != PROBE_TIME && key != TRANSITION_TIME {
                    map.remove(&key);
                }
                continue;
            }
            let segment = self.strict.last().map_or(key.clone(), |_| format!(".{key}"));
            self.strict.push(segment);
            self.fields.push(key.clone());
            self.read(&field.ty, value, ty)?;
            self.strict.pop();
            self.fields.pop();
            let goes = match (&field.ty, &*value) {
                (Ty::Map(_), Value::Object(map)) => map.is_empty(),
                (Ty::List(_), Value::Array(list)) => {
                    list.is_empty() && !SAYS_BY_NONE.contains(&(ty.name.as_str(), key.as_str()))
                }
                (Ty::String, Value::String(text)) => {
                    text.is_empty() && !field.required && !KEEPS_EMPTY.contains(&key.as_str())
                }
                (Ty::Bool, Value::Bool(false)) => OMITS_ZERO.contains(&key.as_str()),
                (Ty::Int32 | Ty::Int64, Value::Number(number)) => {
                    number.as_i64() == Some(0) && OMITS_ZERO.contains(&key.as_str())
                }
                _ => false,
            };
            if goes {
                map.remove(&key);
            }
        }
        for time in [PROBE_TIME, TRANSITION_TIME] {
            if ty.fields.get(time).is_some_and(|field| field.ty == Ty::Time) {
                map.entry(time).or_insert(Value::Null);
            }
        }
        Ok(())
    }

    fn read(
        &mut self,
        ty: &'static Ty,
        value: &mut Value,
        within: &'static Type,
    ) -> Result<(), DecodeError> {
        let fits = match ty {
            Ty::String => value.is_string(),
            Ty::Bytes => match value.as_str() {
                Some(text) => return read_bytes(text),
                None => false,
            },
            Ty::Bool => value.is_boolean(),
            Ty::Int32 => value.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
            Ty::Int64 => value.as_i64().is_some(),
            Ty::Float64 => value.is_number(),
            Ty::IntOrString => {
                let fits = |number| i32::try_from(number).is_ok();
                value.is_string() || value.as_i64().is_some_and(fits)
            }
            Ty::Quantity => return read_quantity(value),
            Ty::Time => return read_time(value, "2006-01-02T15:04:05Z07:00"),
            Ty::MicroTime => return read_time(value, "2006-01-02T15:04:05.000000Z07:00"),
            Ty::Raw => true,
            Ty::Struct(index) => match value.as_object_mut() {
                Some(map) => return self.read_struct(at(*index), map),
                None => false,
            },
            Ty::List(item) => match value.as_array_mut() {
                Some(list) => {
                    for (index, entry) in list.iter_mut().enumerate() {
                        self.strict.push(format!("[{index}]"));
                        self.read(item, entry, within)?;
                        self.strict.pop();
                    }
                    return Ok(());
                }
                None => false,
            },
            Ty::Map(inner) => match value.as_object_mut() {
                Some(map) => {
                    for (key, entry) in map.iter_mut() {
                        if entry.is_null() && **inner == Ty::String {
                            *entry = Value::from("");
                        }
                        self.strict.push(format!("[{key}]"));
                        self.read(inner, entry, within)?;
                        self.strict.pop();
                    }
                    return Ok(());
                }
                None => false,
            },
        };
        if fits {
            return Ok(());
        }
        let (what, go) = (kind_of(value), go_name(ty));
        let (owner, path) = (within.short_name(), self.fields.join("."));
        Err(DecodeError(format!(
            "json: cannot unmarshal {what} into Go struct field {owner}.{path} of type {go}"
        )))
    }

    fn path_to(&self, key: &str) -> String {
        let mut path = self.strict.concat();
        if !path.is_empty() {
            path.push('.');
        }
        path + key
    }
}

/// Lists of which an empty one says something else than none, and is kept until that has been heard: no
/// managers at all, no way to scale.
const SAYS_BY_NONE: &[(&str, &str)] =
    &[("ObjectMeta", "managedFields"), ("HPAScalingRules", "policies")];

/// Optional texts that Go holds by pointer, so that an empty one is kept.
const KEEPS_EMPTY: &[&str] = &["storageClassName", "volumeAttributesClassName", "holderIdentity"];

/// Numbers and booleans that Go leaves out when they are zero.
const OMITS_ZERO: &[&str] = &[
    "minReadySeconds",
    "hostPort",
    "nodePort",
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
    "readyReplicas",
    "currentReplicas",
    "updatedReplicas",
    "unavailableReplicas",
    "fullyLabeledReplicas",
    "observedGeneration",
    "readOnly",
    "hostNetwork",
    "hostPID",
    "hostIPC",
    "stdin",
    "stdinOnce",
    "tty",
    "paused",
    "unschedulable",
    "publishNotReadyAddresses",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    #[track_caller]
    fn check(kind: &str, mut body: Value, expect: Result<(&[&str], Value), &str>) {
        let ty = crate::types::by_name(kind).expect("a kind of the table");
        let got = decode(ty, &mut body);
        match expect {
            Ok((unknown, object)) => {
                assert_eq!(got.expect("decodes"), unknown);
                assert_eq!(body, object);
            }
            Err(message) => assert_eq!(got.expect_err("is refused").to_string(), message),
        }
    }

    #[test]
    fn a_wrong_type_is_named_by_its_innermost_struct_and_whole_path() {
        check(
            "ConfigMap",
            json!({"data": {"a": 1}}),
            Err("json: cannot unmarshal number into Go struct field ConfigMap.data of type string"),
        );
        check(
            "StatefulSet",
            json!({"spec": {"replicas": "3"}}),
            Err(
                "json: cannot unmarshal string into Go struct field StatefulSetSpec.spec.replicas \
                 of type int32",
            ),
        );
        check(
            "Pod",
            json!({"spec": {"containers": [{"env": [{"name": "A", "value": 1}]}]}}),
            Err("json: cannot unmarshal number into Go struct field \
                 EnvVar.spec.containers.env.value of type string"),
        );
    }

    #[test]
    fn a_bad_time_is_refused_in_the_words_of_the_parser() {
        check(
            "Lease",
            json!({"spec": {"renewTime": "yesterday"}}),
            Err(
                "parsing time \"yesterday\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \
                 \"yesterday\" as \"2006\"",
            ),
        );
    }

    #[test]
    fn what_is_no_base64_is_refused_at_its_first_wrong_byte() {
        let secret = |data: &str, expect: Option<usize>| {
            let why = expect.map(|at| format!("illegal base64 data at input byte {at}"));
            let body = json!({"data": {"a": data}});
            check("Secret", body.clone(), why.as_deref().map_or(Ok((&[], body)), Err));
        };
        for good in ["", "eA==", "eHk=", "eHl6", "eA=\n="] {
            secret(good, None);
        }
        for (bad, at) in [
            ("not base64", 3),
            ("eA", 0),
            ("eHl6e", 4),
            ("=", 0),
            ("eA=", 3),
            ("eA=x", 2),
            ("eA==x", 4),
        ] {
            secret(bad, Some(at));
        }
    }

    #[test]
    fn a_number_that_may_be_a_percentage_has_no_more_than_32_bits() {
        check(
            "PodDisruptionBudget",
            json!({"spec": {"minAvailable": 2_147_483_648_u32}}),
            Err("json: cannot unmarshal number 2147483648 into Go struct field \
                 PodDisruptionBudgetSpec.spec.minAvailable of type int32"),
        );
    }

    #[test]
    fn an_unknown_field_is_dropped_and_named_with_its_index() {
        check(
            "Pod",
            json!({"spec": {"containers": [{"name": "a"}, {"imagee": "x"}]}, "dat": {}}),
            Ok((
                &["dat", "spec.containers[1].imagee"],
                json!({"spec": {"containers": [{"name": "a"}, {}]}}),
            )),
        );
    }

    #[test]
    fn nulls_and_empty_values_are_gone_after_decoding_but_empty_structs_stay() {
        check(
            "Pod",
            json!({
                "metadata": {"creationTimestamp": null, "labels": {}, "name": "a"},
                "spec": {
                    "hostNetwork": false,
                    "containers": [{"env": [], "resources": {}, "env": [{"name": "A", "value": ""}]}],
                    "volumes": [{"name": "v", "emptyDir": {}}],
                }
            }),
            Ok((
                &[],
                json!({
                    "metadata": {"name": "a"},
                    "spec": {
                        "containers": [{"resources": {}, "env": [{"name": "A"}]}],
                        "volumes": [{"name": "v", "emptyDir": {}}],
                    }
                }),
            )),
        );
    }
}
