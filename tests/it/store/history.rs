//! Random histories of one to three parts against the model: the store equals it after each event, and so does the
//! replay of what was told.

use super::{
    model::{Content, Model, PartModel, Replay},
    thing::{Thing, error, thing, unreadable},
};
use futures::{FutureExt, StreamExt};
use listwatch::{
    Event, Fold, IntoFold, Recovery, Store, UnreadableAs,
    store::{Index, KeepOpen, Noted, Noting, StoreFold, Subscription},
};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
pub(super) enum Step {
    Start,
    Listed(u8, u8),
    /// As it is held, so that relists are mostly unchanged.
    ListedAgain(u8),
    Added(u8, u8),
    Modified(u8, u8),
    Deleted(u8, u8),
    End,
    Unreadable(UnreadableAs, u8, u8),
    Failed(Recovery),
    Quiet(u8),
    Reopen,
    Remove,
}

pub(super) fn steps(keys: u8, parts: u8) -> impl Strategy<Value = Vec<(u8, Step)>> {
    let key = 0..keys;
    let came_as = prop_oneof![
        Just(UnreadableAs::Listed),
        Just(UnreadableAs::Added),
        Just(UnreadableAs::Modified),
        Just(UnreadableAs::Deleted)
    ];
    let failure =
        prop_oneof![Just(Recovery::Resume), Just(Recovery::Relist), Just(Recovery::Fallback), Just(Recovery::Skip)];
    let step = prop_oneof![
        4 => Just(Step::Start),
        8 => (key.clone(), 0..3u8).prop_map(|(k, u)| Step::Listed(k, u)),
        8 => key.clone().prop_map(Step::ListedAgain),
        4 => (key.clone(), 0..3u8).prop_map(|(k, u)| Step::Added(k, u)),
        6 => (key.clone(), 0..3u8).prop_map(|(k, u)| Step::Modified(k, u)),
        5 => (key.clone(), 0..3u8).prop_map(|(k, u)| Step::Deleted(k, u)),
        4 => Just(Step::End),
        3 => (came_as, key, 0..4u8).prop_map(|(a, k, u)| Step::Unreadable(a, k, u)),
        1 => failure.prop_map(Step::Failed),
        2 => (0..3u8).prop_map(Step::Quiet),
        1 => Just(Step::Reopen),
        1 => Just(Step::Remove),
    ];
    proptest::collection::vec((0..parts, step), 1..160)
}

/// A store, its streams and the model, driven in step.
pub(super) struct World {
    pub(super) store: Store<Thing>,
    pub(super) model: Model,
    folds: Vec<StoreFold<Thing>>,
    told: Vec<Replay>,
    version: u64,
    readers: Vec<Reader>,
    noting: (Noting<Thing>, Content),
    third: Index<Thing, u64>,
    open: Option<KeepOpen<Thing>>,
}

/// A subscriber that reads so many changes after each step, and which things it is told.
struct Reader {
    changes: Subscription<Thing>,
    replay: Replay,
    pace: usize,
    all: bool,
}

impl Reader {
    fn read(&mut self, most: usize) {
        for _ in 0..most {
            match self.changes.next().now_or_never() {
                Some(Some(change)) => self.replay.take(&change),
                _ => break,
            }
        }
    }
}

/// A value that changes at random as an object changes.
fn third(thing: &Thing) -> u64 {
    thing.label.parse::<u64>().unwrap() % 3
}

fn name(part: usize) -> String {
    format!("part-{part}")
}

fn uid(name: &str, uid: u8) -> String {
    // the last uid of an unreadable one is not known
    if uid == 3 { String::new() } else { format!("{name}-{uid}") }
}

impl World {
    pub(super) fn new(parts: u8) -> Self {
        let mut world = World::empty(parts);
        // A store of several parts would rarely get ready by chance.
        for part in (0..parts).filter(|_| parts > 1) {
            world.step(part, &Step::Start);
            world.step(part, &Step::End);
        }
        world
    }

