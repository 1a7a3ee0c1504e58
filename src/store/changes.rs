use super::{
    root::{has_key, hash_key},
    trie::{self, Trie, elsewhere},
};
use crate::{Change, DeleteReason, Key, Object};
use hashbrown::DefaultHashBuilder;
use std::{fmt, sync::Arc};

/// What one event did to a store, told lazily.
///
/// Owns what it needs and holds no lock, so it may be kept, or dropped half-way. What a snapshot replaced is freed as
/// it is told.
pub struct Changes<K>(Kind<K>);

enum Kind<K> {
    Few([Option<Change<K>>; 2]),
    Replay(trie::IntoIter<Arc<K>>),
    Many { told: Arc<Told<K>>, at: usize, next: Option<Change<K>> },
}

/// A change of many objects: those gone, then those new or updated in list order, then one more.
pub(super) struct Told<K> {
    gone: Vec<(Option<Arc<K>>, DeleteReason)>,
    news: Vec<News<K>>,
    /// The content afterwards, where a key came up twice: only then must what is told be checked against it.
    after: Option<(Trie<Arc<K>>, DefaultHashBuilder)>,
    initial: bool,
    last: Option<Change<K>>,
    release: fn(Vec<News<K>>),
}

/// Before and after; both are taken out as they are told, where nobody else is to be told.
pub(super) type News<K> = (Option<Arc<K>>, Option<Arc<K>>);

impl<K> Clone for Changes<K> {
    fn clone(&self) -> Self {
        Changes(match &self.0 {
            Kind::Few(few) => Kind::Few(few.clone()),
            Kind::Replay(all) => Kind::Replay(all.clone()),
            Kind::Many { told, at, next } => Kind::Many { told: Arc::clone(told), at: *at, next: next.clone() },
        })
    }
}

impl<K> Changes<K> {
    pub(super) fn none() -> Self {
        Changes(Kind::Few([None, None]))
    }

    pub(super) fn one(change: Change<K>) -> Self {
        Changes(Kind::Few([Some(change), None]))
    }

    /// The changes, where they are few.
    pub(super) fn few(&self) -> impl Iterator<Item = &Change<K>> {
        let few = if let Kind::Few(few) = &self.0 { few.as_slice() } else { &[] };
        few.iter().flatten()
    }

    /// The first of few.
    pub(super) fn first(&self) -> Option<&Change<K>> {
        self.few().next()
    }

    pub(super) fn is_many(&self) -> bool {
        matches!(self.0, Kind::Many { .. })
    }

    pub(super) fn replay(all: trie::IntoIter<Arc<K>>) -> Self {
        Changes(Kind::Replay(all))
    }
}

impl<K: Object> Changes<K> {
    /// From one state of a key to another.
    pub(super) fn between(old: Option<Arc<K>>, new: Option<Arc<K>>, initial: bool, why: DeleteReason) -> Self {
        match (old, new) {
            (Some(old), Some(new)) if Arc::ptr_eq(&old, &new) => Changes::none(),
            (Some(last), Some(object)) if last.identity().uid != object.identity().uid => {
                let gone = Change::Deleted { last, why: DeleteReason::Replaced };
                Changes(Kind::Few([Some(gone), Some(Change::Added { object, initial })]))
            }
            (Some(old), Some(new)) => Changes::one(Change::Updated { old, new }),
            (None, Some(object)) => Changes::one(Change::Added { object, initial }),
            (Some(last), None) => Changes::one(Change::Deleted { last, why }),
            (None, None) => Changes::none(),
        }
    }

    pub(super) fn many(
        gone: Vec<(Option<Arc<K>>, DeleteReason)>,
        news: Vec<News<K>>,
        initial: bool,
        last: Option<Change<K>>,
    ) -> Self {
        let told = Told { gone, news, after: None, initial, last, release: elsewhere };
        Changes(Kind::Many { told: Arc::new(told), at: 0, next: None })
    }

    /// Tells only what this content bears out. For changes that nobody else has yet.
    pub(super) fn check_against(&mut self, objects: &Trie<Arc<K>>, hasher: &DefaultHashBuilder) {
        if let Kind::Many { told, .. } = &mut self.0
            && let Some(told) = Arc::get_mut(told)
        {
            told.after = Some((objects.clone(), hasher.clone()));
        }
    }
}

impl<K: Object> Told<K> {
    /// What an entry tells; `None` after the last.
    fn tell(told: &mut Arc<Self>, at: usize) -> Option<Changes<K>> {
        let gone = told.gone.len();
        if at < gone {
            let (last, why) = match Arc::get_mut(told) {
                Some(own) => (own.gone[at].0.take(), own.gone[at].1),
                None => told.gone[at].clone(),
            };
            let again = last.as_ref().is_some_and(|last| told.holds(last, |_| true) == Some(true));
            return Some(Changes::between(last.filter(|_| !again), None, false, why));
        }
        if at - gone < told.news.len() {
            let (old, new) = match Arc::get_mut(told) {
                Some(own) => std::mem::take(&mut own.news[at - gone]),
                None => told.news[at - gone].clone(),
            };
            let later = new.as_ref().is_some_and(|new| told.holds(new, |held| Arc::ptr_eq(held, new)) == Some(false));
            if later {
                return Some(Changes::none());
            }
            return Some(Changes::between(old, new, told.initial, DeleteReason::Missed));
        }
        (at == gone + told.news.len()).then(|| Changes(Kind::Few([told.last.clone(), None])))
    }

    /// Whether the state afterwards holds something fitting under this key; `None` where it need not be asked.
    fn holds(&self, object: &Arc<K>, fits: impl Fn(&Arc<K>) -> bool) -> Option<bool> {
        let (after, hasher) = self.after.as_ref()?;
        let key = Key::of(&**object);
        Some(after.get(hash_key(hasher, key), |held| has_key(&**held, key)).is_some_and(fits))
    }
}

impl<K: Object> Iterator for Changes<K> {
    type Item = Change<K>;

    fn next(&mut self) -> Option<Change<K>> {
        match &mut self.0 {
            Kind::Few([first, second]) => first.take().or_else(|| second.take()),
            Kind::Replay(all) => all.next().map(Change::Resynced),
            Kind::Many { told, at, next } => loop {
                if let Some(change) = next.take() {
                    return Some(change);
                }
                let mut changes = Told::tell(told, *at)?;
                *at += 1;
                if let Some(change) = changes.next() {
                    *next = changes.next();
                    return Some(change);
                }
            },
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Kind::Few(few) => {
                let left = few.iter().flatten().count();
                (left, Some(left))
            }
            Kind::Replay(all) => all.size_hint(),
            Kind::Many { .. } => (0, None),
        }
    }
}

/// What is left untold may be a million objects.
impl<K> Drop for Told<K> {
    fn drop(&mut self) {
        let mut rest = std::mem::take(&mut self.news);
        rest.extend(std::mem::take(&mut self.gone).into_iter().map(|(last, _)| (last, None)));
        if rest.len() < 1024 {
            return;
        }
        (self.release)(rest);
    }
}

impl<K> fmt::Debug for Changes<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes").finish_non_exhaustive()
    }
}
