//! An honest in-process Kubernetes API server with the controllers behind it.
//!
//! Three rings: pure functions on JSON (selectors, patches, apply, schema, validation); a
//! synchronous, clock-free store with its watch log, and behaviours as pure steps over a view of it;
//! and a thin axum skin, so that `kubectl` and `kube::Client::new(router, ns)` both use it.

pub mod behaviour;
pub mod error;
pub mod kind;
pub mod object;
pub mod server;
pub mod store;
