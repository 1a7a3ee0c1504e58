//! What is allocated, counted over the whole process; so it is a program of its own, and has one thread of tests.

#[path = "../benches/pods/mod.rs"]
mod pods;

use futures::{Stream, StreamExt, stream};
use k8s_openapi::api::core::v1::Pod;
use listwatch::{
    Change, Error, Event, EventStreamExt, Fold, IntoFold, Object, Store,
    client::{Collection, WatchDecoder},
    source::{ListWatch, WireEvent},
};
use pods::SlimPod;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

const KIB: usize = 1 << 10;
/// 6 MB of JSON in one page.
const PODS: usize = 4000;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let _profiler = dhat::Profiler::builder().testing().build();
    vectors_at_rest_are_full(); // before there is a store, which is freed on another thread
    a_list_does_not_buffer_its_page().await;
    a_relist_holds_no_second_copy().await;
    an_event_allocates_little_more_than_its_object().await;
    println!("memory: 4 checks passed");
}

fn held() -> usize {
    dhat::HeapStats::get().curr_bytes
}

fn allocated() -> u64 {
    dhat::HeapStats::get().total_bytes
}

fn pods_of<K: Object>(workers: usize) -> Collection<K> {
    Collection::<Pod>::all(pods::client(PODS)).decode_as::<K>().decode_workers(workers)
}

/// The most that is held beyond what was at the start, looked at after each item.
async fn most_held<T>(items: &mut (impl Stream<Item = T> + Unpin), start: usize, count: usize) -> usize {
    let (mut most, mut seen) = (0, 0);
    while let Some(item) = items.next().await {
        most = most.max(held().saturating_sub(start));
        drop(item);
        seen += 1;
    }
    assert!(seen >= count, "{seen} items");
    most
}

async fn a_list_does_not_buffer_its_page() {
    for (workers, bound) in [(1, 300 * KIB), (2, 6 * 32 * KIB + 300 * KIB)] {
        let start = held();
        let most = most_held(&mut pods_of::<SlimPod>(workers).list(), start, PODS).await;
        println!("a page of 6 MB with {workers} workers: at most {} KiB are held", most / KIB);
        assert!(most < bound, "{most} bytes with {workers} workers");
    }
}

async fn a_relist_holds_no_second_copy() {
    let (store, before) = (Store::new(), held());
    let first: Vec<Change<Pod>> = pods_of(1).list().reflect(&store).on_error(|e| panic!("{e}")).collect().await;
    assert!(first.len() > PODS && store.len() == PODS);
    drop(first);
    let (content, start) = (held() - before, held());
    let mut most = 0;
    let events = pods_of::<Pod>(1).list().inspect(|_| most = most.max(held().saturating_sub(start)));
    let told: Vec<_> = events.reflect(&store).on_error(|e| panic!("{e}")).collect().await;
    assert!(matches!(told[..], [Change::Synced { .. }]), "nothing has changed");
    drop(told);
    println!(
        "a relist of {} KiB: at most {} KiB more are held, {} KiB after it",
        content / KIB,
        most / KIB,
        (held().saturating_sub(start)) / KIB
    );
    assert!(most < content / 20, "{most} of {content} bytes");
    assert!(held() < start + content / 50, "{} of {content} bytes stay", held() - start);
}

/// What `decode` leaves behind is what a copy of it would be.
fn vectors_at_rest_are_full() {
    let json = pods::pod(7, 7);
    let before = held();
    let pod = Pod::decode(json.as_bytes()).expect("a Pod");
    let decoded = held() - before;
    let copy = pod.clone();
    let copied = held() - before - decoded;
    println!("a Pod decoded: {decoded} bytes; its copy: {copied}");
    assert_eq!(decoded, copied);
    drop(copy);
}

async fn an_event_allocates_little_more_than_its_object() {
    const EVENTS: usize = 2000;
    let json: Vec<_> = (0..EVENTS).map(|n| pods::pod(n, n + 2)).collect();
    let lines: Vec<_> = json.iter().map(|json| format!("{{\"type\":\"ADDED\",\"object\":{json}}}\n").into()).collect();
    let start = allocated();
    json.iter().for_each(|json| assert!(SlimPod::decode(json.as_bytes()).is_ok()));
    let alone = (allocated() - start) / EVENTS as u64;

    let store: Store<SlimPod> = Store::new();
    let mut fold = (&store).into_fold();
    assert!(fold.fold(Event::SnapshotStart).is_ok() && fold.fold(Event::SnapshotEnd("1".into())).is_ok());
    let mut body = WatchDecoder::new().decode_workers(1).decode::<SlimPod>(stream::iter(lines).map(Ok::<_, Error>));
    let start = allocated();
    while let Some(Ok(WireEvent::Added(pod))) = body.next().await {
        assert!(fold.fold(Event::Added(pod)).is_ok());
    }
    let each = (allocated() - start) / EVENTS as u64;
    assert_eq!(store.len(), EVENTS);
    println!("an event allocates {each} bytes, of which its object {alone}");
    // The object and its count, and what the store's path to it takes: no copy of the line, nothing decoded twice.
    assert!(each < alone + 3 * KIB as u64 / 2, "{each} bytes, {alone} of them the object's");
}
