use super::{Closed, Snapshot, Store, root::Root};
use crate::{Key, Object, ResourceVersion};
use std::{fmt, sync::Arc};

impl<K: Object> Store<K> {
    /// Waits until each part in use has reached a version: read your own writes.
    ///
    /// After a write, wait for the version that the server returned; what the store then holds has that write, or
    /// something newer. With it a cache of one's own mutations is not needed. A store with a selector may have to wait
    /// for the next bookmark, as the server tells it nothing of objects that do not match: up to a minute, and for ever
    /// where the server sends none. [`wait_for_object`](Store::wait_for_object) does not.
    ///
    /// # Errors
    ///
    /// Where the store closes before; where a snapshot came that is older than the one before it, so that the version
    /// may never come; where the versions cannot be compared.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: nothing is lost by dropping the future.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// use listwatch::{Event, Fold, IntoFold, Raw, Store};
    ///
    /// let store = Store::<Raw>::new();
    /// let mut part = (&store).into_fold();
    /// part.fold(Event::Bookmark("30".into()))?;
    /// store.wait_for("29").await?;
    /// # Ok::<_, Box<dyn std::error::Error + Send + Sync>>(()) }).unwrap();
    /// ```
    #[doc(alias("MutationCache", "ReadYourWrites"))]
    pub async fn wait_for(&self, version: impl Into<ResourceVersion>) -> Result<(), WaitError> {
        let mut wanted = Wanted::new(version.into());
        self.until(|root| wanted.reached(root).transpose()).await?
    }

    /// Waits until the store has reached a version as far as one object is concerned: until it holds that object at the
    /// version or a later one, or each part in use has reached it. Gives what the store then holds under the key;
    /// `None` where the object was deleted since, or does not match the store's selector.
    ///
    /// # Errors
    ///
    /// As [`wait_for`](Store::wait_for).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: nothing is lost by dropping the future.
    pub async fn wait_for_object<'k>(
        &self,
        key: impl Into<Key<'k>>,
        version: impl Into<ResourceVersion>,
    ) -> Result<Option<Arc<K>>, WaitError> {
        let (key, mut wanted) = (key.into(), Wanted::new(version.into()));
        self.until(|root| {
            let held = root.get(key);
            let version = held.map(|held| ResourceVersion::from(held.identity().resource_version));
            if version.is_some_and(|version| version >= wanted.version) {
                return Some(Ok(held.cloned()));
            }
            wanted.reached(root).map(|reached| reached.map(|()| held.cloned())).transpose()
        })
        .await?
    }

    /// Waits until a state satisfies the predicate, and gives it. Of states that come faster than they are looked at,
    /// only the latest is; the predicate runs under no lock.
    ///
    /// # Errors
    ///
    /// Where the store closes before.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: nothing is lost by dropping the future.
    pub async fn wait_until(&self, mut predicate: impl FnMut(&Snapshot<K>) -> bool) -> Result<Snapshot<K>, Closed> {
        self.until(|root| {
            let snapshot = Snapshot::new(Arc::clone(root));
            predicate(&snapshot).then_some(snapshot)
        })
        .await
    }
}

struct Wanted {
    version: ResourceVersion,
    /// How often the store had gone back when the wait began.
    rewinds: Option<u64>,
}

impl Wanted {
    fn new(version: ResourceVersion) -> Self {
        Wanted { version, rewinds: None }
    }

    /// Whether each part that counts has reached it.
    fn reached<K: Object>(&mut self, root: &Root<K>) -> Result<Option<()>, WaitError> {
        let (mut any, mut all) = (false, true);
        for part in root.parts.counted() {
            any = true;
            if part.version.is_unset() {
                all = false;
                continue;
            }
            match part.version.partial_cmp(&self.version) {
                Some(order) => all &= order.is_ge(),
                None => return Err(WaitError::not_comparable(&part.version, &self.version)),
            }
        }
        if any && all {
            return Ok(Some(()));
        }
        if *self.rewinds.get_or_insert(root.counts.rewinds) != root.counts.rewinds {
            return Err(WaitError::Rewound(Rewound { to: root.version().cloned(), wanted: self.version.clone() }));
        }
        Ok(None)
    }
}

/// Why a version will not be waited for any longer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitError {
    /// The store closed.
    Closed(Closed),
    /// A snapshot came that is older than the one before it: the server was restored, and the version may never come.
    Rewound(Rewound),
    /// The versions cannot be compared: not both are decimal integers.
    NotComparable(NotComparable),
}

/// A store went back to an older version while a newer one was waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewound {
    to: Option<ResourceVersion>,
    wanted: ResourceVersion,
}

/// A store's version and the one that is waited for cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotComparable {
    reached: ResourceVersion,
    wanted: ResourceVersion,
}

impl WaitError {
    fn not_comparable(reached: &ResourceVersion, wanted: &ResourceVersion) -> Self {
        WaitError::NotComparable(NotComparable { reached: reached.clone(), wanted: wanted.clone() })
    }
}

impl From<Closed> for WaitError {
    fn from(closed: Closed) -> Self {
        WaitError::Closed(closed)
    }
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WaitError::Closed(error) => error.fmt(f),
            WaitError::Rewound(error) => error.fmt(f),
            WaitError::NotComparable(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for Rewound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let to = self.to.as_ref().map_or("", ResourceVersion::as_str);
        write!(f, "the store went back to version {to:?} while {:?} was waited for", self.wanted)
    }
}

impl fmt::Display for NotComparable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the store is at version {:?}, which cannot be compared with {:?}", self.reached, self.wanted)
    }
}

impl std::error::Error for WaitError {}
impl std::error::Error for Rewound {}
impl std::error::Error for NotComparable {}
