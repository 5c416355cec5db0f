//! `/eviction`: the decision is made elsewhere; here its three writes are made in order.

use jiff::Timestamp;

use super::Inner;
use crate::behaviour::View;
use crate::error::ApiError;
use crate::eviction::{check_name, decide, missing};
use crate::json::Value;
use crate::object::{self, BUDGETS, Key, Object, PODS};
use crate::server::options::{DeleteOptions, WriteOptions};
use crate::server::part::Part;

impl Inner {
    /// POST of an Eviction: the budget's slot, the Pod's condition, the deletion. Options that are
    /// wrong keep it from the last of these only.
    pub fn evict(
        &mut self,
        key: &Key,
        body: &Value,
        options: &DeleteOptions,
        now: Timestamp,
    ) -> Result<(), ApiError> {
        check_name(&key.name, body)?;
        let Some(victim) = self.store.find(&PODS, &key.namespace, &key.name).cloned() else {
            return Err(missing(&key.name));
        };
        let budgets: Vec<Object> =
            self.store.list(&BUDGETS, Some(&key.namespace)).cloned().collect();
        let borrowed: Vec<&Object> = budgets.iter().collect();
        let decision = decide(&victim, &borrowed, options, now);
        // The server writes both under its own name.
        let writer = WriteOptions::of("kube-apiserver");
        if let Some(budget) = decision.budget {
            let kind = self.kind_of(&BUDGETS)?;
            let key = Key::new(BUDGETS, &key.namespace, object::name(&budget));
            self.update(&kind, &key, Part::Status, budget, &writer, now)?;
        }
        let wrong = || options.wrong.clone().map_or(Ok(()), Err);
        let Some(marked) = decision.verdict? else { return wrong() };
        let kind = self.kind_of(&PODS)?;
        let mut attempt = self.prepare_update(&kind, key, Part::Status, marked, now)?;
        // This write goes past the field managers in the real server too.
        attempt.tracked = true;
        self.settle(&mut attempt, &writer, now)?;
        self.store(attempt, &writer)?;
        wrong()?;
        let options = DeleteOptions {
            // The condition has just been written: the version that the caller named is gone.
            resource_version: None,
            ..options.clone()
        };
        self.delete(&kind, key, &options, now).map(|_| ())
    }
}
