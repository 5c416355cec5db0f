//! The front of `Rollout`: tables of single looks, walks over a small cluster, and what the original did.

mod fixture;
mod recording;
mod model;
mod controllers;
mod judge;

mod phases;
mod steps;
mod users;
mod changes;
mod ending;
mod blocked;
mod stuck;
mod replay;
mod stories;
mod walk;
