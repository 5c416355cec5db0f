//! The rules for a BatchRelease.

use serde_json::json;

use super::ConvertError;
use super::rollout::{lift, lower};
use super::shape::{Fields, annotate, annotation};
use crate::batches::names::ROLLING_STYLE;

/// As `spec.releasePlan.rollingStyle` spells them; the annotation has them in small letters.
const STYLES: [&str; 3] = ["Partition", "Canary", "BlueGreen"];

/// v1alpha1 to v1beta1: an annotation that names a style outranks the field.
pub(super) fn up(mut root: Fields<'_>) -> Result<(), ConvertError> {
    let style = annotation(&mut root, ROLLING_STYLE)?;
    let Some(mut spec) = root.child("spec")? else { return Ok(()) };
    lift(&mut spec, "targetReference")?;
    let style =
        style.and_then(|style| STYLES.into_iter().find(|known| style.eq_ignore_ascii_case(known)));
    if let (Some(style), Some(plan)) = (style, spec.child("releasePlan")?) {
        plan.map.insert("rollingStyle".into(), json!(style));
    }
    Ok(())
}

/// v1beta1 to v1alpha1.
pub(super) fn down(mut root: Fields<'_>) -> Result<(), ConvertError> {
    let mut style = None;
    if let Some(mut spec) = root.child("spec")? {
        lower(&mut spec, "targetReference");
        if let Some(plan) = spec.child("releasePlan")? {
            style = plan.text("rollingStyle")?;
        }
    }
    if let Some(style) = style {
        annotate(&mut root, ROLLING_STYLE, &style.to_lowercase(), str::eq_ignore_ascii_case)?;
    }
    Ok(())
}
