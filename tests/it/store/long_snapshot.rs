//! A first snapshot so long that objects are kept back in it: nothing of that can be seen.

use super::{
    model::{Model, PartModel, Replay},
    thing::{Thing, brief, fail, fold, thing, unreadable},
};
use listwatch::{Event, Fold, IntoFold, Store, UnreadableAs, store::StoreFold};

/// So many are held before any is kept back.
const LONG: u64 = 66_000;

fn name(i: u64) -> String {
    format!("n{i}")
}

/// Of an unreadable object: unknown, or another than before.
fn uid(step: u64) -> &'static str {
    if step.is_multiple_of(2) { "" } else { "another" }
}

fn take(model: &mut Model, part: &mut StoreFold<Thing>, event: Event<Thing>) {
    assert!(model.event(0, &event));
    assert_eq!(part.fold(event).unwrap().count(), 0, "told at the end");
}

#[test]
fn what_comes_again_goes_or_cannot_be_read_counts_in_its_order() {
    for seed in 1..=4 {
        let (store, mut random) = (Store::new(), fastrand::Rng::with_seed(seed));
        let mut part = fold(&store);
        let mut model = Model { parts: vec![PartModel::default()] };
        take(&mut model, &mut part, Event::SnapshotStart);
        for i in 0..LONG {
            take(&mut model, &mut part, Event::listed(thing(&name(i), 1)));
        }
        let mut next = LONG;
        for step in 0..8_000 {
            // mostly what came last, and is still kept back
            let old = name(next - 1 - random.u64(..if step % 9 == 0 { next } else { 300 }));
            match random.u8(..16) {
                0 => take(&mut model, &mut part, Event::listed(thing(&old, 1))),
                1 => take(&mut model, &mut part, Event::listed(thing(&old, 2 + step))),
                2 => {
                    model.unreadable(0, UnreadableAs::Listed, &old, uid(step));
                    fail(&mut part, &unreadable(UnreadableAs::Listed, &old, uid(step), "9"));
                }
                3 => take(&mut model, &mut part, Event::deleted(thing(&old, 2 + step))),
                4 => {
                    model.unreadable(0, UnreadableAs::Deleted, &old, "");
                    fail(&mut part, &unreadable(UnreadableAs::Deleted, &old, "", "9"));
                }
                _ => {
                    take(&mut model, &mut part, Event::listed(thing(&name(next), 1)));
                    next += 1;
                }
            }
        }
        let end = Event::SnapshotEnd("9".into());
        assert!(model.event(0, &end));
        let mut replay = Replay::default();
        part.fold(end).unwrap().for_each(|change| replay.take(&change));
        let content = model.content();
        assert_eq!((store.len(), replay.content.len(), replay.synced), (content.len(), content.len(), 1));
        assert!(replay.content == content, "what is told is what was brought");
        assert!(store.snapshot().iter().all(|held| content.get(&held.name) == Some(&**held)));
        assert_eq!(store.unreadable().len(), model.parts[0].unreadable.len());
        let stats = store.stats();
        assert_eq!((stats.added, stats.updated, stats.deleted), (content.len() as u64, 0, 0));
    }
}

#[test]
fn what_is_brought_twice_alike_is_held_once() {
    let store = Store::new();
    let mut part = fold(&store);
    drop(part.fold(Event::SnapshotStart));
    (0..LONG).for_each(|i| drop(part.fold(Event::listed(thing(&name(i), 1)))));
    let first = std::sync::Arc::new(thing("twice", 1));
    drop(part.fold(Event::Listed(first.clone())));
    drop(part.fold(Event::listed(thing("twice", 1))));
    assert_eq!(part.fold(Event::SnapshotEnd("2".into())).unwrap().count() as u64, LONG + 2, "told once, and Synced");
    assert!(std::sync::Arc::ptr_eq(&first, &store.get(("ns", "twice")).unwrap()), "the first stays");
    assert_eq!(store.stats().unchanged, 1);
    drop(part.fold(Event::SnapshotStart));
    (0..LONG).for_each(|i| drop(part.fold(Event::listed(thing(&name(i), 1)))));
    let told: Vec<_> = part.fold(Event::SnapshotEnd("3".into())).unwrap().map(|change| brief(&change)).collect();
    assert_eq!(told, ["-twice@1 Missed", "synced 3"], "a second snapshot tells its differences");
}

#[test]
fn what_was_kept_back_counts_before_what_comes_when_nothing_is_kept_back_any_more() {
    let store = Store::new();
    let mut part = fold(&store);
    drop(part.fold(Event::SnapshotStart));
    (0..65_536).for_each(|i| drop(part.fold(Event::listed(thing(&name(i), 1)))));
    drop(part.fold(Event::listed(thing("late", 1))));
    (0..9).for_each(|i| drop(part.fold(Event::deleted(thing(&name(i), 2)))));
    drop(part.fold(Event::listed(thing("late", 3))));
    drop(part.fold(Event::SnapshotEnd("3".into())));
    assert_eq!(store.get(("ns", "late")).unwrap().version, "3");
}

#[test]
fn an_index_and_another_part_hold_their_own() {
    let store = Store::new();
    let by_version = store.index("by-version", |thing: &Thing| [thing.version.clone()]);
    let (mut part, mut other) = (fold(&store), store.part("other").into_fold());
    drop(part.fold(Event::SnapshotStart));
    (0..LONG).for_each(|i| drop(part.fold(Event::listed(thing(&name(i), 1)))));
    drop(part.fold(Event::listed(thing("mine", 7))));
    drop(part.fold(Event::listed(thing("ours", 7))));
    drop(other.fold(Event::added(thing("ours", 8))));
    assert!(part.fold(Event::listed(thing("ours", 9))).is_err(), "it is the other's by now");
    let told = part.fold(Event::SnapshotEnd("9".into())).unwrap().count();
    assert_eq!(told as u64, LONG + 2, "all but the lost one, and Synced");
    assert_eq!(part.refused().unwrap().taken_key().unwrap().name, "ours".into());
    assert_eq!(["1", "7", "8"].map(|version| by_version.count(version) as u64), [LONG, 1, 1]);
    assert_eq!((store.part("other").len(), store.len() as u64), (1, LONG + 2));
}
