//! Every order in which a writer's steps and the polls of its readers can come: a reader is polled only when it was
//! woken, so a wake-up that is lost leaves it waiting for ever.

use super::{
    model::Replay,
    thing::{Thing, fold, thing},
};
use futures::{FutureExt, StreamExt, future::BoxFuture};
use listwatch::{Event, Fold, Store};
use tokio_test::task::{self, Spawn};

type Reader = fn(Store<Thing>) -> BoxFuture<'static, ()>;

/// What the writer does, step by step; the last ends its stream.
fn steps() -> [Vec<Event<Thing>>; 5] {
    [
        vec![Event::SnapshotStart, Event::listed(thing("a", 1))],
        vec![Event::SnapshotEnd("2".into())],
        vec![Event::modified(thing("a", 3))],
        vec![Event::deleted(thing("a", 4))],
        vec![],
    ]
}

/// Plays a schedule from the beginning: 0 is the writer, the others are readers. Which of them may go on then; `None`
/// once nobody is left.
fn play(readers: &[Reader], schedule: &[usize]) -> Option<Vec<usize>> {
    let store = Store::new();
    let mut part = Some(fold(&store));
    let mut steps = steps().into_iter();
    let mut tasks: Vec<Option<(Spawn<BoxFuture<'static, ()>>, bool)>> =
        readers.iter().map(|reader| Some((task::spawn(reader(store.clone())), false))).collect();
    for &actor in schedule {
        if actor == 0 {
            let events = steps.next().unwrap_or_default();
            if events.is_empty() {
                part = None;
            }
            for event in events {
                part.as_mut().unwrap().fold(event).unwrap().for_each(drop);
            }
            continue;
        }
        let reader = &mut tasks[actor - 1];
        let (task, polled) = reader.as_mut().unwrap();
        *polled = true;
        if task.poll().is_ready() {
            *reader = None;
        }
    }
    let mut next: Vec<_> = (0..1).filter(|_| part.is_some()).collect();
    for (i, reader) in tasks.iter().enumerate() {
        if reader.as_ref().is_some_and(|(task, polled)| !polled || task.is_woken()) {
            next.push(i + 1);
        }
    }
    if next.is_empty() {
        assert!(tasks.iter().all(Option::is_none), "a wake-up was lost in {schedule:?}");
        return None;
    }
    Some(next)
}

fn every_order(readers: &[Reader]) {
    let (mut open, mut played) = (vec![Vec::new()], 0);
    while let Some(schedule) = open.pop() {
        played += 1;
        for actor in play(readers, &schedule).into_iter().flatten() {
            let mut longer = schedule.clone();
            longer.push(actor);
            open.push(longer);
        }
    }
    assert!(played > 100, "only {played} schedules");
}

fn waits(store: Store<Thing>) -> BoxFuture<'static, ()> {
    async move {
        let ready = store.ready().await;
        assert!(ready.is_ok(), "the store was complete before it closed");
        assert!(store.wait_for("4").await.is_ok());
    }
    .boxed()
}

fn waits_for_what_never_comes(store: Store<Thing>) -> BoxFuture<'static, ()> {
    async move { assert!(store.wait_for("5").await.is_err()) }.boxed()
}

fn subscribes(store: Store<Thing>) -> BoxFuture<'static, ()> {
    let mut changes = store.subscribe();
    async move {
        let mut replay = Replay::default();
        while let Some(change) = changes.next().await {
            replay.take(&change);
        }
        assert!(replay.content.is_empty(), "as the store was left");
        assert!(replay.synced > 0);
    }
    .boxed()
}

fn subscribes_without_old(store: Store<Thing>) -> BoxFuture<'static, ()> {
    store.subscribe().without_old().count().map(|told| assert!(told > 0)).boxed()
}

fn follows_states(store: Store<Thing>) -> BoxFuture<'static, ()> {
    let states = store.states();
    states.take_while(|state| futures::future::ready(!state.is_stale())).count().map(drop).boxed()
}

fn sees_something_changed(store: Store<Thing>) -> BoxFuture<'static, ()> {
    store.changed().count().map(|times| assert!((1..=3).contains(&times), "{times}")).boxed()
}

#[test]
fn of_waiters() {
    every_order(&[waits, waits_for_what_never_comes]);
}

#[test]
fn of_subscribers() {
    every_order(&[subscribes_without_old, subscribes]);
}

#[test]
fn of_states_and_changes() {
    every_order(&[follows_states, sees_something_changed]);
}
