//! The DaemonSet controller.
