use super::PartLine;
use crate::{DecodeError, OwnedKey};
use std::{fmt, sync::Arc};

/// Why a checkpoint was not taken. The store is as it was before.
#[derive(Clone, Debug)]
pub struct RestoreError(pub(super) Why);

#[derive(Clone, Debug)]
pub(super) enum Why {
    Foreign,
    Format(u8),
    Corrupt(&'static str),
    Object(DecodeError),
    Twice(OwnedKey),
    Source { part: Box<str>, found: Option<Box<str>>, expected: Box<str> },
    InUse,
    Io(Arc<std::io::Error>),
}

impl RestoreError {
    pub(super) fn corrupt(what: &'static str) -> Self {
        RestoreError(Why::Corrupt(what))
    }

    pub(super) fn source(line: &PartLine, expected: &str) -> Self {
        RestoreError(Why::Source { part: line.part.clone(), found: line.source.clone(), expected: expected.into() })
    }

    /// This occurs when the bytes are no checkpoint of this crate's, or one of another version of the format.
    pub fn is_foreign(&self) -> bool {
        matches!(self.0, Why::Foreign | Why::Format(_))
    }

    /// This occurs when a checkpoint is cut off or damaged.
    pub fn is_corrupt(&self) -> bool {
        matches!(self.0, Why::Corrupt(_) | Why::Twice(_))
    }

    /// This occurs when an object of the checkpoint does not fit the store's type.
    pub fn is_another_type(&self) -> bool {
        matches!(self.0, Why::Object(_))
    }

    /// This occurs when a part came from elsewhere: its source label is another than the one set before.
    pub fn is_another_source(&self) -> bool {
        matches!(self.0, Why::Source { .. })
    }

    /// This occurs when the store holds objects or is fed by a stream.
    pub fn is_in_use(&self) -> bool {
        matches!(self.0, Why::InUse)
    }
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Why::Foreign => f.write_str("not a checkpoint"),
            Why::Format(format) => write!(f, "a checkpoint of format {format}, which this version does not read"),
            Why::Corrupt(what) => write!(f, "the checkpoint is damaged: {what}"),
            Why::Object(_) => f.write_str("the checkpoint holds an object that does not fit the store's type"),
            Why::Twice(key) => write!(f, "the checkpoint is damaged: {key} comes twice"),
            Why::Source { part, found, expected } => {
                let found = found.as_deref().unwrap_or_default();
                write!(f, "part {part:?} of the checkpoint comes from {found:?}, not from {expected:?}")
            }
            Why::InUse => f.write_str("a store is restored before anything else feeds it"),
            Why::Io(_) => f.write_str("the checkpoint cannot be read"),
        }
    }
}

impl std::error::Error for RestoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            Why::Object(error) => Some(error),
            Why::Io(error) => Some(&**error),
            _ => None,
        }
    }
}