    fn empty(parts: u8) -> Self {
        let store = Store::new();
        let parts = usize::from(parts);
        let by_third = store.index("third", |thing| [third(thing)]);
        let reader = |changes, pace, all| Reader { changes, replay: Replay::default(), pace, all };
        World {
            readers: vec![
                reader(store.subscribe(), usize::MAX, true),
                reader(store.subscribe(), 1, true),
                reader(store.subscribe(), 0, true),
                reader(store.subscribe_filtered(|thing| third(thing) == 1), usize::MAX, false),
                reader(store.subscribe_filtered(|thing| third(thing) == 1), 1, false),
                reader(by_third.subscribe(1), usize::MAX, false),
                reader(by_third.subscribe(1), 1, false),
            ],
            noting: (store.subscribe().without_old(), Content::new()),
            third: by_third,
            open: Some(store.keep_open()),
            folds: (0..parts).map(|part| store.part(&name(part)).into_fold()).collect(),
            model: Model { parts: (0..parts).map(|_| PartModel::default()).collect() },
            told: (0..parts).map(|_| Replay::default()).collect(),
            version: 0,
            store,
        }
    }

    fn thing(&mut self, key: u8, generation: u8) -> Thing {
        self.version += 1;
        let name = format!("k{key}");
        // now and then without a uid or version; the label tells one event's object from another's
        let mut thing = thing(&name, self.version).uid(&uid(&name, generation)).label(&self.version.to_string());
        if self.version.is_multiple_of(13) {
            thing.version.clear();
        }
        thing
    }

    fn events(&mut self, part: usize, step: &Step) -> Option<Event<Thing>> {
        Some(match step {
            Step::Start => Event::SnapshotStart,
            Step::Listed(key, uid) => Event::listed(self.thing(*key, *uid)),
            Step::ListedAgain(key) => {
                let held = self.model.parts[part].content.get(&format!("k{key}"))?.clone();
                self.version += 1;
                Event::listed(held.label(&self.version.to_string()))
            }
            Step::Added(key, uid) => Event::added(self.thing(*key, *uid)),
            Step::Modified(key, uid) => Event::modified(self.thing(*key, *uid)),
            Step::Deleted(key, uid) => Event::deleted(self.thing(*key, *uid)),
            Step::End => Event::SnapshotEnd(self.version.to_string().into()),
            Step::Quiet(0) => Event::Resync,
            Step::Quiet(1) => Event::Watching(self.version.to_string().into()),
            Step::Quiet(_) => Event::Bookmark(self.version.to_string().into()),
            _ => return None,
        })
    }

    pub(super) fn step(&mut self, part: u8, step: &Step) {
        let part = usize::from(part);
        if let Some(event) = self.events(part, step) {
            let taken = self.model.event(part, &event);
            let changes = self.folds[part].fold(event);
            assert_eq!(changes.is_ok(), taken, "{step:?}");
            changes.into_iter().flatten().for_each(|change| self.told[part].take(&change));
        }
        match step {
            Step::Failed(recovery) => {
                self.model.failed(part, *recovery);
                assert!(self.folds[part].failed(&error(*recovery, "cut")).is_none());
            }
            Step::Unreadable(came_as, key, generation) => {
                self.version += 1;
                let key = format!("k{key}");
                let uid = uid(&key, *generation);
                self.model.unreadable(part, *came_as, &key, &uid);
                let error = unreadable(*came_as, &key, &uid, &self.version.to_string());
                let changes = self.folds[part].failed(&error);
                changes.into_iter().flatten().for_each(|change| self.told[part].take(&change));
            }
            Step::Reopen => {
                let (store, name) = (&self.store, name(part));
                self.model.reopen(part);
                // the old one first: a part in use would get a number
                replace_with(&mut self.folds[part], || store.part(&name).into_fold());
                self.told[part].synced = 0;
            }
            Step::Remove => {
                let (store, name) = (&self.store, name(part));
                self.model.remove(part);
                store.part(&name).remove();
                replace_with(&mut self.folds[part], || store.part(&name).into_fold());
                self.told[part] = Replay::default();
            }
            _ => {}
        }
        self.check(step);
        for reader in &mut self.readers {
            reader.read(reader.pace);
            // In pace there is nothing left to tell, so the replay is the store.
            if reader.pace == usize::MAX && reader.replay.synced > 0 {
                assert_eq!(reader.replay.content, wanted(&self.model.content(), reader.all), "after {step:?}");
            }
        }
        self.note(1);
    }

