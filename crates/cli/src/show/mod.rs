//! What commands show, as pure functions from values to text.

pub(crate) mod age;
pub(crate) mod batch;
pub(crate) mod brief;
pub(crate) mod fold;
pub(crate) mod grid;
pub(crate) mod line;
pub(crate) mod paint;
pub(crate) mod release;
pub(crate) mod steps;
pub(crate) mod table;
pub(crate) mod tree;
pub(crate) mod view;
