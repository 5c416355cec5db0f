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
    let filter = EnvFilter::try_new(&flags.log_level).unwrap_or_else(|_| EnvFilter::new("info"));
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

#[cfg(test)]
mod tests {
    use super::*;

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
