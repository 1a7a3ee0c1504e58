//! What `benches/instructions` counts under callgrind: a list decoded, and the same objects folded, each in a function
//! of its own. Instructions are the same from run to run, whatever else the machine does.

mod pods;

use futures::{StreamExt, executor::block_on};
use k8s_openapi::api::core::v1::Pod;
use listwatch::{Event, Fold, IntoFold, Object, Store, client::ListDecoder, source::ListPart};
use pods::SlimPod;
use std::{hint::black_box, sync::Arc};

const PODS: usize = 1000;

fn main() {
    let chunks = || -> Vec<_> { block_on(pods::list(PODS).collect()) };
    let (for_pods, for_slim) = (chunks(), chunks());
    let decoded = decode_pods(for_pods);
    drop(black_box(decode_slim_pods(for_slim)));
    let store = Store::new();
    let events: Vec<_> = decoded.into_iter().map(Event::Listed).collect();
    let all = [Event::SnapshotStart].into_iter().chain(events).chain([Event::SnapshotEnd("1000000".into())]);
    let mut fold = (&store).into_fold();
    fold_snapshot(&mut fold, all.collect());
    let changes =
        (0..PODS).map(|n| Event::modified(Pod::decode(pods::pod(n, PODS + n + 2).as_bytes()).expect("a Pod")));
    fold_changes(&mut fold, changes.collect());
    assert_eq!(store.len(), PODS);
}

type Chunks = Vec<Result<bytes::Bytes, listwatch::Error>>;

fn decoded<K: Object>(chunks: Chunks) -> Vec<Arc<K>> {
    let body = ListDecoder::new().decode::<K>(futures::stream::iter(chunks));
    block_on(
        body.filter_map(async |part| if let Ok(ListPart::Item(item)) = part { Some(item) } else { None }).collect(),
    )
}

#[inline(never)]
fn decode_pods(chunks: Chunks) -> Vec<Arc<Pod>> {
    decoded(chunks)
}

#[inline(never)]
fn decode_slim_pods(chunks: Chunks) -> Vec<Arc<SlimPod>> {
    decoded(chunks)
}

#[inline(never)]
fn fold_snapshot(fold: &mut impl Fold<Pod>, events: Vec<Event<Pod>>) {
    events.into_iter().for_each(|event| assert!(fold.fold(event).is_ok()));
}

#[inline(never)]
fn fold_changes(fold: &mut impl Fold<Pod>, events: Vec<Event<Pod>>) {
    events.into_iter().for_each(|event| assert!(fold.fold(event).is_ok()));
}
