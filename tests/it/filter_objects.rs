use futures::FutureExt;
use futures::{StreamExt, stream};
use listwatch::{DecodeError, Error, Event, EventStreamExt, Object, Raw, Unreadable, UnreadableAs, testing};
use std::panic::AssertUnwindSafe;
use tokio_test::{assert_pending, task};

/// An object of this name and version.
fn raw(name: &str, version: &str) -> Raw {
    testing::raw(name, version)
}

/// Matches versions that begin with 1; each event that comes out as its name, object and version.
async fn filtered(items: impl IntoIterator<Item = Result<Event<Raw>, Error>>) -> Vec<String> {
    let items = stream::iter(items.into_iter().collect::<Vec<_>>());
    let ones = items.filter_objects(|object| object.identity().resource_version.starts_with('1'));
    let told = |item: Result<Event<Raw>, Error>| match item {
        Err(_) => "err".to_owned(),
        Ok(event) => match event.object().map(|object| object.identity()) {
            Some(object) => format!("{} {}@{}", event.name(), object.name, object.resource_version),
            None => event.name().to_owned(),
        },
    };
    ones.map(told).collect().await
}

fn start() -> Result<Event<Raw>, Error> {
    Ok(Event::SnapshotStart)
}
fn end() -> Result<Event<Raw>, Error> {
    Ok(Event::SnapshotEnd("1".into()))
}

#[tokio::test]
async fn what_does_not_match_is_left_out_or_deleted_if_it_was_passed() {
    let out = filtered([
        start(),
        Ok(Event::listed(raw("a", "1"))),
        Ok(Event::listed(raw("b", "2"))),
        end(),
        Ok(Event::modified(raw("a", "2"))),
        Ok(Event::modified(raw("a", "2"))),
        Ok(Event::modified(raw("b", "10"))),
        Ok(Event::modified(raw("b", "11"))),
        Ok(Event::added(raw("c", "2"))),
        Ok(Event::modified(raw("c", "3"))),
    ]);
    assert_eq!(
        out.await,
        ["snapshot_start", "listed a@1", "snapshot_end", "deleted a@2", "modified b@10", "modified b@11"]
    );
}

#[tokio::test]
async fn a_deleted_always_passes_and_is_remembered() {
    let out = filtered([
        start(),
        Ok(Event::listed(raw("a", "1"))),
        end(),
        Ok(Event::deleted(raw("a", "2"))),
        Ok(Event::modified(raw("a", "2"))),
        Ok(Event::deleted(raw("never", "2"))),
    ]);
    assert_eq!(out.await, ["snapshot_start", "listed a@1", "snapshot_end", "deleted a@2", "deleted never@2"]);
}

#[tokio::test]
async fn inside_a_snapshot_an_object_that_was_listed_is_taken_back() {
    let out = filtered([
        start(),
        Ok(Event::listed(raw("a", "1"))),
        Ok(Event::listed(raw("a", "2"))),
        Ok(Event::listed(raw("a", "2"))),
        Ok(Event::listed(raw("a", "12"))),
        end(),
    ]);
    assert_eq!(out.await, ["snapshot_start", "listed a@1", "deleted a@2", "listed a@12", "snapshot_end"]);
}

#[tokio::test]
async fn what_became_unreadable_is_deleted_once_it_is_seen_not_to_match() {
    let unreadable =
        |came_as, name: &str| Err(Error::unreadable(Unreadable::new(came_as, "", name), DecodeError::new("bad")));
    let out = filtered([
        start(),
        unreadable(UnreadableAs::Listed, "a"),
        unreadable(UnreadableAs::Listed, "b"),
        end(),
        Ok(Event::modified(raw("a", "2"))),
        Ok(Event::modified(raw("a", "2"))),
        unreadable(UnreadableAs::Deleted, "b"),
        Ok(Event::added(raw("b", "2"))),
    ]);
    assert_eq!(out.await, ["snapshot_start", "err", "err", "snapshot_end", "deleted a@2", "err"]);
}

#[tokio::test]
async fn what_it_remembers_starts_anew_with_each_snapshot() {
    let out = filtered([
        start(),
        Ok(Event::listed(raw("a", "1"))),
        Ok(Event::listed(raw("b", "1"))),
        Err(Error::interrupted("cut")),
        start(),
        Ok(Event::listed(raw("a", "2"))),
        Ok(Event::listed(raw("b", "1"))),
        end(),
        Ok(Event::modified(raw("a", "2"))),
        Ok(Event::modified(raw("b", "2"))),
    ]);
    let voided = ["snapshot_start", "listed a@1", "listed b@1", "err"];
    let second = ["snapshot_start", "listed b@1", "snapshot_end", "deleted b@2"];
    assert_eq!(out.await, [voided, second].concat());
}

#[tokio::test]
async fn a_stream_that_began_without_a_snapshot_deletes_whatever_does_not_match() {
    let out = filtered([
        Ok(Event::Watching("1".into())),
        Ok(Event::modified(raw("a", "2"))),
        Ok(Event::modified(raw("a", "2"))),
        Ok(Event::added(raw("b", "1"))),
        start(),
        end(),
        Ok(Event::modified(raw("a", "2"))),
        Ok(Event::modified(raw("b", "2"))),
    ]);
    let before = ["watching", "deleted a@2", "deleted a@2", "added b@1"];
    assert_eq!(out.await, [&before[..], &["snapshot_start", "snapshot_end"]].concat());
}

#[tokio::test]
async fn everything_else_passes() {
    let unreadable = listwatch::Unreadable::new(UnreadableAs::Modified, "", "a");
    let error = Error::unreadable(unreadable, listwatch::DecodeError::new("no"));
    let out = filtered([start(), Err(error), end(), Ok(Event::Bookmark("2".into())), Ok(Event::Resync)]);
    assert_eq!(out.await, ["snapshot_start", "err", "snapshot_end", "bookmark", "resync"]);
}

#[tokio::test]
async fn keys_are_namespace_and_name() {
    let out = filtered([
        start(),
        Ok(Event::listed(raw("x/a", "1"))),
        end(),
        Ok(Event::modified(raw("y/a", "2"))),
        Ok(Event::modified(raw("x/a", "2"))),
    ]);
    assert_eq!(out.await[3..], ["deleted a@2"]);
}

#[tokio::test]
async fn nothing_that_matches_does_not_hold_the_task_and_a_panic_ends_it() {
    let many = stream::repeat_with(|| Ok::<_, Error>(Event::added(raw("a", "2"))));
    let mut none = task::spawn(stream::iter([start()]).chain(many).filter_objects(|_| false));
    assert!(none.poll_next().is_ready());
    assert_pending!(none.poll_next());
    assert!(none.is_woken());
    let mut panics = stream::iter([Ok::<_, Error>(Event::added(raw("a", "1"))), end()])
        .filter_objects(|_| -> bool { panic!("the user's code") });
    assert!(AssertUnwindSafe(panics.next()).catch_unwind().await.is_err());
    assert!(panics.next().await.is_none());
}
