//! What commands show, as pure functions from values to text.

pub mod age;
pub mod grid;
pub mod line;
pub mod paint;
pub mod table;
pub mod tree;
pub mod view;
