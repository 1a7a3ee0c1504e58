//! What a slow subscriber keeps alive.

use super::counted::{Counted, live};
use futures::{FutureExt, StreamExt};
use listwatch::{Change, Event, Fold, IntoFold, Store};

const HELD: usize = 10;
const ROUNDS: usize = 1000;

fn name(n: usize) -> String {
    format!("n{}", n % HELD)
}

/// A store of ten objects.
fn filled(store: &Store<Counted>) -> impl Fold<Counted> + use<> {
    let mut fold = store.into_fold();
    drop(fold.fold(Event::SnapshotStart));
    for n in 0..HELD {
        drop(fold.fold(Event::listed(Counted::new(&name(n), n))));
    }
    drop(fold.fold(Event::SnapshotEnd("7".into())));
    fold
}

#[tokio::test]
async fn without_subscribers_the_present_state_lives_and_what_was_replaced_last() {
    let store = Store::new();
    let mut fold = filled(&store);
    for n in 0..ROUNDS {
        drop(fold.fold(Event::modified(Counted::new(&name(n), HELD + n))));
        assert!(live() <= HELD + 1, "{} objects after {n} changes", live());
    }
}

#[tokio::test]
async fn a_subscriber_that_never_polls_costs_one_state_at_most() {
    let store = Store::new();
    let mut fold = filled(&store);
    let (mut told, mut never) = (store.subscribe(), store.subscribe());
    let first: Vec<_> = told.by_ref().take(HELD + 1).collect().await;
    assert!(matches!(first.last(), Some(Change::Synced { .. })));
    drop(first);
    for n in 0..ROUNDS {
        drop(fold.fold(Event::modified(Counted::new(&name(n), HELD + n))));
        assert!(live() <= 2 * HELD + 1, "{} objects after {n} changes", live());
    }
    // What they are told now is the difference, at most one change per key, and not all that happened.
    let mut caught_up = 0;
    while let Some(Some(Change::Updated { .. })) = told.next().now_or_never() {
        caught_up += 1;
    }
    assert_eq!(caught_up, HELD);
    assert!(matches!(never.next().await, Some(Change::Added { initial: true, .. })));
    drop((told, never));
    assert!(live() <= HELD + 1, "{} objects", live());
}

#[tokio::test]
async fn a_subscriber_without_old_states_keeps_none() {
    let store = Store::new();
    let mut fold = filled(&store);
    let mut noting = store.subscribe().without_old();
    for _ in 0..=HELD {
        drop(noting.next().await);
    }
    for n in 0..ROUNDS {
        drop(fold.fold(Event::modified(Counted::new(&name(n), HELD + n))));
        assert!(live() <= HELD + 1, "{} objects after {n} changes", live());
    }
}

#[tokio::test]
async fn snapshots_that_come_and_go_leave_nothing() {
    let store = Store::new();
    let mut fold = filled(&store);
    let slow = store.subscribe();
    for n in 0..ROUNDS {
        drop(fold.fold(Event::SnapshotStart));
        for of in 0..HELD {
            drop(fold.fold(Event::listed(Counted::new(&format!("{n}-{of}"), n))));
        }
        drop(fold.fold(Event::SnapshotEnd(n.to_string().into())));
        assert!(live() <= 3 * HELD, "{} objects after {n} snapshots", live());
    }
    drop(slow);
}
