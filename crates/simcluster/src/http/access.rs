//! Who is asking, and whether he may: tokens, impersonation, and a list of what is denied.
//!
//! Without tokens everybody is the admin who does not say otherwise. Whoever says so, by the token of
//! a ServiceAccount or by impersonation, has the rights that the cluster's roles give him. A cluster
//! that wants to show how a client takes a refusal denies things beside.

use std::collections::BTreeMap;

use http::{HeaderMap, Method, header};
use jiff::Timestamp;

use super::route::Target;
use crate::authorization::{Place, User, Verdict, Wish, decide, token};
use crate::error::ApiError;
use crate::store::Store;

/// The user that everybody is on a cluster without tokens.
pub const ADMIN: &str = "kubernetes-admin";

/// One thing that a user may not do. `*` stands for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// User name.
    pub user: String,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// Group of the resource, empty for core.
    pub group: String,
    /// `pods`, `pods/eviction`.
    pub resource: String,
}

/// Users by token, and what they may not do.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Bearer token → user name. Empty: whoever has no token is the admin.
    pub tokens: BTreeMap<String, String>,
    /// What is denied, whatever the roles say.
    pub denied: Vec<Denial>,
}

/// What `Impersonate-Extra-…` says; keys are percent-encoded.
fn extra(headers: &HeaderMap) -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in headers {
        let key = name.as_str().strip_prefix("impersonate-extra-").map(super::route::decode);
        if let (Some(key), Ok(value)) = (key, value.to_str()) {
            out.entry(key).or_default().push(value.to_owned());
        }
    }
    out
}

impl Access {
    /// The user of a request; 401 for a token that nobody has.
    pub(crate) fn user(
        &self,
        headers: &HeaderMap,
        seed: u64,
        now: Timestamp,
    ) -> Result<User, ApiError> {
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        // Whoever shows something else than a token shows nothing.
        let token = given.and_then(|given| given.strip_prefix("Bearer ")).map(str::trim);
        let Some(token) = token.filter(|token| !token.is_empty()) else {
            return Ok(if self.tokens.is_empty() {
                User::master(ADMIN)
            } else {
                User::anonymous()
            });
        };
        self.holder(token, seed, now)
            .ok_or_else(|| ApiError::new(401, "Unauthorized", "Unauthorized"))
    }

    /// Who holds a token.
    pub(crate) fn holder(&self, token: &str, seed: u64, now: Timestamp) -> Option<User> {
        match self.tokens.get(token) {
            Some(name) if name == ADMIN => Some(User::master(ADMIN)),
            Some(name) => Some(User::named(name, Vec::new())),
            None => token::holder(seed, token, now),
        }
    }

    /// Whom the request acts as: the one who sent it, or another if he may.
    pub(crate) fn acting(
        &self,
        store: &Store,
        user: User,
        headers: &HeaderMap,
    ) -> Result<User, ApiError> {
        let all = |name: &str| -> Vec<String> {
            let values = headers.get_all(name).iter();
            values.filter_map(|value| value.to_str().ok()).map(str::to_owned).collect()
        };
        let (names, groups, uids) =
            (all("impersonate-user"), all("impersonate-group"), all("impersonate-uid"));
        let Some(name) = names.into_iter().next().filter(|name| !name.is_empty()) else {
            if groups.is_empty() && uids.is_empty() {
                return Ok(user);
            }
            let list: Vec<String> = groups.iter().map(|group| format!("{group:?}")).collect();
            let list = match list.as_slice() {
                [] => "(nil)".to_owned(),
                some => format!("{{{}}}", some.join(", ")),
            };
            let uid = uids.first().map_or("", String::as_str);
            return Err(ApiError::bad_request(format!(
                "requested &user.DefaultInfo{{Name:\"\", UID:{uid:?}, Groups:[]string{list}, \
                 Extra:map[string][]string(nil)}} without impersonating a user name"
            )));
        };
        let account = name.strip_prefix("system:serviceaccount:").and_then(|it| it.split_once(':'));
        let mut wishes = vec![match account {
            Some((namespace, name)) => {
                Wish::about("impersonate", "", "serviceaccounts", namespace, name)
            }
            None => Wish::about("impersonate", "", "users", "", &name),
        }];
        wishes.extend(groups.iter().map(|one| Wish::about("impersonate", "", "groups", "", one)));
        let group = "authentication.k8s.io";
        wishes.extend(uids.iter().map(|one| Wish::about("impersonate", group, "uids", "", one)));
        let extra = extra(headers);
        wishes.extend(extra.iter().flat_map(|(key, values)| {
            let resource = format!("userextras/{key}");
            values
                .iter()
                .map(move |value| Wish::about("impersonate", group, &resource, "", value))
                .collect::<Vec<_>>()
        }));
        for wish in wishes {
            let verdict = self.verdict(store, &user, &wish);
            if !verdict.allowed {
                return Err(wish.refusal(&user, &verdict.reason));
            }
        }
        let uid = uids.into_iter().next().unwrap_or_default();
        Ok(User { uid, extra, ..User::named(&name, groups) })
    }

    /// Whether nothing denies this, and some role allows it.
    pub(crate) fn verdict(&self, store: &Store, user: &User, wish: &Wish<'_>) -> Verdict {
        let is = |pattern: &str, value: &str| pattern == "*" || pattern == value;
        let denied = match &wish.place {
            Place::Path(_) => false,
            Place::Resource { group, resource, .. } => self.denied.iter().any(|denial| {
                is(&denial.user, &user.name)
                    && is(&denial.verb, &wish.verb)
                    && is(&denial.group, group)
                    && is(&denial.resource, resource)
            }),
        };
        if denied {
            return Verdict { allowed: false, reason: String::new() };
        }
        decide(store, user, wish)
    }

    /// 403 in the server's words, when the request may not be made.
    pub(crate) fn check(
        &self,
        store: &Store,
        user: &User,
        request: (&Method, &str, &Target),
        watch: bool,
        query: &[(String, String)],
    ) -> Result<(), ApiError> {
        let (method, path, target) = request;
        let wish = Wish::of(method, path, target, watch, query);
        let verdict = self.verdict(store, user, &wish);
        if verdict.allowed { Ok(()) } else { Err(wish.refusal(user, &verdict.reason)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_else_is_said_of_a_user_has_its_key_decoded() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("impersonate-user", "jane"),
            ("impersonate-extra-floor", "2"),
            ("impersonate-extra-floor", "3"),
            ("impersonate-extra-example.com%2frooms", "a"),
        ] {
            let name = header::HeaderName::from_static(name);
            headers.append(name, header::HeaderValue::from_static(value));
        }
        let expect = BTreeMap::from([
            ("example.com/rooms".to_owned(), vec!["a".to_owned()]),
            ("floor".to_owned(), vec!["2".to_owned(), "3".to_owned()]),
        ]);
        assert_eq!(extra(&headers), expect);
    }
}
