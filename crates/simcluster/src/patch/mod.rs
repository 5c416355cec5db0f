//! The three kinds of patch besides apply: what a document looks like after one.

pub mod json;
pub mod merge;
pub mod shown;
pub mod strategic;
