use crate::{GrammarError, OwnedKey};
use std::{fmt, sync::Arc};

/// Why a store did not take an event. The stream goes on without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(Why);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Why {
    Grammar(GrammarError),
    Nameless,
    Taken { key: OwnedKey, part: Arc<str> },
    Removed,
}

impl Refused {
    pub(super) fn grammar(error: GrammarError) -> Self {
        Refused(Why::Grammar(error))
    }

    pub(super) fn nameless() -> Self {
        Refused(Why::Nameless)
    }

    pub(super) fn taken(key: OwnedKey, part: Arc<str>) -> Self {
        Refused(Why::Taken { key, part })
    }

    pub(super) fn removed() -> Self {
        Refused(Why::Removed)
    }

    /// This occurs when another part of the store brought the same key: selectors overlap, or the keys of two clusters
    /// collide. The key.
    pub fn taken_key(&self) -> Option<&OwnedKey> {
        match &self.0 {
            Why::Taken { key, .. } => Some(key),
            _ => None,
        }
    }

    /// This occurs when an event stands where the grammar does not allow it.
    pub fn is_grammar(&self) -> bool {
        matches!(self.0, Why::Grammar(_))
    }

    /// This occurs when the stream's part was removed from the store while the stream ran.
    pub fn is_removed(&self) -> bool {
        self.0 == Why::Removed
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Why::Grammar(_) => f.write_str("an event out of place"),
            Why::Nameless => f.write_str("an object without a name"),
            Why::Taken { key, part } if part.is_empty() => write!(f, "{key} is held by the unnamed part of the store"),
            Why::Taken { key, part } => write!(f, "{key} is held by the part {part:?} of the store"),
            Why::Removed => f.write_str("the part of the store was removed"),
        }
    }
}

impl std::error::Error for Refused {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            Why::Grammar(error) => Some(error),
            _ => None,
        }
    }
}
