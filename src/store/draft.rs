//! A change of many objects of one part, prepared beside the published state and published at once.

use super::{
    index::Indexes,
    parts::PartState,
    refused::Refused,
    root::{Owner, Root, has_key, same_key},
    shared::Shared,
    trie::{Entry, Trie},
};
use crate::{Key, Object};
use std::sync::Arc;

pub(super) struct Draft<K> {
    base: Arc<Root<K>>,
    part: u32,
    pub(super) objects: Trie<Arc<K>>,
    indexes: Indexes<K>,
    /// What the part holds; `None` as long as that is everything.
    mine: Option<Trie<Arc<K>>>,
    /// The keys that it brought and another part was faster with.
    lost: Vec<Refused>,
}

impl<K: Object> Draft<K> {
    pub(super) fn new(base: Arc<Root<K>>, part: u32) -> Self {
        let alone = base.objects.is_empty() || base.owner == Owner::Sole(part);
        Draft {
            part,
            objects: base.objects.clone(),
            indexes: base.indexes.clone(),
            mine: (!alone).then(|| base.members(part)),
            base,
            lost: Vec::new(),
        }
    }

    /// The published state that this was begun from.
    pub(super) fn base(&self) -> &Arc<Root<K>> {
        &self.base
    }

    /// What the part holds under a key.
    pub(super) fn held(&self, hash: u32, key: Key<'_>) -> Option<&Arc<K>> {
        let entry = self.objects.entry(hash, |held| has_key(&**held, key))?;
        if entry.tag == self.part { entry.item() } else { None }
    }

    pub(super) fn put(&mut self, hash: u32, object: Arc<K>) {
        if let Some(mine) = &mut self.mine {
            mine.insert(Entry::new(hash, self.part, Arc::clone(&object)), same_key);
        }
        let indexed = (!self.indexes.is_empty()).then(|| Arc::clone(&object));
        let old = self.objects.insert(Entry::new(hash, self.part, object), same_key);
        if indexed.is_some() {
            self.indexes.apply(old.as_ref().and_then(Entry::item), indexed.as_ref());
        }
    }

    pub(super) fn take(&mut self, hash: u32, key: Key<'_>) {
        let Some(old) = self.objects.remove(hash, |held| has_key(&**held, key)) else { return };
        if let Some(mine) = &mut self.mine {
            mine.remove(hash, |held| has_key(&**held, key));
        }
        self.indexes.apply(old.item(), None);
    }

    /// Takes out everything that is in `gone`, of which the part holds all.
    pub(super) fn take_all(&mut self, gone: &Trie<Arc<K>>, mut each: impl FnMut(u32, Arc<K>)) {
        if self.objects.same(gone) {
            gone.iter().for_each(|object| each(self.base.hash(Key::of(&**object)), Arc::clone(object)));
            self.objects = Trie::new();
            self.mine = self.mine.take().map(|_| Trie::new());
            self.indexes.clear();
            return;
        }
        for object in gone.clone().into_iter() {
            let hash = self.base.hash(Key::of(&*object));
            self.take(hash, Key::of(&*object));
            each(hash, object);
        }
    }

    /// Brings in what other parts have published meanwhile.
    fn rebase(&mut self, present: &Arc<Root<K>>) {
        if !present.objects.same(&self.base.objects) {
            self.mine.get_or_insert_with(|| self.objects.clone());
            for (old, new) in self.base.diff(present) {
                self.follow(present, old, new);
            }
        }
        self.indexes.catch_up(present, &self.objects);
        self.base = Arc::clone(present);
    }

    /// Whether another part was faster with a key that it brings.
    pub(super) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// One key that another part changed.
    fn follow(&mut self, present: &Root<K>, old: Option<Entry<Arc<K>>>, new: Option<Entry<Arc<K>>>) {
        let part = self.part;
        let Some((hash, object)) = new.as_ref().or(old.as_ref()).and_then(|e| Some((e.hash, e.item()?.clone()))) else {
            return;
        };
        let key = Key::of(&*object);
        let own = self.held(hash, key).is_some();
        match new {
            Some(new) if new.tag != part => {
                let holder = new.tag;
                let replaced = self.objects.insert(new, same_key);
                self.indexes.apply(replaced.as_ref().and_then(Entry::item), Some(&object));
                if own {
                    if let Some(mine) = &mut self.mine {
                        mine.remove(hash, |held| has_key(&**held, key));
                    }
                    self.lost.push(Refused::taken(key.to_owned(), present.parts.name(holder)));
                }
            }
            None if !own => {
                let removed = self.objects.remove(hash, |held| has_key(&**held, key));
                self.indexes.apply(removed.as_ref().and_then(Entry::item), None);
            }
            _ => {}
        }
    }

    /// Publishes it, with what `finish` makes of the root; `finish` is also to put the part back into it. Returns
    /// the keys that are left to other parts.
    ///
    /// # Errors
    ///
    /// Where the part was removed meanwhile.
    pub(super) fn publish(
        mut self,
        shared: &Shared<K>,
        mut finish: impl FnMut(&mut Root<K>, PartState<K>, &Draft<K>),
    ) -> Result<Vec<Refused>, Refused> {
        loop {
            let present = shared.load();
            self.rebase(&present);
            let mut next = Root::clone(&present);
            let Some(part) = present.parts.get(self.part) else { return Err(Refused::removed()) };
            let mut part = PartState::clone(part);
            match &self.mine {
                None => {
                    next.owner = Owner::Sole(self.part);
                    part.objects = Trie::new();
                }
                Some(mine) => {
                    if let Owner::Sole(owner) = next.owner {
                        next.share(owner);
                    }
                    part.objects = mine.clone();
                }
            }
            next.objects = self.objects.clone();
            next.indexes = self.indexes.clone();
            finish(&mut next, part, &self);
            if shared.publish(&present, next) {
                return Ok(self.lost);
            }
        }
    }
}
