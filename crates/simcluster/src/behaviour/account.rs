//! The controller of ServiceAccounts: each namespace has one that is called `default`.

use jiff::Timestamp;

use super::namespace::is_active;
use super::{Behaviour, Change, Step, View, Write};
use crate::json::json;
use crate::object::{Collection, Key, NAMESPACES};

const ACCOUNTS: Collection = Collection::known("", "serviceaccounts");
const NAME: &str = "default";

/// Makes the account of a namespace, and makes it again when it is deleted.
#[derive(Debug, Default)]
pub struct Accounts;

impl Behaviour for Accounts {
    fn name(&self) -> &'static str {
        "service-account-controller"
    }

    fn concerns(&self, _: &dyn View, change: &Change) -> Vec<Key> {
        let (key, there) = (&change.key, change.after.is_some());
        if key.collection == NAMESPACES && there {
            return vec![key.clone()];
        }
        if key.collection == ACCOUNTS && !there {
            return vec![Key::new(NAMESPACES, "", &key.namespace)];
        }
        Vec::new()
    }

    fn step(&self, view: &dyn View, key: &Key, _: Timestamp, _: &mut fastrand::Rng) -> Step {
        let active = view.get(key).is_some_and(|namespace| is_active(namespace));
        if !active || view.get(&Key::new(ACCOUNTS, &key.name, NAME)).is_some() {
            return Step::default();
        }
        let object = json!({"metadata": {"name": NAME, "namespace": key.name}});
        Step { writes: vec![Write::Create { collection: ACCOUNTS, object }], wake: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn an_active_namespace_without_its_account_is_given_one() {
        let look = |phase: &str, has: bool| {
            let mut store = Store::new(10);
            let namespace = json!({"metadata": {"name": "ns"}, "status": {"phase": phase}});
            let key = Key::of(NAMESPACES, &namespace);
            store.put(key.clone(), namespace);
            if has {
                let account = json!({"metadata": {"name": NAME, "namespace": "ns"}});
                store.put(Key::of(ACCOUNTS, &account), account);
            }
            let now = "2026-01-01T00:00:00Z".parse().expect("a constant");
            Accounts.step(&store, &key, now, &mut fastrand::Rng::with_seed(0)).writes.len()
        };
        assert_eq!(look("Active", false), 1);
        assert_eq!(look("Active", true), 0);
        assert_eq!(look("Terminating", false), 0);
    }
}
