//! Content and version to bytes and back, whole or not at all.

use super::thing::{Thing, content, error, fail, feed, fold, listed, thing, unreadable};
use futures::StreamExt;
use listwatch::{Event, EventStreamExt, IntoFold, Recovery, Store, UnreadableAs};
use std::time::Duration;

fn filled() -> Store<Thing> {
    of_two_parts(300)
}

fn of_two_parts(things: u64) -> Store<Thing> {
    let store = Store::new();
    feed(&mut store.part("a").into_fold(), listed((0..things).map(|i| thing(&format!("a{i}"), i)), "300"));
    feed(&mut store.part("b").into_fold(), listed([thing("b", 7)], "9"));
    store
}

fn warm(bytes: &[u8]) -> Store<Thing> {
    let store = Store::new();
    store.restore(bytes).unwrap();
    store
}

#[test]
fn content_and_versions_come_back_stale_and_ready() {
    let cold = filled();
    let warm = warm(&cold.checkpoint().to_bytes().unwrap());
    assert_eq!(content(&warm), content(&cold));
    assert_eq!(warm.part("a").resource_version(), Some("300".into()));
    assert_eq!((warm.part("a").len(), warm.part("b").len()), (300, 1));
    assert!(warm.state().is_stale() && warm.part("a").is_complete());
    assert!(futures::FutureExt::now_or_never(warm.ready()).unwrap().is_ok());
    let mut part = warm.part("b").into_fold();
    assert_eq!(
        feed(&mut part, [Event::Watching("9".into()), Event::modified(thing("b", 10))]),
        ["watching 9", "~b@7>10"]
    );
    assert_eq!(warm.part("b").state(), listwatch::State::Live);
    let mut part = warm.part("a").into_fold();
    let told = feed(&mut part, listed((1..300).map(|i| thing(&format!("a{i}"), i)), "400"));
    assert_eq!(told, ["-a0@0 Missed", "synced 400!"], "a relist tells only the differences");
}

#[test]
fn what_is_not_complete_is_not_in_it() {
    let store = Store::new();
    let (mut a, mut b) = (store.part("a").into_fold(), store.part("b").into_fold());
    feed(&mut a, listed([thing("a", 1)], "1"));
    feed(&mut a, [Event::SnapshotStart, Event::listed(thing("a", 5))]);
    feed(&mut b, [Event::added(thing("b", 2))]);
    let warm = warm(&store.checkpoint().to_bytes().unwrap());
    assert_eq!((content(&warm), warm.parts().len()), (vec!["a@1".into()], 1));
}

#[test]
fn what_could_not_be_read_is_still_known_to_be_unreadable() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 1)], "1"));
    fail(&mut part, &unreadable(UnreadableAs::Modified, "a", "a-1", "5"));
    let warm = warm(&store.checkpoint().to_bytes().unwrap());
    let [object] = &warm.unreadable()[..] else { panic!("one") };
    assert_eq!((&*object.name, &*object.uid, object.resource_version.as_str()), ("a", "a-1", "5"));
    assert_eq!((content(&warm), warm.resource_version()), (vec!["a@1".into()], Some("5".into())));
}

#[test]
fn cut_off_or_damaged_it_is_refused_and_the_store_stays_cold() {
    let bytes = of_two_parts(20).checkpoint().to_bytes().unwrap();
    for length in 0..bytes.len() {
        let store = Store::<Thing>::new();
        let refused = store.restore(&bytes[..length]).unwrap_err();
        assert!(refused.is_corrupt() || refused.is_foreign() && length < 11, "{length}: {refused}");
        assert!(store.is_empty() && store.parts().is_empty());
    }
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        let store = Store::<Thing>::new();
        // a few bytes of gzip's own header say nothing
        match store.restore(&damaged) {
            Ok(()) => assert_eq!(content(&store).len(), 21, "byte {at}"),
            Err(_) => assert!(store.is_empty()),
        }
    }
    let mut longer = bytes.clone();
    longer.extend(b"more");
    assert!(Store::<Thing>::new().restore(&longer).unwrap_err().is_corrupt());
}

