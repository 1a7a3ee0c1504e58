use super::handle::Mirror;
use crate::{ResourceVersion, State};
use std::{fmt, sync::atomic::Ordering::Relaxed};

/// How the mirror of one resource stands.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MirrorState {
    /// Such as `deployments.apps`.
    pub resource: String,
    /// The state of its store, with the last failure where it is Stale.
    pub state: State,
    /// Whether a snapshot was complete, so that the content is all there was.
    pub is_complete: bool,
    /// Objects in the store.
    pub objects: usize,
    /// Objects that do not decode, or are of another kind.
    pub skipped: u64,
    /// Up to where the store is; `None` where it has no version.
    pub resource_version: Option<ResourceVersion>,
}

impl MirrorState {
    pub(super) fn of(mirror: &Mirror) -> Self {
        let (store, stats) = (&mirror.store, mirror.stats.get());
        MirrorState {
            resource: mirror.name.clone(),
            state: store.state(),
            is_complete: stats.lists_done > 0,
            objects: store.len(),
            skipped: stats.skipped + mirror.foreign.load(Relaxed),
            resource_version: store.resource_version().filter(|version| !version.is_unset()),
        }
    }
}

/// How each of the [`Mirrors`](super::Mirrors) stood at one moment. Its `Display` is a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirrorStates(Vec<MirrorState>);

impl MirrorStates {
    pub(super) fn new(states: Vec<MirrorState>) -> Self {
        MirrorStates(states)
    }

    /// One after the other, in the order in which the resources were given.
    pub fn iter(&self) -> std::slice::Iter<'_, MirrorState> {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a MirrorStates {
    type Item = &'a MirrorState;
    type IntoIter = std::slice::Iter<'a, MirrorState>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// ```text
/// RESOURCE          STATE     OBJECTS  SKIPPED  VERSION
/// pods              live           12        0  4711
/// secrets           stale           0        0  -        list secrets: the server answered: ...
/// ```
impl fmt::Display for MirrorStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widest = |texts: &mut dyn Iterator<Item = usize>, least: usize| texts.max().unwrap_or(0).max(least);
        let version =
            |state: &MirrorState| state.resource_version.as_ref().map_or_else(|| "-".into(), |v| v.to_string());
        let names = widest(&mut self.iter().map(|state| state.resource.len()), "RESOURCE".len());
        let versions = widest(&mut self.iter().map(|state| version(state).len()), "VERSION".len());
        write!(f, "{:names$}  STATE    OBJECTS  SKIPPED  VERSION", "RESOURCE")?;
        for state in self {
            let (word, why) = match &state.state {
                State::Empty => ("empty", ""),
                State::Syncing => ("syncing", ""),
                State::Live => ("live", ""),
                State::Stale { why, .. } => ("stale", &**why),
            };
            let MirrorState { resource, objects, skipped, .. } = state;
            let version = version(state);
            let line = format!("{resource:names$}  {word:7}  {objects:7}  {skipped:7}  {version:versions$}  {why}");
            write!(f, "\n{}", line.trim_end())?;
        }
        Ok(())
    }
}
