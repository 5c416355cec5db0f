//! PodDisruptionBudgets.

use std::sync::OnceLock;

use regex::Regex;

use super::causes::Causes;
use super::meta;
use crate::json::{Value, json};

/// The spec of a budget.
pub(super) fn validate(object: &Value, out: &mut Causes) {
    let spec = &object["spec"];
    if !spec["minAvailable"].is_null() && !spec["maxUnavailable"].is_null() {
        out.push_text(
            "spec",
            &format!(
                "{{\"MinAvailable\":{},\"Selector\":{},\"MaxUnavailable\":{},\
                 \"UnhealthyPodEvictionPolicy\":{}}}",
                spec["minAvailable"],
                spec["selector"],
                spec["maxUnavailable"],
                spec["unhealthyPodEvictionPolicy"]
            ),
            "minAvailable and maxUnavailable cannot be both set",
        );
    }
    for field in ["minAvailable", "maxUnavailable"] {
        amount(&spec[field], &format!("spec.{field}"), out);
    }
    let policy = &spec["unhealthyPodEvictionPolicy"];
    if !policy.is_null() && policy != "IfHealthyBudget" && policy != "AlwaysAllow" {
        let known = &["AlwaysAllow", "IfHealthyBudget"];
        out.not_supported("spec.unhealthyPodEvictionPolicy", policy, known);
    }
    meta::selector(&spec["selector"], "spec.selector", out);
}

fn amount(value: &Value, path: &str, out: &mut Causes) {
    static PERCENT: OnceLock<Regex> = OnceLock::new();
    let percent = PERCENT.get_or_init(|| Regex::new("^[0-9]+%$").expect("the pattern is constant"));
    match value {
        Value::Number(_) => out.not_negative(path, value),
        Value::String(text) if !percent.is_match(text) => out.invalid(
            path,
            value,
            "a valid percent string must be a numeric string followed by an ending '%' (e.g. \
             '1%',  or '93%', regex used for validation is '[0-9]+%')",
        ),
        Value::String(text) => {
            let number: u64 = text.trim_end_matches('%').parse().unwrap_or(u64::MAX);
            if number > 100 {
                out.invalid(path, &json!(text), "must not be greater than 100%");
            }
        }
        _ => {}
    }
}
