//! Where in an object we are: written out only when something is wrong there.

use std::fmt;

/// A place, as a chain up to the root.
#[derive(Clone, Copy)]
pub(super) enum At<'a> {
    Root,
    Field(&'a At<'a>, &'a str),
    Index(&'a At<'a>, usize),
}

impl At<'_> {
    pub(super) fn is_root(&self) -> bool {
        matches!(self, At::Root)
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::Root => Ok(()),
            At::Field(At::Root, name) => out.write_str(name),
            At::Field(above, name) => write!(out, "{above}.{name}"),
            At::Index(above, index) => write!(out, "{above}[{index}]"),
        }
    }
}
