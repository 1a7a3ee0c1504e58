use crate::ResourceVersion;
use std::fmt;

/// What is known of an object that does not decode.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unreadable {
    /// How it came.
    pub came_as: UnreadableAs,
    /// `""` for cluster-scoped objects.
    pub namespace: Box<str>,
    /// Never empty where a store is to act on it.
    pub name: Box<str>,
    /// `""` where it could not be read.
    pub uid: Box<str>,
    /// Unset where it could not be read.
    pub resource_version: ResourceVersion,
}

/// How an object that does not decode came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UnreadableAs {
    /// As an item of a snapshot.
    Listed,
    /// In an `ADDED` event.
    Added,
    /// In a `MODIFIED` event.
    Modified,
    /// In a `DELETED` event.
    Deleted,
}

impl Unreadable {
    /// An object of this key, of which no more is known.
    pub fn new(came_as: UnreadableAs, namespace: impl Into<Box<str>>, name: impl Into<Box<str>>) -> Self {
        Unreadable {
            came_as,
            namespace: namespace.into(),
            name: name.into(),
            uid: "".into(),
            resource_version: ResourceVersion::default(),
        }
    }

    /// The same with a uid and a version.
    #[must_use]
    pub fn with_identity(mut self, uid: impl Into<Box<str>>, resource_version: impl Into<ResourceVersion>) -> Self {
        self.uid = uid.into();
        self.resource_version = resource_version.into();
        self
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at version {:?}", self.key(), self.resource_version)
    }
}
