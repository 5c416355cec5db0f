//! Sizing ReplicaSets: tables of single looks, and walks over a small Deployment with each write judged.

mod fixture;
mod model;

mod sizes;
mod scaling;
mod walk;
