//! An honest in-process Kubernetes API server with the controllers behind it.
//!
//! Three rings: pure functions on JSON (selectors, patches, apply, schema, validation); a
//! synchronous, clock-free store with its watch log, and behaviours as pure steps over a view of it;
//! and a thin axum skin, so that `kubectl` and `kube::Client::new(router, ns)` both use it.

pub mod admission;
pub mod apply;
pub mod authorization;
pub mod behaviour;
pub mod body;
pub mod builtin;
pub mod cluster;
pub mod conform;
pub mod conversion;
pub mod crd;
pub mod driver;
pub mod error;
pub mod eviction;
pub mod fault;
pub mod http;
pub mod json;
pub mod kind;
pub mod object;
pub mod openapi;
pub mod patch;
pub mod protobuf;
pub mod selector;
pub mod server;
pub mod store;
pub mod table;
pub mod types;
