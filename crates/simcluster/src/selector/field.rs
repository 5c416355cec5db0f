//! Field selectors: a handful of fields per kind, equal or not equal.

use super::SelectorError;
use crate::json::Value;
use crate::kind::Kind;

/// A parsed field selector: all terms must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    terms: Vec<(String, bool, String)>,
}

impl FieldSelector {
    /// Parses `a=b,c!=d` for a kind; refuses fields that the kind is not indexed by.
    pub fn parse(kind: &Kind, text: &str) -> Result<Self, SelectorError> {
        let mut terms = Vec::new();
        // How it is written comes before what it says.
        for term in &split_terms(text) {
            if let Some(bad) = split_operator(term).and_then(|(_, _, value)| unescaped(value)) {
                let code = u32::from(bad);
                return Err(SelectorError(format!(
                    "invalid field selector: unescaped character in value: {code}"
                )));
            }
        }
        for term in split_terms(text).iter().filter(|term| !term.is_empty()) {
            let (field, equal, value) = split_operator(term).ok_or_else(|| {
                SelectorError(format!("invalid selector: '{text}'; can't understand '{term}'"))
            })?;
            let supported = supported_fields(kind);
            if !supported.iter().any(|known| known == field) {
                return Err(refuse(kind, field));
            }
            terms.push((field.to_owned(), equal, unescape(value)));
        }
        Ok(Self { terms })
    }

    /// Whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The one name that it selects, if it pins `metadata.name`.
    pub fn name(&self) -> Option<&str> {
        self.pinned("metadata.name")
    }

    /// The value that a field is pinned to.
    pub fn pinned(&self, field: &str) -> Option<&str> {
        self.terms
            .iter()
            .find(|(known, equal, _)| known == field && *equal)
            .map(|(_, _, value)| value.as_str())
    }

    /// Whether an object is selected. An absent field reads as empty text.
    pub fn matches(&self, object: &Value) -> bool {
        self.terms.iter().all(|(field, equal, value)| (read(object, field) == *value) == *equal)
    }
}

/// The fields that a kind can be selected by, in the order of the server's messages.
pub fn supported_fields(kind: &Kind) -> Vec<String> {
    let mut fields = vec!["metadata.name".to_owned()];
    if kind.namespaced {
        fields.push("metadata.namespace".to_owned());
    }
    let more: &[&str] = match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Pod") => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        ("", "Node") => &["spec.unschedulable"],
        ("batch", "Job") => &["status.successful"],
        ("certificates.k8s.io", "CertificateSigningRequest") => &["spec.signerName"],
        ("", "Namespace") => &["status.phase"],
        ("", "Secret") => &["type"],
        ("", "Service") => &["spec.clusterIP", "spec.type"],
        ("", "Event") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        ("events.k8s.io", "Event") => &[
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reason",
            "reportingController",
            "type",
        ],
        _ => &[],
    };
    fields.extend(more.iter().map(|&field| field.to_owned()));
    fields
}

fn refuse(kind: &Kind, field: &str) -> SelectorError {
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Pod" | "Node" | "Namespace" | "Secret" | "Service" | "Event")
        | ("events.k8s.io", "Event") => {
            SelectorError(format!("field label not supported: {field}"))
        }
        _ if kind.custom.is_some() => SelectorError(format!("field label not supported: {field}")),
        _ => SelectorError(format!(
            "\"{field}\" is not a known field selector: only \"metadata.name\", \
             \"metadata.namespace\""
        )),
    }
}

fn read(object: &Value, field: &str) -> String {
    // Both groups store one object: what one calls `regarding`, the other calls `involvedObject`.
    let renamed = field
        .strip_prefix("regarding.")
        .filter(|_| object.get("regarding").is_none())
        .map(|rest| format!("involvedObject.{rest}"));
    let path = renamed.as_deref().unwrap_or(field);
    let pointer = format!("/{}", path.replace('.', "/"));
    match object.pointer(&pointer) {
        Some(Value::String(text)) => text.to_string(),
        Some(Value::Bool(flag)) => flag.to_string(),
        Some(Value::Number(number)) => number.to_string(),
        _ if matches!(field, "spec.unschedulable" | "spec.hostNetwork") => "false".to_owned(),
        _ => String::new(),
    }
}

fn split_terms(text: &str) -> Vec<String> {
    let mut terms = vec![String::new()];
    let mut escaped = false;
    for letter in text.chars() {
        if letter == ',' && !escaped {
            terms.push(String::new());
            continue;
        }
        escaped = letter == '\\' && !escaped;
        terms.last_mut().expect("never empty").push(letter);
    }
    terms
}

fn split_operator(term: &str) -> Option<(&str, bool, &str)> {
    let at = term.find(['=', '!'])?;
    let rest = &term[at..];
    let (equal, value) = if let Some(value) = rest.strip_prefix("!=") {
        (false, value)
    } else if let Some(value) = rest.strip_prefix("==") {
        (true, value)
    } else {
        (true, rest.strip_prefix('=')?)
    };
    Some((&term[..at], equal, value))
}

/// The first character of a value that only an escaped one may be.
fn unescaped(value: &str) -> Option<char> {
    let mut escaped = false;
    value.chars().find(|&letter| {
        let bad = letter == '=' && !escaped;
        escaped = letter == '\\' && !escaped;
        bad
    })
}

fn unescape(value: &str) -> String {
    value.replace("\\,", ",").replace("\\=", "=").replace("\\\\", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;
    use crate::kind::Registry;

    #[track_caller]
    fn check(plural: &str, text: &str, object: &Value, expect: Result<bool, &str>) {
        let registry = Registry::built_in();
        let kind = registry.find("", "v1", plural).expect("a served kind");
        let got = FieldSelector::parse(kind, text).map(|selector| selector.matches(object));
        assert_eq!(got, expect.map_err(|message| SelectorError(message.to_owned())));
    }

    #[test]
    fn a_kind_is_selected_by_its_own_fields_only() {
        let pod = json!({"metadata": {"name": "a"}, "spec": {"nodeName": "n"}});
        check("pods", "spec.nodeName=n", &pod, Ok(true));
        check("pods", "spec.nodeName!=n", &pod, Ok(false));
        check("pods", "status.phase==", &pod, Ok(true));
        check("pods", "metadata.name=a,spec.nodeName=x", &pod, Ok(false));
        let unescaped = "invalid field selector: unescaped character in value: 61";
        check("pods", "a=b=c", &pod, Err(unescaped));
        check("pods", r"metadata.name=b\=c", &pod, Ok(false));
        check("pods", "spec.foo=1", &pod, Err("field label not supported: spec.foo"));
        check(
            "configmaps",
            "data.i=1",
            &pod,
            Err("\"data.i\" is not a known field selector: only \"metadata.name\", \
                 \"metadata.namespace\""),
        );
    }
}
