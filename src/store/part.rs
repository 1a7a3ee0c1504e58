use super::{
    State, Store, changes::Changes, draft::Draft, fold::StoreFold, parts::PartState, root::Root, shared::Shared,
};
use crate::{DeleteReason, IntoFold, Object, ResourceVersion, ops::sealed::Sealed};
use std::{fmt, sync::Arc};
use tokio::time::Instant;

/// A part of a [`Store`] by its name, whether it exists yet or not: see [`Store::part`].
pub struct Part<K> {
    store: Store<K>,
    name: Arc<str>,
    remove_on_end: bool,
}

impl<K> Clone for Part<K> {
    fn clone(&self) -> Self {
        Part { store: self.store.clone(), name: Arc::clone(&self.name), remove_on_end: self.remove_on_end }
    }
}

impl<K: Object> Store<K> {
    /// A part of this store: what one stream brings. `.reflect(store.part("a"))` feeds it; `.reflect(&store)` feeds the
    /// unnamed one, which is also `part("")`.
    ///
    /// A snapshot of its stream replaces only what the part holds. A part has at most one stream: a second one while it
    /// is in use gets a numbered part of its own (`a#2`). When a stream ends, the part keeps its objects,
    /// [`Stale`](State::Stale), and the next stream of the same name takes them over: its first snapshot replaces them,
    /// told as differences.
    ///
    /// A key belongs to one part. A second part that brings it gets a Skip item that says so: the selectors overlap, or
    /// the keys of two clusters collide, which are to have a store each.
    ///
    /// ```
    /// use listwatch::{Event, Fold, IntoFold, Object, Raw, Store};
    ///
    /// let config = |name: &str| Raw::decode(format!(r#"{{"metadata":{{"name":"{name}"}}}}"#).as_bytes());
    /// let store = Store::<Raw>::new();
    /// let mut a = store.part("a").into_fold();
    /// let mut b = store.part("b").into_fold();
    /// a.fold(Event::added(config("x")?))?;
    /// b.fold(Event::added(config("y")?))?;
    /// assert!(b.fold(Event::added(config("x")?)).is_err(), "the part a holds it");
    /// store.part("a").remove();
    /// assert_eq!(store.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn part(&self, name: &str) -> Part<K> {
        Part { store: self.clone(), name: name.into(), remove_on_end: false }
    }

    /// The names of the parts that there are, in no order.
    pub fn parts(&self) -> Vec<Arc<str>> {
        let root = self.shared().load();
        root.parts.iter().filter(|part| !part.removed).map(|part| Arc::clone(&part.fixed.name)).collect()
    }
}

impl<K: Object> Part<K> {
    pub(super) fn store(&self) -> &Store<K> {
        &self.store
    }

    /// Its name; `""` is the unnamed part.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A stream that is given this handle takes the part's objects along when it ends, as [`remove`](Part::remove).
    #[must_use]
    pub fn remove_on_end(mut self) -> Self {
        self.remove_on_end = true;
        self
    }

    /// Takes the part and its objects out of the store: they are told as
    /// [`Unwatched`](crate::DeleteReason::Unwatched). What a stream still brings to it is refused, as Skip items.
    pub fn remove(&self) {
        if let Some(part) = self.store.shared().load().parts.named(&self.name) {
            remove(self.store.shared(), part.fixed.id);
        }
    }

    /// How far it can be trusted; `Empty` where there is no such part.
    pub fn state(&self) -> State {
        self.read(|part| part.state.clone()).unwrap_or(State::Empty)
    }

    /// The version that it has reached.
    pub fn resource_version(&self) -> Option<ResourceVersion> {
        self.read(|part| part.version.clone()).filter(|version| !version.is_unset())
    }

    /// When anything came last from its source.
    pub fn last_heard(&self) -> Option<Instant> {
        self.store.shared().meters.instant(self.read(|part| part.heard())?)
    }

    /// Whether a stream feeds it.
    pub fn is_in_use(&self) -> bool {
        self.read(|part| part.in_use).unwrap_or(false)
    }

    /// Whether a snapshot of it was completed, or restored.
    pub fn is_complete(&self) -> bool {
        self.read(|part| part.complete).unwrap_or(false)
    }

    /// How many objects it holds.
    pub fn len(&self) -> usize {
        let root = self.store.shared().load();
        root.parts.named(&self.name).map_or(0, |part| root.members(part.fixed.id).len())
    }

    /// Whether it holds no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn read<T>(&self, read: impl FnOnce(&PartState<K>) -> T) -> Option<T> {
        self.store.shared().load().parts.named(&self.name).map(|part| read(part))
    }
}

impl<K> fmt::Debug for Part<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Marks a [`Part`] that is passed as `part` or `&part`.
#[derive(Debug)]
#[non_exhaustive]
pub struct OfPart;

impl<K: Object> Sealed<K, OfPart> for Part<K> {}
impl<K: Object> IntoFold<K, OfPart> for Part<K> {
    type Fold = StoreFold<K>;

    fn into_fold(self) -> StoreFold<K> {
        open(self.store.shared(), &self.name, self.remove_on_end)
    }
}

impl<K: Object> Sealed<K, OfPart> for &Part<K> {}
impl<K: Object> IntoFold<K, OfPart> for &Part<K> {
    type Fold = StoreFold<K>;

    fn into_fold(self) -> StoreFold<K> {
        open(self.store.shared(), &self.name, self.remove_on_end)
    }
}

pub(super) fn next_id<K>(root: &mut Root<K>) -> u32 {
    root.counts.parts += 1;
    root.counts.parts
}

/// Opens the part of this name for a stream, or a numbered one where it is in use.
pub(super) fn open<K: Object>(shared: &Arc<Shared<K>>, name: &str, remove_on_end: bool) -> StoreFold<K> {
    let part = shared.update(|present| {
        let mut next = Root::clone(present);
        let mut part = free(&mut next, name);
        part.in_use = true;
        next.counts.closed = false;
        next.counts.opened = true;
        next.parts.put(part.clone());
        (Some(next), part)
    });
    StoreFold::new(Arc::clone(shared), &part, remove_on_end)
}

fn free<K: Object>(root: &mut Root<K>, name: &str) -> PartState<K> {
    let mut number = 1;
    loop {
        let name: Arc<str> = if number == 1 { name.into() } else { format!("{name}#{number}").into() };
        match root.parts.named(&name) {
            Some(part) if part.in_use => number += 1,
            Some(part) => return PartState::clone(part),
            None => return PartState::new(next_id(root), name),
        }
    }
}

/// Takes a part and its objects out.
pub(super) fn remove<K: Object>(shared: &Shared<K>, id: u32) {
    let begun = shared.update(|present| {
        let Some(part) = present.parts.get(id).filter(|part| !part.removed) else { return (None, false) };
        let mut next = Root::clone(present);
        let mut part = PartState::clone(part);
        part.removed = true;
        next.parts.put(part);
        (Some(next), true)
    });
    if !begun {
        return;
    }
    let base = shared.load();
    let members = base.members(id);
    let mut draft = Draft::new(base, id);
    let mut gone = Vec::with_capacity(members.len());
    draft.take_all(&members, |_, object| gone.push((Some(object), DeleteReason::Unwatched)));
    shared.meters.deleted.add(gone.len());
    let told = Changes::many(gone, Vec::new(), false, None);
    let published = draft.publish(shared, |root, _, _| {
        root.parts.remove(id);
        root.tell(shared.has_cursors().then(|| told.clone()), true);
        root.close_if_unfed();
    });
    debug_assert!(published.is_ok(), "a part is removed once");
}
