//! Where a command writes: plain text or documents, in colours on a terminal alone.

use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;
use serde::Serialize;

use crate::show::paint::Paint;

/// How the result is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Text,
    /// For people, with more columns.
    Wide,
    /// A JSON document; where a command follows changes, one a line.
    Json,
    /// A YAML document.
    Yaml,
}

/// How the result is written, for commands that write no columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlainFormat {
    /// For people.
    #[default]
    Text,
    /// A JSON document.
    Json,
    /// A YAML document.
    Yaml,
}

impl From<PlainFormat> for Format {
    fn from(format: PlainFormat) -> Self {
        match format {
            PlainFormat::Text => Self::Text,
            PlainFormat::Json => Self::Json,
            PlainFormat::Yaml => Self::Yaml,
        }
    }
}

/// Standard output, or a buffer in tests. Every write is flushed: what is shown is whole.
pub(crate) struct Out {
    to: Box<dyn Write + Send>,
    terminal: bool,
    paint: Paint,
}

impl Out {
    /// Standard output. Colours need a terminal, and `NO_COLOR` (any value but the empty one) or
    /// `TERM=dumb` forbids them.
    pub(crate) fn standard() -> Self {
        let terminal = io::stdout().is_terminal();
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            to: Box::new(io::stdout()),
            terminal: terminal && !dumb,
            paint: Paint { on: terminal && !dumb && !set("NO_COLOR") },
        }
    }

    /// Nobody.
    pub(crate) fn nowhere() -> Self {
        Self { to: Box::new(io::sink()), terminal: false, paint: Paint { on: false } }
    }

    /// Anything else, which is no terminal.
    #[cfg(test)]
    pub(crate) fn to(writer: impl Write + Send + 'static) -> Self {
        Self { to: Box::new(writer), terminal: false, paint: Paint { on: false } }
    }

    /// Whether a person looks at it as it is written.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Characters in a line: those of the terminal, and no limit elsewhere.
    pub(crate) fn room(&self) -> usize {
        if self.terminal { size().0 } else { usize::MAX }
    }

    /// The colours.
    pub(crate) fn paint(&self) -> Paint {
        self.paint
    }

    /// Writes text as it is.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.to.write_all(text.as_bytes())?;
        self.to.flush()
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, line: &str) -> io::Result<()> {
        self.text(&format!("{line}\n"))
    }

    /// Writes a value as one line of JSON or as one of several YAML documents; text is the
    /// caller's own.
    pub(crate) fn change<T: Serialize>(&mut self, format: Format, value: &T) -> io::Result<()> {
        match format {
            Format::Json => {
                let json = serde_json::to_string(value).map_err(io::Error::other)?;
                self.line(&json)
            }
            Format::Yaml => self.text(&format!("---\n{}", api::to_yaml(value))),
            Format::Text | Format::Wide => Ok(()),
        }
    }

    /// Writes a value as a document, or else the text that is made for people.
    pub(crate) fn document<T: Serialize>(
        &mut self,
        format: Format,
        value: &T,
        text: impl FnOnce(Paint) -> String,
    ) -> io::Result<()> {
        match format {
            Format::Json => {
                let json = serde_json::to_string_pretty(value).map_err(io::Error::other)?;
                self.line(&json)
            }
            Format::Yaml => self.text(&api::to_yaml(value)),
            Format::Text | Format::Wide => {
                let text = text(self.paint);
                self.text(&text)
            }
        }
    }
}

/// A line on standard error. That nobody reads it is no reason to fail.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Columns and lines of the terminal; 80 × 24 where it does not say.
pub(crate) fn size() -> (usize, usize) {
    terminal_size::terminal_size()
        .map_or((80, 24), |(width, height)| (usize::from(width.0), usize::from(height.0)))
}
