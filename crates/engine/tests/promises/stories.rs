//! Shrunk failures of the walks, told as tables.
