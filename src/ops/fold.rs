use crate::{BoxError, Event, Recover};

/// Takes events in, and says what they did: what [`reflect`](crate::EventStreamExt::reflect) and
/// [`tee`](crate::EventStreamExt::tee) feed. A [`Store`](crate::Store) hands one out; a store of one's own is twenty lines.
///
/// # Contract
///
/// * `fold` makes the change. What it returns only tells of it: it owns what it needs, is lazy, and may be dropped
///   half-way without undoing anything.
/// * A fold's error is one item with [`Recovery::Skip`](crate::Recovery::Skip); the stream goes on. What one event left
///   out beside what it changed is told by `refused`, as one such item each.
/// * A fold is dropped when its stream has ended or is dropped.
#[doc(alias = "ReflectorStore")]
pub trait Fold<K> {
    /// What one event did, told lazily.
    type Changes: IntoIterator;
    /// Why an event was not taken.
    type Error: Into<BoxError>;

    /// Takes one event.
    ///
    /// # Errors
    ///
    /// Where it does not take this one.
    fn fold(&mut self, event: Event<K>) -> Result<Self::Changes, Self::Error>;

    /// An `Err` item went by: how a store learns that it is stale, and of an unreadable deletion.
    fn failed(&mut self, error: &dyn Recover) -> Option<Self::Changes> {
        let _ = error;
        None
    }

    /// Why something that the last event was to bring was left out of its changes: asked once they are told, until
    /// `None`.
    fn refused(&mut self) -> Option<Self::Error> {
        None
    }
}

impl<K, F: Fold<K> + ?Sized> Fold<K> for &mut F {
    type Changes = F::Changes;
    type Error = F::Error;
    fn fold(&mut self, event: Event<K>) -> Result<Self::Changes, Self::Error> {
        (**self).fold(event)
    }
    fn failed(&mut self, error: &dyn Recover) -> Option<Self::Changes> {
        (**self).failed(error)
    }
    fn refused(&mut self) -> Option<Self::Error> {
        (**self).refused()
    }
}

/// What `reflect` and `tee` take: a [`Fold`] by value or `&mut`, or `&Store`, which opens a part of that store.
///
/// `M` is inferred, and says which of these it is; the trait is not implemented elsewhere.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot take the events of this stream",
    note = "pass `&Store<K>`, a part of one, or a value that implements `Fold<K>`"
)]
pub trait IntoFold<K, M>: sealed::Sealed<K, M> {
    /// What the events are folded into.
    type Fold: Fold<K>;
    /// Opens it.
    fn into_fold(self) -> Self::Fold;
}

/// Marks a [`Fold`] that is passed itself.
#[derive(Debug)]
#[non_exhaustive]
pub struct Itself;

impl<K, F: Fold<K>> IntoFold<K, Itself> for F {
    type Fold = F;
    fn into_fold(self) -> F {
        self
    }
}

pub(crate) mod sealed {
    pub trait Sealed<K, M> {}
    impl<K, F: super::Fold<K>> Sealed<K, super::Itself> for F {}
}
