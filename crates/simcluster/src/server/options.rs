//! What a request asks for beside its object: the query parameters and `DeleteOptions`.

use serde_json::{Value, json};

use crate::authorization::User;
use crate::error::{ApiError, Cause};

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

    /// From the query of a request and its User-Agent.
    pub fn parse(query: &[(String, String)], user_agent: &str) -> Result<Self, ApiError> {
        let mut out = Self::default();
        for (key, value) in query {
            match key.as_str() {
                "fieldManager" if !value.is_empty() => {
                    out.manager.clone_from(value);
                    out.manager_given = true;
                }
                "dryRun" => out.dry_run = parse_dry_run(value)?,
                "force" => out.force = value == "true" || value == "1",
                "fieldValidation" => {
                    out.field_validation = match value.as_str() {
                        "" | "Warn" => FieldValidation::Warn,
                        "Ignore" => FieldValidation::Ignore,
                        "Strict" => FieldValidation::Strict,
                        other => {
                            return Err(ApiError::bad_request(format!(
                                "invalid fieldValidation: {other}"
                            )));
                        }
                    }
                }
                _ => {}
            }
        }
        if !out.manager_given {
            let prefix = user_agent.split('/').next().unwrap_or_default();
            out.manager = if prefix.is_empty() { "unknown" } else { prefix }.to_owned();
        }
        Ok(out)
    }
}

fn parse_dry_run(value: &str) -> Result<bool, ApiError> {
    match value {
        "" => Ok(false),
        "All" => Ok(true),
        other => Err(ApiError::new(
            422,
            "Invalid",
            format!(
                "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: \
                 [\"{other}\"]: supported values: \"All\""
            ),
        )),
    }
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
}

impl DeleteOptions {
    /// From a `DeleteOptions` object (or `null`) and the query.
    pub fn parse(body: &Value, query: &[(String, String)]) -> Result<Self, ApiError> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let mut out = Self {
            uid: text(&body["preconditions"]["uid"]),
            resource_version: text(&body["preconditions"]["resourceVersion"]),
            grace_period_seconds: body["gracePeriodSeconds"].as_i64(),
            propagation: text(&body["propagationPolicy"]),
            dry_run: body["dryRun"].as_array().is_some_and(|all| !all.is_empty()),
        };
        if let Some(policy) = &out.propagation {
            if body["orphanDependents"].is_boolean() {
                let why = "orphanDependents and deletionPropagation cannot be both set";
                let message = format!("Invalid value: \"{policy}\": {why}");
                return Err(refused("FieldValueInvalid", message));
            }
            if !matches!(policy.as_str(), "Foreground" | "Background" | "Orphan") {
                let message = format!(
                    "Unsupported value: \"{policy}\": supported values: \"Foreground\", \
                     \"Background\", \"Orphan\", \"nil\""
                );
                return Err(refused("FieldValueNotSupported", message));
            }
        }
        if body["orphanDependents"].as_bool() == Some(true) {
            out.propagation = Some("Orphan".to_owned());
        }
        for (key, value) in query {
            match key.as_str() {
                "dryRun" => out.dry_run |= parse_dry_run(value)?,
                "gracePeriodSeconds" => {
                    out.grace_period_seconds = value.parse().ok().or(out.grace_period_seconds);
                }
                "propagationPolicy" => out.propagation = Some(value.clone()),
                _ => {}
            }
        }
        Ok(out)
    }
}

fn refused(reason: &str, message: String) -> ApiError {
    let text = format!("DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: {message}");
    ApiError::new(422, "Invalid", text)
        .with_details(json!({"group": "meta.k8s.io", "kind": "DeleteOptions"}))
        .with_causes(vec![Cause::new(reason, message, "propagationPolicy")])
}
