//! What a request asks for beside its object: the query parameters and `DeleteOptions`.

use crate::authorization::User;
use crate::error::{ApiError, Cause};
use crate::json::{Value, json};

/// What to do with fields that the kind does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum FieldValidation {
    /// Drop them silently.
    Ignore,
    /// Drop them and say so in a `Warning` header: the server's default.
    #[default]
    Warn,
    /// Refuse the request.
    Strict,
}

/// Options of create, update and patch.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// `fieldManager`, or the first word of the User-Agent.
    pub manager: String,
    /// Whether `fieldManager` was given; apply insists on it.
    pub manager_given: bool,
    /// `dryRun=All`.
    pub dry_run: bool,
    /// `fieldValidation`.
    pub field_validation: FieldValidation,
    /// `force` of an apply.
    pub force: bool,
    /// Who writes, as webhooks are told.
    pub user: User,
}

impl WriteOptions {
    /// Options of a component that writes under its own name.
    pub fn of(manager: &str) -> Self {
        Self {
            manager: manager.to_owned(),
            manager_given: true,
            user: User::master(manager),
            ..Self::default()
        }
    }

    /// From the query of a request and its User-Agent. `verb` is how refusals name the options:
    /// `Create`, `Update` or `Patch`.
    pub fn parse(
        verb: &str,
        query: &[(String, String)],
        user_agent: &str,
    ) -> Result<Self, ApiError> {
        let mut out = Self::default();
        let mut causes = Vec::new();
        for (key, value) in query {
            match key.as_str() {
                "fieldManager" if !value.is_empty() => {
                    causes.extend(wrong_manager(value));
                    out.manager.clone_from(value);
                    out.manager_given = true;
                }
                "force" => out.force = value == "true" || value == "1",
                "fieldValidation" => {
                    out.field_validation = match value.as_str() {
                        "" | "Warn" => FieldValidation::Warn,
                        "Ignore" => FieldValidation::Ignore,
                        "Strict" => FieldValidation::Strict,
                        other => {
                            causes.push(unsupported(
                                &format!("\"{other}\""),
                                "\"\", \"Ignore\", \"Strict\", \"Warn\"",
                                "fieldValidation",
                            ));
                            FieldValidation::Warn
                        }
                    }
                }
                _ => {}
            }
        }
        let dry_run: Vec<&str> = dry_runs(query);
        out.dry_run = !dry_run.is_empty();
        causes.extend(wrong_dry_run(&dry_run));
        if !causes.is_empty() {
            return Err(refused(&format!("{verb}Options"), causes));
        }
        if !out.manager_given {
            let prefix = user_agent.split('/').next().unwrap_or_default();
            out.manager = if prefix.is_empty() { "unknown" } else { prefix }.to_owned();
        }
        Ok(out)
    }
}

fn dry_runs(query: &[(String, String)]) -> Vec<&str> {
    let all = query.iter().filter(|(key, value)| key == "dryRun" && !value.is_empty());
    all.map(|(_, value)| value.as_str()).collect()
}

fn wrong_dry_run(values: &[&str]) -> Option<Cause> {
    let wrong = values.iter().any(|value| *value != "All");
    wrong.then(|| unsupported(&json!(values).to_string(), "\"All\"", "dryRun"))
}

fn unsupported(found: &str, supported: &str, field: &str) -> Cause {
    let message = format!("Unsupported value: {found}: supported values: {supported}");
    Cause::new("FieldValueNotSupported", message, field)
}

/// A manager's name is short and can be printed.
fn wrong_manager(name: &str) -> Option<Cause> {
    const LONGEST: usize = 128;
    if name.len() > LONGEST {
        let message = format!("Too long: may not be more than {LONGEST} bytes");
        return Some(Cause::new("FieldValueTooLong", message, "fieldManager"));
    }
    let (place, bad) = name.char_indices().find(|(_, c)| c.is_control())?;
    let shown = match bad {
        '\u{7}' => "\\a".to_owned(),
        other => format!("\\x{:02x}", u32::from(other)),
    };
    let shown = name.replacen(bad, &shown, 1);
    let message = format!(
        "Invalid value: \"{shown}\": invalid character U+{:04X} (at position {place})",
        u32::from(bad)
    );
    Some(Cause::new("FieldValueInvalid", message, "fieldManager"))
}

/// Options of a delete, from the body and the query.
#[derive(Clone, Debug, Default)]
pub struct DeleteOptions {
    /// Precondition on the UID.
    pub uid: Option<String>,
    /// Precondition on the resourceVersion.
    pub resource_version: Option<String>,
    /// Seconds; `None` for the object's own.
    pub grace_period_seconds: Option<i64>,
    /// `Background`, `Foreground` or `Orphan`.
    pub propagation: Option<String>,
    /// Check everything, change nothing.
    pub dry_run: bool,
    /// What is wrong with them, where that is found out when it comes to the deletion.
    pub wrong: Option<ApiError>,
}