    /// The streams end; whatever was read so far, the rest makes it the store.
    pub(super) fn end(mut self) {
        let complete = self.store.ready().now_or_never().is_some_and(|ready| ready.is_ok());
        self.folds.clear();
        self.open = None;
        let content = self.model.content();
        for mut reader in self.readers.drain(..) {
            reader.read(usize::MAX);
            assert!(reader.changes.next().now_or_never() == Some(None), "ended");
            if complete || reader.replay.synced > 0 {
                assert_eq!(reader.replay.content, wanted(&content, reader.all));
            }
        }
        let told_before = !self.noting.1.is_empty();
        while self.note(1) {}
        if complete || told_before {
            let identities = |content: &Content| -> Vec<_> {
                content.values().map(|t| (t.name.clone(), t.uid.clone(), t.version.clone())).collect()
            };
            assert_eq!(identities(&self.noting.1), identities(&content));
        }
    }

    fn note(&mut self, most: usize) -> bool {
        let (noting, seen) = &mut self.noting;
        for _ in 0..most {
            let Some(Some(noted)) = noting.next().now_or_never() else { return false };
            match noted {
                Noted::Added { object, .. } => {
                    assert!(seen.insert(object.name.clone(), Thing::clone(&object)).is_none(), "added twice");
                }
                Noted::Updated { old, new } => {
                    let before = seen.insert(new.name.clone(), Thing::clone(&new)).expect("updated, but never told");
                    assert_eq!((&*old.uid, old.resource_version.as_str()), (&*before.uid, &*before.version));
                }
                Noted::Deleted { last, .. } => {
                    let before = seen.remove(&*last.name).expect("deleted, but never told");
                    assert_eq!((&*last.uid, last.resource_version.as_str()), (&*before.uid, &*before.version));
                }
                Noted::Synced { .. } | Noted::Bookmark(_) | Noted::Watching(_) => {}
            }
        }
        true
    }

    fn check(&self, step: &Step) {
        let held: Content =
            self.store.snapshot().iter().map(|thing| (thing.name.clone(), Thing::clone(thing))).collect();
        assert_eq!(held, self.model.content(), "after {step:?}");
        assert_eq!(self.store.len(), held.len());
        for (i, part) in self.model.parts.iter().enumerate() {
            assert_eq!(self.told[i].content, part.content, "replayed, after {step:?}");
            assert_eq!(self.store.part(&name(i)).len(), part.content.len());
        }
        for value in 0..3 {
            let count = held.values().filter(|thing| third(thing) == value).count();
            assert_eq!(self.third.count(&value), count, "indexed, after {step:?}");
        }
        assert_eq!(self.third.values().len(), held.values().map(third).collect::<BTreeSet<_>>().len(), "no empty sets");
        let mut unreadable: Vec<_> =
            self.store.unreadable().into_iter().map(|object| object.name.to_string()).collect();
        unreadable.sort();
        let mut expected: Vec<_> = self.model.parts.iter().flat_map(|part| part.unreadable.clone()).collect();
        expected.sort();
        assert_eq!(unreadable, expected, "after {step:?}");
    }
}

fn wanted(content: &Content, all: bool) -> Content {
    content.iter().filter(|(_, t)| all || third(t) == 1).map(|(k, t)| (k.clone(), t.clone())).collect()
}

/// Drops the old value before the new one is made.
fn replace_with(fold: &mut StoreFold<Thing>, make: impl FnOnce() -> StoreFold<Thing>) {
    let elsewhere = Store::new();
    drop(std::mem::replace(fold, (&elsewhere).into_fold()));
    *fold = make();
}

/// Few by default, as this runs with every change; `PROPTEST_CASES` for more.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(96)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_part(steps in steps(6, 1)) {
        let mut world = World::new(1);
        steps.iter().for_each(|(part, step)| world.step(*part, step));
        world.end();
    }

    #[test]
    fn one_part_of_many_keys(steps in steps(200, 1)) {
        let mut world = World::new(1);
        steps.iter().for_each(|(part, step)| world.step(*part, step));
        world.end();
    }

    #[test]
    fn three_parts_that_compete_for_keys(steps in steps(6, 3)) {
        let mut world = World::new(3);
        steps.iter().for_each(|(part, step)| world.step(*part, step));
        world.end();
    }
}
