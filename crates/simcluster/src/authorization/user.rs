//! Who asks.

use std::collections::BTreeMap;

/// The group that may do everything.
pub const MASTERS: &str = "system:masters";
const AUTHENTICATED: &str = "system:authenticated";
const ANONYMOUS: &str = "system:anonymous";

/// A user as authentication found him.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// Name; `system:serviceaccount:NAMESPACE:NAME` for a ServiceAccount.
    pub name: String,
    /// Opaque; empty for most.
    pub uid: String,
    /// Groups, those that every user of the sort has among them.
    pub groups: Vec<String>,
    /// What else is said of him.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// One who may do everything.
    pub fn master(name: &str) -> Self {
        let groups = vec![MASTERS.to_owned(), AUTHENTICATED.to_owned()];
        Self { name: name.to_owned(), groups, ..Self::default() }
    }

    /// Whoever did not say who he is.
    pub fn anonymous() -> Self {
        let groups = vec!["system:unauthenticated".to_owned()];
        Self { name: ANONYMOUS.to_owned(), groups, ..Self::default() }
    }

    /// A user with the groups that come with his name, and these.
    pub fn named(name: &str, mut groups: Vec<String>) -> Self {
        if let Some((namespace, _)) = account(name)
            && groups.is_empty()
        {
            groups.push("system:serviceaccounts".to_owned());
            groups.push(format!("system:serviceaccounts:{namespace}"));
        }
        if name == ANONYMOUS && groups.is_empty() {
            return Self::anonymous();
        }
        if name != ANONYMOUS && !groups.iter().any(|group| group == AUTHENTICATED) {
            groups.push(AUTHENTICATED.to_owned());
        }
        Self { name: name.to_owned(), groups, ..Self::default() }
    }

    /// Whether he may do everything.
    pub fn is_master(&self) -> bool {
        self.groups.iter().any(|group| group == MASTERS)
    }
}

/// Namespace and name of a ServiceAccount, if the user is one.
pub(super) fn account(user: &str) -> Option<(&str, &str)> {
    user.strip_prefix("system:serviceaccount:")?.split_once(':')
}
