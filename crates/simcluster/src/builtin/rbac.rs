//! Roles and their bindings: kept and checked, but never asked when a request comes.

use super::causes::{Causes, list, text};
use super::pod_set as set;
use crate::json::Value;

const GROUP: &str = "rbac.authorization.k8s.io";

/// Defaults of a binding. What is bound is an account of the core group, or somebody of ours.
pub(super) fn default_binding(object: &mut Value) {
    if object["roleRef"].is_object() {
        set(&mut object["roleRef"], "apiGroup", GROUP);
    }
    for subject in object.get_mut("subjects").and_then(Value::as_array_mut).into_iter().flatten() {
        if matches!(text(subject, "kind"), "User" | "Group") {
            set(subject, "apiGroup", GROUP);
        }
    }
}

/// What is wrong with a name: whatever can stand between two slashes of a path will do.
pub(super) fn bad_name(name: &str) -> Option<String> {
    match name {
        "." | ".." => Some(format!("may not be '{name}'")),
        name => {
            let bad = ['/', '%'].into_iter().find(|bad| name.contains(*bad))?;
            Some(format!("may not contain '{bad}'"))
        }
    }
}

/// The rules of a Role (`namespaced`) or a ClusterRole.
pub(super) fn validate_role(object: &Value, namespaced: bool, out: &mut Causes) {
    for (index, rule) in list(object, "rules").iter().enumerate() {
        let path = |field: &str| format!("rules[{index}].{field}");
        if list(rule, "verbs").is_empty() {
            out.required(path("verbs"), "verbs must contain at least one value");
        }
        let given = |field: &str| !list(rule, field).is_empty();
        if given("nonResourceURLs") {
            let (at, urls) = (path("nonResourceURLs"), &rule["nonResourceURLs"]);
            if namespaced {
                out.invalid(&at, urls, "namespaced rules cannot apply to non-resource URLs");
            }
            if given("apiGroups") || given("resources") || given("resourceNames") {
                let why = "rules cannot apply to both regular resources and non-resource URLs";
                out.invalid(&at, urls, why);
            }
            continue;
        }
        if !given("apiGroups") {
            out.required(path("apiGroups"), "resource rules must supply at least one api group");
        }
        if !given("resources") {
            out.required(path("resources"), "resource rules must supply at least one resource");
        }
    }
}

/// The role and the subjects of a RoleBinding (`namespaced`) or a ClusterRoleBinding.
pub(super) fn validate_binding(object: &Value, namespaced: bool, out: &mut Causes) {
    let role = &object["roleRef"];
    if text(role, "apiGroup") != GROUP {
        out.not_supported("roleRef.apiGroup", &text(role, "apiGroup").into(), &[GROUP]);
    }
    let kinds: &[&str] = if namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    if !kinds.contains(&text(role, "kind")) {
        out.not_supported("roleRef.kind", &text(role, "kind").into(), kinds);
    }
    match text(role, "name") {
        "" => out.required("roleRef.name", ""),
        name => out.named("roleRef.name", name, bad_name(name)),
    }
    for (index, subject) in list(object, "subjects").iter().enumerate() {
        let path = |field: &str| format!("subjects[{index}].{field}");
        if text(subject, "name").is_empty() {
            out.required(path("name"), "");
        }
        let group = text(subject, "apiGroup");
        match text(subject, "kind") {
            "ServiceAccount" => {
                if !group.is_empty() {
                    out.not_supported(path("apiGroup"), &group.into(), &[""]);
                }
                if !namespaced && text(subject, "namespace").is_empty() {
                    out.required(path("namespace"), "");
                }
            }
            "User" | "Group" if group != GROUP => {
                out.not_supported(path("apiGroup"), &group.into(), &[GROUP]);
            }
            "User" | "Group" => {}
            kind => {
                let known = &["ServiceAccount", "User", "Group"];
                out.not_supported(path("kind"), &kind.into(), known);
            }
        }
    }
}

/// That a binding stays with its role.
pub(super) fn fixed_role(new: &Value, old: &Value, out: &mut Causes) {
    let role = &new["roleRef"];
    if *role != old["roleRef"] {
        let [group, kind, name] = ["apiGroup", "kind", "name"].map(|field| &role[field]);
        let shown = format!("{{\"APIGroup\":{group},\"Kind\":{kind},\"Name\":{name}}}");
        out.push_text("roleRef", &shown, "cannot change roleRef");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    /// What is said, in the words of a Kubernetes 1.36.3.
    #[track_caller]
    fn check(say: impl FnOnce(&mut Causes), expect: &[&str]) {
        let mut out = Causes::default();
        say(&mut out);
        let said: Vec<String> = out
            .into_vec()
            .iter()
            .map(|cause| format!("{}: {}", cause.field, cause.message))
            .collect();
        assert_eq!(said, expect);
    }

    #[test]
    fn rules_say_what_they_are_about() {
        let role = json!({"rules": [
            {"apiGroups": [""], "resources": ["pods"], "verbs": []},
            {"verbs": ["get"]},
            {"verbs": ["get"], "resources": ["pods"]},
            {"verbs": ["get"], "nonResourceURLs": ["/a"]},
        ]});
        check(
            |out| validate_role(&role, true, out),
            &[
                "rules[0].verbs: Required value: verbs must contain at least one value",
                "rules[1].apiGroups: Required value: resource rules must supply at least one api \
                 group",
                "rules[1].resources: Required value: resource rules must supply at least one \
                 resource",
                "rules[2].apiGroups: Required value: resource rules must supply at least one api \
                 group",
                "rules[3].nonResourceURLs: Invalid value: [\"/a\"]: namespaced rules cannot apply \
                 to non-resource URLs",
            ],
        );
    }

    #[test]
    fn a_binding_names_a_role_and_whom_it_binds() {
        let mut binding = json!({
            "roleRef": {"kind": "Rolex", "name": "other"},
            "subjects": [{"kind": "ServiceAccount", "name": "x"}, {"kind": "User", "name": ""}],
        });
        default_binding(&mut binding);
        check(
            |out| validate_binding(&binding, true, out),
            &[
                "roleRef.kind: Unsupported value: \"Rolex\": supported values: \"Role\", \
                 \"ClusterRole\"",
                "subjects[1].name: Required value",
            ],
        );
    }

    #[test]
    fn a_binding_stays_with_its_role() {
        let of = |name: &str| json!({"roleRef": {"apiGroup": GROUP, "kind": "Role", "name": name}});
        check(|out| fixed_role(&of("a"), &of("a"), out), &[]);
        check(
            |out| fixed_role(&of("b"), &of("a"), out),
            &["roleRef: Invalid value: \
               {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"Role\",\"Name\":\"b\"}: \
               cannot change roleRef"],
        );
    }

    #[test]
    fn a_name_is_what_stands_between_two_slashes() {
        assert_eq!(bad_name("system:discovery"), None);
        assert_eq!(bad_name("a%b").as_deref(), Some("may not contain '%'"));
        assert_eq!(bad_name("..").as_deref(), Some("may not be '..'"));
    }
}
