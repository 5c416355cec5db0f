//! Readiness: a set of named handles that must all be released.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What the process still waits for; shared by everything that has to be up first.
#[derive(Clone, Default)]
pub struct Readiness {
    waiting: Arc<Mutex<BTreeMap<&'static str, String>>>,
    questions: Arc<Mutex<Vec<Question>>>,
}

/// A part that knows by itself what it waits for, asked whenever somebody wants to know.
struct Question {
    name: &'static str,
    ask: Box<dyn Fn() -> Vec<String> + Send>,
}

/// One thing that is waited for. Readiness comes when every handle is released; one that is only
/// dropped stays, so that a part that died never looks ready.
pub struct Handle {
    name: &'static str,
    readiness: Readiness,
}

impl Readiness {
    /// A new thing to wait for, until its handle is released.
    pub fn wait_for(&self, name: &'static str) -> Handle {
        self.set(name, "not yet begun".to_owned());
        Handle { name, readiness: self.clone() }
    }

    /// Asks a part each time what it waits for; it is ready when it names nothing.
    pub fn ask(&self, name: &'static str, ask: impl Fn() -> Vec<String> + Send + 'static) {
        let mut questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
        questions.push(Question { name, ask: Box::new(ask) });
    }

    /// One line for each thing that is waited for, `name: what it is at`, handles in order of names
    /// and then the parts that are asked; empty when ready.
    pub fn waiting(&self) -> Vec<String> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let handles = waiting.iter().map(|(name, state)| format!("{name}: {state}"));
        let questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = questions.iter().flat_map(|Question { name, ask }| {
            ask().into_iter().map(move |state| format!("{name}: {state}"))
        });
        handles.chain(asked).collect()
    }

    fn set(&self, name: &'static str, state: String) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.insert(name, state);
    }
}

impl Handle {
    /// Says what this part is at, for /readyz.
    pub fn says(&self, state: impl Into<String>) {
        self.readiness.set(self.name, state.into());
    }

    /// Done: no longer waited for.
    pub fn release(self) {
        let mut waiting = self.readiness.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.remove(self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_is_when_every_handle_is_released() {
        let readiness = Readiness::default();
        assert!(readiness.waiting().is_empty());
        let server = readiness.wait_for("API server");
        let admission = readiness.wait_for("admission");
        server.says("https://192.0.2.1: connection refused");
        assert_eq!(
            readiness.waiting(),
            ["API server: https://192.0.2.1: connection refused", "admission: not yet begun"]
        );
        server.release();
        assert_eq!(readiness.waiting(), ["admission: not yet begun"]);
        admission.release();
        assert!(readiness.waiting().is_empty());
    }

    #[test]
    fn a_part_that_knows_by_itself_is_asked_each_time() {
        let readiness = Readiness::default();
        let listed = Arc::new(Mutex::new(vec!["pods".to_owned()]));
        let answer = listed.clone();
        readiness.ask("caches", move || answer.lock().unwrap().clone());
        assert_eq!(readiness.waiting(), ["caches: pods"]);
        listed.lock().unwrap().clear();
        assert!(readiness.waiting().is_empty());
    }

    #[test]
    fn a_part_that_died_never_looks_ready() {
        let readiness = Readiness::default();
        drop(readiness.wait_for("admission"));
        assert_eq!(readiness.waiting().len(), 1);
    }
}
