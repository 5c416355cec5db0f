//! Colours and the marks of states; with colours off, the text alone.

/// Whether colours are on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Paint {
    pub(crate) on: bool,
}

/// What a piece of text says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing in particular.
    #[default]
    Plain,
    /// As it should be.
    Good,
    /// On its way.
    Busy,
    /// Wants to be looked at.
    Bad,
    /// Beside the point.
    Faint,
    /// A heading.
    Strong,
}

impl Paint {
    /// The text in the colour of its tone.
    pub(crate) fn text(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Good => "32",
            Tone::Busy => "33",
            Tone::Bad => "31",
            Tone::Faint => "2",
            Tone::Strong => "1",
        };
        if self.on && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Mark and tone of a phase by its name in `status.phase`.
pub(crate) fn phase(name: &str) -> (&'static str, Tone) {
    match name {
        "RolloutDone" | "Healthy" | "Completed" => ("✔", Tone::Good),
        "RolloutFailed" => ("✖", Tone::Bad),
        "RolloutPaused" => ("‖", Tone::Busy),
        "RolloutInProgress" | "Progressing" | "Terminating" | "Disabling" | "Preparing"
        | "Finalizing" => ("◌", Tone::Busy),
        _ => ("·", Tone::Faint),
    }
}
