//! JSON as trees whose parts are shared: a copy is a count, and a change copies the way to it.
//!
//! A cluster holds each object many times over: as it is, as it was, as its neighbours are but for a
//! name, and in every step that looks at it. So maps, lists and texts are counted references, compared
//! by where they are before they are compared by what they hold, and what the store takes in is made
//! to share what equals a part of its neighbours ([`Value::share`]). Maps are in the order of their
//! keys, as text too.
//!
//! Reading and writing is as with `serde_json::Value`, whose text and numbers these are.

mod convert;
mod index;
mod list;
mod macros;
mod map;
mod serial;
mod share;
mod text;
mod value;

#[doc(inline)]
pub use crate::__json as json;
pub use convert::{Json, tree};
pub use index::At;
pub use list::List;
pub use map::{Entry, Map};
pub use serde_json::Number;
pub(crate) use serial::scalars;
pub use text::Text;
pub use value::Value;

#[cfg(test)]
mod tests;
