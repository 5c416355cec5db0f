//! Words of a status, as values: one table for each, from which their names are written and read.

/// An enum of words. Each is written as it is called here, unless another text is given.
macro_rules! names {
    ($(#[$doc:meta])* $type:ident { $($(#[$name_doc:meta])* $name:ident $(= $text:literal)?,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $type { $($(#[$name_doc])* $name,)+ }

        impl $type {
            /// All of them, in order.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// As it stands in a status.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => names!(@text $name $($text)?),)+ }
            }

            /// The one of this name; `None` for a name that is not known.
            pub fn of(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|it| it.name() == name)
            }
        }
    };
    (@text $name:ident) => { stringify!($name) };
    (@text $name:ident $text:literal) => { $text };
}
pub(crate) use names;

#[cfg(test)]
mod tests {
    use crate::front::rollout::{Finalising, Reason, StepState};

    #[test]
    fn names_are_read_as_they_are_written() {
        for word in Finalising::ALL {
            assert_eq!(Finalising::of(word.name()), Some(*word));
        }
        assert_eq!(StepState::StepReady.name(), "StepReady");
        assert_eq!((Finalising::End.name(), Reason::None.name()), ("END", ""));
        assert_eq!((StepState::of("stepready"), Finalising::of("End")), (None, None));
    }
}
