//! Schemas of the plain spec fields: limits, defaults and rules, as the API server enforces them.
//!
//! By hand and not derived, because a derived `Option` is `nullable` and loses its default.

use schemars::{Schema, SchemaGenerator, json_schema};

pub(super) fn percent(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "integer", "format": "int32", "minimum": 0, "maximum": 100, "default": 100,
    })
}

pub(super) fn eviction_interval(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "format": "int32", "minimum": 0, "default": 0 })
}

pub(super) fn progress_deadline(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "format": "int32", "minimum": 1, "default": 600 })
}

pub(super) fn pause_requested(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "boolean", "default": false })
}

pub(super) fn short_text(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "maxLength": 128 })
}

pub(super) fn text(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "maxLength": 256 })
}

pub(super) fn notify_level(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["info", "debug", "none"], "default": "info" })
}

pub(super) fn unhealthy_pods(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["Report", "Replace"], "default": "Report" })
}

pub(super) fn version_leak(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string", "enum": ["Ignore", "Report", "Pause", "Prevent"], "default": "Report",
    })
}

pub(super) fn bapi(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "properties": {
            "bapiUrl": {
                "type": "string", "maxLength": 2048,
                "description": "Base URL of the Bedrock API.",
                "x-kubernetes-validations": [{
                    "rule": "self == '' || self.startsWith('http://') || self.startsWith('https://')",
                    "message": "bapiUrl must begin with http:// or https://",
                }],
            },
            "stageId": {
                "type": "string", "maxLength": 256,
                "description": "The stage that the release platform waits for.",
            },
        },
        // An empty struct, as a Go client writes it, means no callback.
        "x-kubernetes-validations": [{
            "rule": "(has(self.bapiUrl) && self.bapiUrl != '') == (has(self.stageId) && self.stageId != '')",
            "message": "bapi needs both bapiUrl and stageId, or neither",
        }],
    })
}

pub(super) fn service_discovery(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "properties": {
            "dc": {
                "type": "string", "maxLength": 128, "description": "Consul datacenter.",
            },
            "serviceNames": {
                "type": "array", "maxItems": 32, "x-kubernetes-list-type": "set",
                "description": "Consul service names; all that exist must list a Pod as passing.",
                "items": { "type": "string", "minLength": 1, "maxLength": 256 },
            },
        },
        "x-kubernetes-validations": [{
            "rule": "!has(self.dc) || self.dc == '' || (has(self.serviceNames) && size(self.serviceNames) > 0)",
            "message": "serviceDiscovery.dc without serviceNames looks up nothing; list the services or leave serviceDiscovery out",
        }],
    })
}

/// RFC 3339, as `metav1.Time`, but with as many decimals as the instant has.
pub(super) fn date_time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "date-time", "nullable": true })
}

/// Serde's defaults are for reading; the API server is not to write them into a status.
pub(super) fn without_defaults(schema: &mut Schema) {
    let properties = schema.get_mut("properties").and_then(|all| all.as_object_mut());
    for property in properties.into_iter().flat_map(|all| all.values_mut()) {
        if let Some(property) = property.as_object_mut() {
            property.remove("default");
        }
    }
}
