//! Decoding, folding and fan-out, for comparing one commit with another: `cargo bench --bench speed`. How the library
//! compares with others is for `peers/compare` and the bench `store`.

mod pods;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use futures::{StreamExt, executor::block_on};
use k8s_openapi::api::core::v1::Pod;
use listwatch::{Event, Fold, IntoFold, Object, Raw, Store, client::ListDecoder};
use pods::SlimPod;
use std::{hint::black_box, sync::Arc};

const PODS: usize = 500;

fn decode_as<K: Object>(criterion: &mut Criterion, name: &str) {
    let json: Vec<String> = (0..PODS).map(|n| pods::pod(n, n + 1)).collect();
    let mut group = criterion.benchmark_group("decode");
    group.throughput(Throughput::Bytes(json.iter().map(String::len).sum::<usize>() as u64));
    group.bench_function(name, |bencher| {
        bencher.iter(|| json.iter().for_each(|json| drop(black_box(K::decode(json.as_bytes()).expect("a Pod")))));
    });
    group.finish();
}

fn decode(criterion: &mut Criterion) {
    decode_as::<Pod>(criterion, "pod");
    decode_as::<SlimPod>(criterion, "slim");
    decode_as::<Raw>(criterion, "raw");
    criterion.bench_function("decode/list of slim", |bencher| {
        bencher.iter(|| {
            let body = ListDecoder::new().decode::<SlimPod>(pods::list(PODS));
            assert!(block_on(body.filter(|part| std::future::ready(part.is_ok())).count()) > PODS);
        });
    });
}

fn slim(n: usize, version: usize) -> Arc<SlimPod> {
    Arc::new(SlimPod::decode(pods::pod(n, version).as_bytes()).expect("a Pod"))
}

fn filled(store: &Store<SlimPod>) -> impl Fold<SlimPod> + use<> {
    let mut fold = store.into_fold();
    let events = (0..PODS).map(|n| Event::Listed(slim(n, n)));
    for event in [Event::SnapshotStart].into_iter().chain(events).chain([Event::SnapshotEnd("1000".into())]) {
        assert!(fold.fold(event).is_ok());
    }
    fold
}

fn fold(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fold");
    group.throughput(Throughput::Elements(PODS as u64));
    group.bench_function("snapshot", |bencher| {
        bencher.iter_batched(Store::new, |store| drop(filled(&store)), BatchSize::SmallInput);
    });
    group.bench_function("changes", |bencher| {
        let store = Store::new();
        let (mut fold, mut version) = (filled(&store), 1000);
        bencher.iter_batched(
            || {
                version += PODS;
                (0..PODS).map(|n| Event::Modified(slim(n, version + n))).collect::<Vec<_>>()
            },
            |events| events.into_iter().for_each(|event| assert!(fold.fold(event).is_ok())),
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

/// One change, and each of so many subscribers is told.
fn fan_out(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fan-out");
    for subscribers in [1, 10, 100] {
        group.throughput(Throughput::Elements(subscribers));
        group.bench_function(subscribers.to_string(), |bencher| {
            let store = Store::new();
            let (mut fold, mut version) = (filled(&store), 1000);
            let mut all: Vec<_> = (0..subscribers).map(|_| store.subscribe()).collect();
            for subscriber in &mut all {
                block_on(subscriber.take(PODS + 1).count());
            }
            bencher.iter(|| {
                version += 1;
                assert!(fold.fold(Event::Modified(slim(version % PODS, version))).is_ok());
                all.iter_mut().for_each(|subscriber| assert!(block_on(subscriber.next()).is_some()));
            });
        });
    }
    group.finish();
}

criterion_group!(benches, decode, fold, fan_out);
criterion_main!(benches);
