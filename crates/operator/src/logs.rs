//! Log lines: JSON or text, on standard error.

use crate::flags::{Flags, LogFormat};
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// Checks what `--log-level` takes: a level, or levels by part.
pub(crate) fn level(text: &str) -> Result<String, String> {
    EnvFilter::try_new(text).map(|_| text.to_owned()).map_err(|error| {
        format!("a level is error, warn, info, debug or trace, also by part: {error}")
    })
}

/// Starts logging for this process. A second call changes nothing.
pub fn start(flags: &Flags) {
    let filter = EnvFilter::try_new(quiet(&flags.log_level));
    let filter = filter.unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    let started = match flags.log_format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    if started.is_err() {
        tracing::debug!("logging was started before");
    }
}

/// With kube's own line for each failed request left out, where nobody asks for it: whoever sent
/// the request tells of it, with its object and once.
fn quiet(level: &str) -> String {
    if level.contains("kube") {
        return level.to_owned();
    }
    format!("{level},kube_client::client::builder=off")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubes_line_for_each_failed_request_comes_only_when_asked_for() {
        assert_eq!(quiet("info"), "info,kube_client::client::builder=off");
        assert_eq!(quiet("info,kube=debug"), "info,kube=debug");
        assert!(level(&quiet("controller=debug")).is_ok());
    }

    #[test]
    fn a_level_is_one_for_all_or_one_by_part() {
        fn check(text: &str, expect: bool) {
            assert_eq!(level(text).is_ok(), expect, "{text}");
        }
        check("info", true);
        check("debug", true);
        check("info,controller=debug,kube=warn", true);
        check("info,=loud=", false);
        check("controller=loudly", false);
    }
}
