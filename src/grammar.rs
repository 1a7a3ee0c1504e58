use crate::{Event, Recovery};
use std::fmt;

/// The grammar of [`Event`] as an automaton over events and the recoveries of errors.
///
/// [`validate`](crate::EventStreamExt::validate), the store, the testing room and the property tests all use this one.
///
/// ```
/// use listwatch::{Event, Grammar, Raw, Recovery};
///
/// let mut grammar = Grammar::Start;
/// grammar.event::<Raw>(&Event::SnapshotStart)?;
/// grammar.error(Recovery::Skip);
/// grammar.event::<Raw>(&Event::SnapshotEnd("7".into()))?;
/// assert_eq!(grammar, Grammar::Live);
/// assert!(grammar.event::<Raw>(&Event::SnapshotEnd("8".into())).is_err());
/// # Ok::<(), listwatch::GrammarError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grammar {
    /// Nothing came yet: a snapshot or, where the stream starts from a version, a change may.
    #[default]
    Start,
    /// Within a snapshot.
    Snapshot,
    /// Within a snapshot that an error voided: only errors and a new snapshot may come.
    Void,
    /// Between snapshots.
    Live,
}

impl Grammar {
    /// Takes an event.
    ///
    /// # Errors
    ///
    /// Where the event may not stand here. The automaton goes on all the same: a `SnapshotStart` begins a snapshot
    /// wherever it stands, any other event out of place is as if it had not come.
    pub fn event<K>(&mut self, event: &Event<K>) -> Result<(), GrammarError> {
        use Event::{Added, Bookmark, Deleted, Listed, Modified, Resync, SnapshotEnd, SnapshotStart, Watching};
        let before = *self;
        *self = match (before, event) {
            (Grammar::Start | Grammar::Live | Grammar::Void, SnapshotStart) => Grammar::Snapshot,
            (Grammar::Snapshot, Listed(_) | Deleted(_)) => Grammar::Snapshot,
            (Grammar::Snapshot, SnapshotEnd(_)) => Grammar::Live,
            (
                Grammar::Start | Grammar::Live,
                Added(_) | Modified(_) | Deleted(_) | Bookmark(_) | Watching(_) | Resync,
            ) => Grammar::Live,
            (_, _) => return Err(GrammarError { event: event.name(), at: before }),
        };
        Ok(())
    }

    /// Takes an error, which may stand anywhere.
    pub fn error(&mut self, recovery: Recovery) {
        if *self == Grammar::Snapshot && recovery != Recovery::Skip {
            *self = Grammar::Void;
        }
    }
}

/// An event stands where the grammar of [`Event`] does not allow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrammarError {
    event: &'static str,
    at: Grammar,
}

impl fmt::Display for GrammarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.at {
            Grammar::Start => "at the start of a stream",
            Grammar::Snapshot => "within a snapshot",
            Grammar::Void => "after an error that voided the snapshot",
            Grammar::Live => "outside of a snapshot",
        };
        write!(f, "event {:?} may not stand {place}", self.event)
    }
}

impl std::error::Error for GrammarError {}
