use crate::ResourceVersion;
use std::time::Duration;

/// One request for one page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[doc(alias = "ListOptions")]
pub struct ListParams {
    /// `""`: the most recent state; leave the parameter out.
    pub resource_version: ResourceVersion,
    /// How the version is meant.
    pub version_match: VersionMatch,
    /// At most this many items; `None` for all.
    pub limit: Option<u32>,
    /// Goes on where a page ended; then version and match are unset.
    pub continue_token: Option<Box<str>>,
    /// An item of more bytes is an error, not memory.
    pub max_event_size: usize,
}

/// How a list's version is meant: `resourceVersionMatch`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VersionMatch {
    /// Left out: with a limit, a version other than `""` and `"0"` is then meant exactly.
    #[default]
    Unset,
    /// Any state at least as new.
    NotOlderThan,
    /// This state and no other.
    Exact,
}

/// One request for a watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[doc(alias = "ListOptions")]
pub struct WatchParams {
    /// Only later events come; of a watch-list, the oldest state that will do (`""`: the most recent).
    pub resource_version: ResourceVersion,
    /// Whether this is a watch-list: `sendInitialEvents=true` with `resourceVersionMatch=NotOlderThan`.
    pub send_initial_events: bool,
    /// When the server is to end the watch: `timeoutSeconds`, whole seconds, at least one.
    pub timeout: Duration,
    /// The last connection said nothing any more: take another, if there is a choice.
    pub new_connection: bool,
    /// An event of more bytes is an error, not memory.
    pub max_event_size: usize,
}

impl WatchParams {
    /// `timeoutSeconds` as it goes on the wire: at least 1, since 0 means unset there.
    pub fn timeout_seconds(&self) -> u64 {
        self.timeout.as_secs().max(1)
    }
}
