use std::{cmp::Ordering, fmt, sync::Arc};

/// A resource version: opaque, compared for equality, and ordered only where both sides are decimal integers.
///
/// `""` means that there is none. Cloning costs a count.
///
/// # Ordering
///
/// Servers of Kubernetes promise that the versions of one resource order as decimal integers of any length;
/// aggregated API servers may not. So [`PartialOrd`] answers `None` unless both are decimal integers without
/// leading zeros, or equal.
///
/// ```
/// use listwatch::ResourceVersion;
///
/// let version = ResourceVersion::from("99999999999999999999");
/// assert!(version < "100000000000000000000".into(), "compared as numbers of any length");
/// assert_eq!(version.partial_cmp(&"etag-7".into()), None);
/// assert!(ResourceVersion::default().is_unset());
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
#[doc(alias = "RV")]
pub struct ResourceVersion(Arc<str>);

impl ResourceVersion {
    /// The version as the server wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is `""`, no version at all.
    pub fn is_unset(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a watch can start here: neither `""` nor `"0"`, which ask a server for whatever state it likes.
    pub fn is_exact(&self) -> bool {
        !matches!(&*self.0, "" | "0")
    }

    pub(crate) fn exact(self) -> Result<Self, InvalidVersion> {
        if self.is_exact() { Ok(self) } else { Err(InvalidVersion { version: self }) }
    }
}

impl Default for ResourceVersion {
    fn default() -> Self {
        Self::from("")
    }
}

impl From<&str> for ResourceVersion {
    fn from(version: &str) -> Self {
        ResourceVersion(version.into())
    }
}

impl From<String> for ResourceVersion {
    fn from(version: String) -> Self {
        ResourceVersion(version.into())
    }
}

impl AsRef<str> for ResourceVersion {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for ResourceVersion {
    fn eq(&self, other: &str) -> bool {
        &*self.0 == other
    }
}

impl PartialEq<&str> for ResourceVersion {
    fn eq(&self, other: &&str) -> bool {
        &*self.0 == *other
    }
}

impl PartialOrd for ResourceVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self == other {
            return Some(Ordering::Equal);
        }
        let (a, b) = (decimal(&self.0)?, decimal(&other.0)?);
        Some(a.len().cmp(&b.len()).then_with(|| a.cmp(b)))
    }
}

fn decimal(version: &str) -> Option<&str> {
    let digits = !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit());
    (digits && (version == "0" || !version.starts_with('0'))).then_some(version)
}

impl fmt::Debug for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A watch cannot start at `""` or `"0"`: both leave it to the server which state comes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidVersion {
    version: ResourceVersion,
}

impl fmt::Display for InvalidVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a watch cannot start at resource version {:?}: a list says where to start", self.version)
    }
}

impl std::error::Error for InvalidVersion {}
