use super::Unreadable;
use crate::BoxError;
use std::{convert::Infallible, fmt, io, time::Duration};

/// What the stream that yielded an error does on its next poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Recovery {
    /// Goes on: only one object or event is left out.
    Skip,
    /// Opens the watch again where it stopped.
    Resume,
    /// Takes a new snapshot.
    Relist,
    /// Tries the same snapshot at once in another way.
    Fallback,
}

/// What operators ask of an error. One line for a type of one's own: `impl Recover for MyError {}`.
///
/// ```
/// use listwatch::{Recover, Recovery};
///
/// #[derive(Debug)]
/// struct Cut;
/// impl std::fmt::Display for Cut {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         f.write_str("cut")
///     }
/// }
/// impl Recover for Cut {}
/// assert_eq!(Cut.recovery(), Recovery::Resume);
/// ```
pub trait Recover: fmt::Display {
    /// What the stream does next. Default: [`Recovery::Resume`].
    fn recovery(&self) -> Recovery {
        Recovery::Resume
    }

    /// How long the server wants to be left alone. Default: not said.
    fn retry_after(&self) -> Option<Duration> {
        None
    }

    /// What is known of an object that does not decode. Default: it is not about one.
    fn object(&self) -> Option<&Unreadable> {
        None
    }
}

impl Recover for Infallible {}
impl Recover for String {}
impl Recover for &str {}
impl Recover for io::Error {}
impl Recover for BoxError {}