#[test]
fn foreign_bytes_and_other_types_are_refused() {
    let store = Store::<Thing>::new();
    assert!(store.restore(b"").unwrap_err().is_foreign());
    assert!(store.restore(b"{\"kind\":\"List\"}").unwrap_err().is_foreign());
    let mut later = filled().checkpoint().to_bytes().unwrap();
    later[10] = 9;
    let refused = store.restore(&later).unwrap_err();
    assert!(refused.is_foreign() && refused.to_string().contains("format 9"), "{refused}");
    let bytes = Store::of([crate::objects::config_map("a", "1")]).checkpoint().to_bytes().unwrap();
    let refused = store.restore(&bytes).unwrap_err();
    assert!(refused.is_another_type() && !format!("{refused:?}").contains("uid-a"), "{refused:?}");
}

#[test]
fn another_source_is_refused() {
    let cold = filled();
    cold.part("a").set_source("cluster-1 pods");
    let bytes = cold.checkpoint().to_bytes().unwrap();
    let store = Store::<Thing>::new();
    store.part("a").set_source("cluster-2 pods");
    let refused = store.restore(&bytes).unwrap_err();
    assert!(refused.is_another_source());
    assert_eq!(
        refused.to_string(),
        "part \"a\" of the checkpoint comes from \"cluster-1 pods\", not from \"cluster-2 pods\""
    );
    assert!(store.is_empty());
    store.part("a").set_source("cluster-1 pods");
    store.restore(&bytes).unwrap();
    assert_eq!(store.len(), 301);
}

#[test]
fn a_store_in_use_is_not_restored() {
    let bytes = filled().checkpoint().to_bytes().unwrap();
    let store = Store::<Thing>::new();
    let _part = fold(&store);
    assert!(store.restore(&bytes).unwrap_err().is_in_use());
    assert!(Store::of([thing("a", 1)]).restore(&bytes).unwrap_err().is_in_use());
}

#[tokio::test]
async fn it_streams_to_and_from_asynchronous_io() {
    let store = filled();
    let (mut to, from) = tokio::io::duplex(100);
    let checkpoint = store.checkpoint();
    let writing = async move {
        checkpoint.write_to(&mut to).await.unwrap();
        drop(to);
    };
    let warm = Store::<Thing>::new();
    let (restored, ()) = tokio::join!(warm.restore_from(from), writing);
    restored.unwrap();
    assert_eq!(content(&warm), content(&store));
}

#[tokio::test(start_paused = true)]
async fn it_is_written_each_period_beside_the_old_one() {
    let folder = std::env::temp_dir().join(format!("listwatch-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("things");
    let minute = Duration::from_secs(60);
    let store = Store::new();
    let mut part = fold(&store);
    let (to, from) = tokio::sync::mpsc::unbounded_channel::<u32>();
    let from = futures::stream::unfold(from, |mut from| async { Some((from.recv().await?, from)) });
    let mut stream = std::pin::pin!(from.checkpoint_every(&store, &path, minute));
    let mut run = async |until: Duration| {
        assert!(tokio::time::timeout(until, stream.next()).await.is_err());
    };
    run(minute * 2).await;
    assert!(!path.exists(), "nothing to keep before the store is ready");
    feed(&mut part, listed([thing("a", 1)], "1"));
    fail(&mut part, &error(Recovery::Resume, "cut"));
    run(minute * 2).await;
    let read = || warm(&std::fs::read(&path).unwrap());
    assert_eq!(content(&read()), ["a@1"]);
    let written = std::fs::metadata(&path).unwrap().modified().unwrap();
    run(minute * 2).await;
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), written, "nothing has moved");
    feed(&mut part, [Event::Bookmark("9".into())]);
    run(minute * 2).await;
    assert_eq!(read().resource_version(), Some("9".into()));
    feed(&mut part, [Event::added(thing("b", 10))]);
    to.send(1).unwrap();
    drop(to);
    assert_eq!(stream.next().await, Some(1));
    assert_eq!(stream.next().await, None);
    assert_eq!(content(&read()), ["a@1", "b@10"], "at the end of the stream");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing left beside it");
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(stream.failures(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_counted_and_the_stream_goes_on() {
    let store = Store::of([thing("a", 1)]);
    let nowhere = std::env::temp_dir().join("listwatch-no-such-folder").join("things");
    let mut stream = Box::pin(futures::stream::iter([1]).checkpoint_every(&store, nowhere, Duration::from_secs(1)));
    assert_eq!((stream.next().await, stream.next().await), (Some(1), None));
    assert_eq!(stream.failures(), 1);
}
