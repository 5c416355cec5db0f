//! Sequences drawn from a seed: a small grammar of operations on a few names.
