use super::{MirrorState, MirrorStates};
use crate::State;
use std::{fmt, time::Duration};

/// Some of the [`Mirrors`](super::Mirrors) are not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAllReady {
    within: Option<Duration>,
    states: MirrorStates,
}

/// So many of them are told by name.
const TOLD: usize = 5;

impl NotAllReady {
    pub(super) fn new(within: Option<Duration>, states: MirrorStates) -> Self {
        NotAllReady { within, states }
    }

    /// How all of them stood.
    pub fn states(&self) -> &MirrorStates {
        &self.states
    }

    /// Those that are not complete.
    pub fn missing(&self) -> impl Iterator<Item = &MirrorState> {
        self.states.iter().filter(|state| !state.is_complete)
    }
}

impl fmt::Display for NotAllReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let missing = self.missing().count();
        match self.within {
            Some(within) => {
                write!(f, "{missing} of {} mirrors are not ready after {within:?}", self.states.iter().len())?
            }
            None => f.write_str("a mirror ended before all were ready")?,
        }
        for (n, MirrorState { resource, state, .. }) in self.missing().take(TOLD).enumerate() {
            write!(f, "{} {resource}", if n == 0 { ":" } else { ";" })?;
            if let State::Stale { why, .. } = state {
                write!(f, " ({why})")?;
            }
        }
        if missing > TOLD { write!(f, "; and {} more", missing - TOLD) } else { Ok(()) }
    }
}

impl std::error::Error for NotAllReady {}
