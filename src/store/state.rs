use std::sync::Arc;
use tokio::time::Instant;

/// How far a store, or one part of it, can be trusted to be up to date.
///
/// ```text
/// Empty --SnapshotStart--> Syncing --SnapshotEnd--> Live --Err with Resume or Relist--> Stale --any event of the watch, SnapshotEnd--> Live
/// ```
///
/// An `Err` with Skip or Fallback, and a resync, change nothing. `SnapshotStart` turns a `Stale` part that has no
/// content into `Syncing`; one that has content stays `Stale` until the snapshot is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// Nothing came yet.
    Empty,
    /// The first snapshot is on its way.
    Syncing,
    /// The stream is in touch with its source.
    Live,
    /// The content is what was known last.
    Stale {
        /// When the first failure came, the content was restored, or the stream ended.
        since: Instant,
        /// The last failure, in one line.
        why: Arc<str>,
    },
}

impl State {
    /// Whether the source is being followed.
    pub fn is_live(&self) -> bool {
        matches!(self, State::Live)
    }

    /// Whether the content is what was known before something failed.
    pub fn is_stale(&self) -> bool {
        matches!(self, State::Stale { .. })
    }

    /// Stale since the first failure, and because of the last.
    pub(super) fn failed(&mut self, now: Instant, why: Arc<str>) {
        let since = if let State::Stale { since, .. } = self { *since } else { now };
        *self = State::Stale { since, why };
    }

    /// Of all parts, the one that can be trusted least; `Empty` only where all are.
    pub(super) fn of_all<'a>(states: impl Iterator<Item = &'a State>) -> State {
        let rank = |state: &State| match state {
            State::Empty => 0,
            State::Live => 1,
            State::Stale { .. } => 2,
            State::Syncing => 3,
        };
        states.max_by_key(|state| rank(state)).cloned().unwrap_or(State::Empty)
    }
}
