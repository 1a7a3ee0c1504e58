use crate::{Key, Object, OwnedKey, Unreadable};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    sync::Arc,
};

/// Objects by uid; those that could not be read are left out of a comparison.
pub(super) struct Content<T> {
    objects: BTreeMap<Box<str>, Arc<T>>,
    unreadable: BTreeSet<Box<str>>,
}

impl<T> Default for Content<T> {
    fn default() -> Self {
        Content { objects: BTreeMap::new(), unreadable: BTreeSet::new() }
    }
}

impl<T: Object> Content<T> {
    pub(super) fn insert(&mut self, object: Arc<T>) {
        self.objects.insert(uid_of(&*object), object);
    }

    pub(super) fn remove(&mut self, object: &T) {
        self.objects.remove(&uid_of(object));
    }

    pub(super) fn skip(&mut self, object: &Unreadable) {
        self.unreadable.insert(named(&object.uid, object.key()));
    }

    /// Says how it differs from a list; the names of objects, never their content.
    pub(super) fn differs_from<K: Object>(self, listed: Content<K>, map: &mut impl FnMut(&K) -> T) -> Option<String>
    where
        T: PartialEq,
    {
        let skip: BTreeSet<_> = self.unreadable.into_iter().chain(listed.unreadable).collect();
        let mut own = self.objects;
        let (mut missing, mut other, mut too_many) = (Names::default(), Names::default(), Names::default());
        for (uid, object) in listed.objects {
            let held = own.remove(&uid);
            if skip.contains(&uid) {
                continue;
            }
            match held {
                None => missing.add(Key::of(&*object)),
                Some(held) if *held != map(&object) => other.add(Key::of(&*object)),
                Some(_) => {}
            }
        }
        for (_, object) in own.into_iter().filter(|(uid, _)| !skip.contains(uid)) {
            too_many.add(Key::of(&*object));
        }
        let parts = [(missing, "missing"), (too_many, "too many"), (other, "of other content")];
        let said: Vec<_> = parts.iter().filter_map(|(names, what)| names.say(what)).collect();
        (!said.is_empty()).then(|| said.join(", "))
    }
}

/// The uid; the key where a source has none.
fn uid_of(object: &impl Object) -> Box<str> {
    named(object.identity().uid, Key::of(object))
}

fn named(uid: &str, key: Key<'_>) -> Box<str> {
    if uid.is_empty() { key.to_string().into() } else { uid.into() }
}

/// How many there are, and what the first of them are called.
#[derive(Default)]
struct Names {
    count: usize,
    first: Vec<OwnedKey>,
}

/// Names that are told.
const NAMES: usize = 10;

impl Names {
    fn add(&mut self, key: Key<'_>) {
        self.count += 1;
        if self.first.len() < NAMES {
            self.first.push(key.to_owned());
        }
    }

    fn say(&self, what: &str) -> Option<String> {
        let mut said = format!("{} {what} (", self.count);
        for (n, key) in self.first.iter().enumerate() {
            let _ = write!(said, "{}{key}", if n == 0 { "" } else { ", " });
        }
        said.push_str(if self.count > self.first.len() { ", ...)" } else { ")" });
        (self.count > 0).then_some(said)
    }
}
