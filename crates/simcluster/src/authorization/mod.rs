//! Who may do what: Roles and ClusterRoles through their bindings, as RBAC has it.
//!
//! Whoever is in `system:masters` may do everything and is never looked up.

pub mod bootstrap;
pub mod escalate;
mod rules;
pub mod token;
mod user;
mod wish;

use crate::json::{Value, json};
use crate::store::Store;

pub use rules::{Granted, granted};
pub use user::{MASTERS, User};
pub use wish::{Place, Wish};

/// A yes or a no, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it is allowed.
    pub allowed: bool,
    /// Which binding allows it, or what is wrong with one that might; may be empty.
    pub reason: String,
}

/// Whether this user may do this.
pub fn decide(store: &Store, user: &User, wish: &Wish<'_>) -> Verdict {
    if user.is_master() {
        return Verdict { allowed: true, reason: String::new() };
    }
    let (granted, missing) = granted(store, user, wish.namespace());
    match granted.iter().find(|granted| wish.is_in(&granted.rule)) {
        Some(granted) => {
            Verdict { allowed: true, reason: format!("RBAC: allowed by {}", granted.by) }
        }
        None => Verdict { allowed: false, reason: why(&missing) },
    }
}

fn why(missing: &[String]) -> String {
    match missing {
        [] => String::new(),
        [one] => format!("RBAC: {one}"),
        all => format!("RBAC: [{}]", all.join(", ")),
    }
}

/// `status` of a review of one wish.
pub fn status(verdict: &Verdict) -> Value {
    let mut status = json!({"allowed": verdict.allowed});
    if !verdict.reason.is_empty() {
        status["reason"] = json!(verdict.reason);
    }
    status
}

/// `status` of a review of all that somebody may do in a namespace.
pub fn rules_status(store: &Store, user: &User, namespace: &str) -> Value {
    let (granted, missing) = granted(store, user, namespace);
    let (mut resources, mut others) = (Vec::new(), Vec::new());
    for Granted { rule, .. } in granted {
        let mut out = json!({"verbs": rule["verbs"]});
        let (list, fields): (_, &[&str]) = if rules::has(&rule, "nonResourceURLs") {
            (&mut others, &["nonResourceURLs"])
        } else {
            (&mut resources, &["apiGroups", "resources", "resourceNames"])
        };
        for field in fields.iter().filter(|field| rules::has(&rule, field)) {
            out[*field] = rule[*field].clone();
        }
        list.push(out);
    }
    let mut status =
        json!({"resourceRules": resources, "nonResourceRules": others, "incomplete": false});
    if !missing.is_empty() {
        status["evaluationError"] = json!(missing.join(", "));
    }
    status
}

#[cfg(test)]
mod tests;
