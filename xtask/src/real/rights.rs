//! Whether an operator ever asked for what its installation does not allow, by the audit log.

use anyhow::{Context, bail, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::BufRead;

/// Where the API server notes what RBAC said. Other refusals are none of the roles' business, as of an
/// Event in a namespace that is being deleted.
const DECISION: &str = "authorization.k8s.io/decision";

/// Holds an audit log, one event a line, against what these accounts may do. Each has to have asked
/// for something.
pub(super) fn suffice(log: impl BufRead, accounts: &[String]) -> anyhow::Result<()> {
    let mut allowed: BTreeMap<&str, u64> = BTreeMap::new();
    let mut forbidden = BTreeMap::new();
    for line in log.lines() {
        let line = line.context("the audit log")?;
        if !accounts.iter().any(|account| line.contains(account.as_str())) {
            continue;
        }
        let event: Value = serde_json::from_str(&line).context("a line of the audit log")?;
        let named = |account: &&String| event["user"]["username"] == account.as_str();
        let Some(account) = accounts.iter().find(named) else { continue };
        if event["annotations"][DECISION] == "forbid" {
            *forbidden.entry(format!("{} by {account}", request(&event))).or_insert(0) += 1;
        } else {
            *allowed.entry(account).or_insert(0) += 1;
        }
    }
    if !forbidden.is_empty() {
        let each = forbidden.iter().map(|(request, count)| format!("{count} times {request}"));
        bail!("the roles do not cover: {}", each.collect::<Vec<_>>().join(", "));
    }
    for account in accounts {
        ensure!(allowed.contains_key(account.as_str()), "the audit log knows nothing of {account}");
    }
    Ok(())
}

/// Verb and resource: `create pods/eviction`.
fn request(event: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let object = &event["objectRef"];
    let mut words = format!("{} {}", text(&event["verb"]), text(&object["resource"]));
    if let Some(sub) = object["subresource"].as_str() {
        words.push('/');
        words.push_str(sub);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&str], expect: Result<(), &str>) {
        let accounts = ["system:serviceaccount:sluice-system:sluice".to_owned()];
        let said = suffice(lines.join("\n").as_bytes(), &accounts);
        let said = said.map_err(|error| error.to_string());
        assert_eq!(said, expect.map_err(str::to_owned));
    }

    #[test]
    fn what_rbac_forbids_the_operator_is_named() {
        let ours = r#"{"verb":"list","user":{"username":"system:serviceaccount:sluice-system:sluice"},"objectRef":{"resource":"pods"},"annotations":{"authorization.k8s.io/decision":"allow"}}"#;
        let refused = r#"{"verb":"create","user":{"username":"system:serviceaccount:sluice-system:sluice"},"objectRef":{"resource":"pods","subresource":"eviction"},"annotations":{"authorization.k8s.io/decision":"forbid"}}"#;
        let others = r#"{"verb":"get","user":{"username":"nobody"},"objectRef":{"name":"system:serviceaccount:sluice-system:sluice"},"annotations":{"authorization.k8s.io/decision":"forbid"}}"#;
        check(&[ours, others], Ok(()));
        let words = "the roles do not cover: 2 times create pods/eviction by \
                     system:serviceaccount:sluice-system:sluice";
        check(&[ours, refused, refused], Err(words));
        let nothing = "the audit log knows nothing of system:serviceaccount:sluice-system:sluice";
        check(&[others], Err(nothing));
    }
}
