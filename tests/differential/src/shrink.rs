//! Makes a failing sequence short.