impl DeleteOptions {
    /// From a `DeleteOptions` object, or (`null`) from the query: who sends one says nothing with
    /// the other.
    pub fn parse(body: &Value, query: &[(String, String)]) -> Result<Self, ApiError> {
        let asked = if body.is_null() { &from_query(query)? } else { body };
        let mut out = Self::read(asked);
        out.wrong.take().map_or(Ok(out), Err)
    }

    /// What an eviction says, which does not ask at once what is wrong with it.
    pub fn read(asked: &Value) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let dry_run: Vec<&str> =
            asked["dryRun"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut out = Self {
            uid: text(&asked["preconditions"]["uid"]),
            resource_version: text(&asked["preconditions"]["resourceVersion"]),
            grace_period_seconds: asked["gracePeriodSeconds"].as_i64(),
            propagation: text(&asked["propagationPolicy"]),
            dry_run: !dry_run.is_empty(),
            wrong: None,
        };
        let mut causes = Vec::new();
        if let Some(policy) = &out.propagation {
            if asked["orphanDependents"].is_boolean() {
                let why = "orphanDependents and deletionPropagation cannot be both set";
                let message = format!("Invalid value: \"{policy}\": {why}");
                causes.push(Cause::new("FieldValueInvalid", message, "propagationPolicy"));
            } else if !matches!(policy.as_str(), "Foreground" | "Background" | "Orphan") {
                let supported = "\"Foreground\", \"Background\", \"Orphan\", \"nil\"";
                causes.push(unsupported(&format!("\"{policy}\""), supported, "propagationPolicy"));
            }
        }
        causes.extend(wrong_dry_run(&dry_run));
        if causes.is_empty() && asked["orphanDependents"].as_bool() == Some(true) {
            out.propagation = Some("Orphan".to_owned());
        }
        out.wrong = (!causes.is_empty()).then(|| refused("DeleteOptions", causes));
        out
    }
}

fn from_query(query: &[(String, String)]) -> Result<Value, ApiError> {
    let mut out = json!({});
    for (key, value) in query {
        match key.as_str() {
            "gracePeriodSeconds" if !value.is_empty() => {
                let seconds = value.parse::<i64>().map_err(|_| {
                    let why = format!("strconv.ParseInt: parsing \"{value}\": invalid syntax");
                    ApiError::bad_request(why)
                })?;
                out[key] = seconds.into();
            }
            "propagationPolicy" => out[key] = json!(value),
            "orphanDependents" => out[key] = json!(value == "true"),
            "uid" | "resourceVersion" => out["preconditions"][key] = json!(value),
            _ => {}
        }
    }
    out["dryRun"] = json!(dry_runs(query));
    Ok(out)
}

fn refused(kind: &str, causes: Vec<Cause>) -> ApiError {
    let lines: Vec<String> =
        causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
    let lines = match lines.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    };
    ApiError::new(422, "Invalid", format!("{kind}.meta.k8s.io \"\" is invalid: {lines}"))
        .with_details(json!({"group": "meta.k8s.io", "kind": kind}))
        .with_causes(causes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    fn check(pairs: &[(&str, &str)], expect: &str) {
        let refused = WriteOptions::parse("Patch", &query(pairs), "").expect_err("is refused");
        let prefix = "PatchOptions.meta.k8s.io \"\" is invalid: ";
        assert_eq!((refused.code, refused.message), (422, format!("{prefix}{expect}")));
    }

    #[test]
    fn what_a_query_cannot_say_is_refused_in_the_name_of_its_options() {
        check(
            &[("dryRun", "None")],
            "dryRun: Unsupported value: [\"None\"]: supported values: \"All\"",
        );
        check(
            &[("fieldValidation", "Maybe")],
            "fieldValidation: Unsupported value: \"Maybe\": supported values: \"\", \"Ignore\", \
             \"Strict\", \"Warn\"",
        );
        check(
            &[("fieldManager", &"m".repeat(129))],
            "fieldManager: Too long: may not be more than 128 bytes",
        );
        check(
            &[("fieldManager", "\u{7}")],
            "fieldManager: Invalid value: \"\\a\": invalid character U+0007 (at position 0)",
        );
    }

    #[test]
    fn the_body_of_a_delete_goes_before_its_query() {
        let query = query(&[("dryRun", "All"), ("propagationPolicy", "Orphan")]);
        let options = DeleteOptions::parse(&Value::Null, &query).expect("is read");
        assert!(options.dry_run);
        assert_eq!(options.propagation.as_deref(), Some("Orphan"));
        let body = json!({"propagationPolicy": "Foreground"});
        let options = DeleteOptions::parse(&body, &query).expect("is read");
        assert!(!options.dry_run);
        assert_eq!(options.propagation.as_deref(), Some("Foreground"));
    }
}
