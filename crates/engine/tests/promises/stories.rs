//! Shrunk failures of the walks, told as stories.
