//! What the parameters of LIST and WATCH may not say together.

use super::read::ListQuery;
use crate::error::{ApiError, Cause};
use crate::json::json;

/// Every refusal is about one of these two.
const MATCH: &str = "resourceVersionMatch";
const INITIAL: &str = "sendInitialEvents";

impl ListQuery {
    /// 422: in the server's words and order.
    pub(super) fn refuse(&self) -> Result<(), ApiError> {
        let causes = if self.watch { self.wrong_in_watch() } else { self.wrong_in_list() };
        let lines: Vec<String> =
            causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
        let lines = match lines.as_slice() {
            [] => return Ok(()),
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let message = format!("ListOptions.meta.k8s.io \"\" is invalid: {lines}");
        Err(ApiError::new(422, "Invalid", message)
            .with_details(json!({"group": "meta.k8s.io", "kind": "ListOptions"}))
            .with_causes(causes))
    }

    fn wrong_in_list(&self) -> Vec<Cause> {
        let mut causes = Vec::new();
        if !self.match_.is_empty() {
            if self.resource_version.is_empty() {
                let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
                causes.push(forbidden(MATCH, why));
            }
            if !self.continue_.is_empty() {
                let why = "resourceVersionMatch is forbidden when continue is provided";
                causes.push(forbidden(MATCH, why));
            }
            if !matches!(self.match_.as_str(), "Exact" | "NotOlderThan") {
                causes.push(unsupported(&self.match_, r#""Exact", "NotOlderThan", """#));
            }
            if self.match_ == "Exact" && self.resource_version == "0" {
                let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
                causes.push(forbidden(MATCH, why));
            }
        }
        if self.initial_events.is_some() {
            causes.push(forbidden(INITIAL, "sendInitialEvents is forbidden for list"));
        }
        causes
    }

    fn wrong_in_watch(&self) -> Vec<Cause> {
        let mut causes = Vec::new();
        // Who says nothing of where it begins asks for what there is.
        let implied = self.initial_events.is_none()
            && self.match_.is_empty()
            && matches!(self.resource_version.as_str(), "" | "0");
        if self.initial_events.is_some() && self.match_ != "NotOlderThan" {
            let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            causes.push(forbidden(MATCH, why));
        }
        if self.match_.is_empty() && !implied {
            return causes;
        }
        if self.initial_events.is_none() && !implied {
            let why =
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            causes.push(forbidden(MATCH, why));
        }
        if self.match_ != "NotOlderThan" && !implied {
            causes.push(unsupported(&self.match_, r#""NotOlderThan""#));
        }
        if !self.continue_.is_empty() {
            let why = "resourceVersionMatch is forbidden when continue is provided";
            causes.push(forbidden(MATCH, why));
        }
        causes
    }
}

fn forbidden(field: &str, why: &str) -> Cause {
    Cause::new("FieldValueForbidden", format!("Forbidden: {why}"), field)
}

fn unsupported(value: &str, supported: &str) -> Cause {
    let why = format!("Unsupported value: \"{value}\": supported values: {supported}");
    Cause::new("FieldValueNotSupported", why, MATCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_do_not_go_together_are_refused_in_the_servers_words() {
        fn check(query: &str, expect: &str) {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            let pairs: Vec<_> =
                pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
            let refused = ListQuery::parse(&pairs).refuse().err();
            let message = refused.map(|error| error.message).unwrap_or_default();
            let begins = "ListOptions.meta.k8s.io \"\" is invalid: ";
            assert_eq!(message.strip_prefix(begins).unwrap_or_default(), expect, "{query}");
        }
        check("", "");
        check("watch=true", "");
        check("resourceVersion=5&resourceVersionMatch=Exact", "");
        check("watch=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true", "");
        check(
            "sendInitialEvents=true",
            "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
        );
        check(
            "resourceVersion=5&resourceVersionMatch=Nope",
            "resourceVersionMatch: Unsupported value: \"Nope\": supported values: \"Exact\", \
             \"NotOlderThan\", \"\"",
        );
        check(
            "watch=true&continue=x",
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is \
             provided",
        );
        check("watch=true&resourceVersion=5&continue=x", "");
        check(
            "watch=true&sendInitialEvents=false",
            "resourceVersionMatch: Forbidden: sendInitialEvents requires setting \
             resourceVersionMatch to NotOlderThan",
        );
    }
}
