//! kube-runtime's store, doing the work of `benches/store.rs`.

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::runtime::{
    reflector::{ObjectRef, Store, store, store::Writer},
    watcher::Event,
};
use std::{
    hint::black_box,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

fn main() {
    let sizes = std::env::var("STORE_BENCH_OBJECTS").unwrap_or_else(|_| "1000".into());
    for size in sizes.split(',') {
        run(size.parse().expect("a number of objects"), Duration::from_secs(1));
    }
}

fn object(i: usize, version: u32) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            namespace: Some(format!("namespace-{}", i % 200)),
            name: Some(format!("deployment-{:08x}-{i:07}", (i as u32).wrapping_mul(2_654_435_761))),
            uid: Some(format!("9f2c6f0e-{i:08}")),
            resource_version: Some(version.to_string()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

fn write(writer: &mut Writer<ConfigMap>, states: &[Vec<Event<ConfigMap>>; 2], held: &mut [bool], stop: impl Fn() -> bool) -> f64 {
    let (mut random, mut writes, start) = (Random(9), 0u64, Instant::now());
    while !stop() {
        let i = random.below(held.len());
        held[i] = !held[i];
        writer.apply_watcher_event(&states[usize::from(held[i])][i]);
        writes += 1;
    }
    writes as f64 / start.elapsed().as_secs_f64()
}

fn per_call(time: Duration, mut call: impl FnMut(usize), batch: usize) -> f64 {
    let (start, mut calls) = (Instant::now(), 0usize);
    while start.elapsed() < time {
        for _ in 0..batch {
            call(calls);
            calls += 1;
        }
    }
    start.elapsed().as_nanos() as f64 / calls as f64
}

fn run(size: usize, time: Duration) {
    let (reader, mut writer): (Store<ConfigMap>, _) = store();
    let states = [1, 2].map(|version| (0..size).map(|i| Event::Apply(object(i, version))).collect::<Vec<_>>());
    writer.apply_watcher_event(&Event::Init);
    (0..size).for_each(|i| writer.apply_watcher_event(&Event::InitApply(object(i, 1))));
    writer.apply_watcher_event(&Event::InitDone);
    let names: Vec<_> = (0..size).map(|i| object(i, 1).metadata).map(|m| (m.namespace.unwrap(), m.name.unwrap())).collect();
    let keys: Vec<ObjectRef<ConfigMap>> = names.iter().map(|(ns, name)| ObjectRef::new(name).within(ns)).collect();
    let mut held = vec![false; size];
    let add = |measure: &str, value: f64| println!("{measure}\t{size}\t{value}");
    let mut random = Random(7);
    let mut at_hand = |_| drop(black_box(reader.get(&keys[random.below(size)])));
    let mut random = Random(7);
    let mut built = |_| {
        let (namespace, name) = &names[random.below(size)];
        drop(black_box(reader.get(&ObjectRef::new(name).within(namespace))));
    };
    add("get, key at hand, ns", per_call(time, &mut at_hand, 64));
    add("get, key built for the call, ns", per_call(time, &mut built, 64));
    let start = Instant::now();
    add("writes/s, alone", write(&mut writer, &states, &mut held, || start.elapsed() >= time));
    let stop = AtomicBool::new(false);
    let mut beside = |call: &mut (dyn FnMut(usize) + Send), batch| {
        stop.store(false, Relaxed);
        thread::scope(|scope| {
            let writing = scope.spawn(|| write(&mut writer, &states, &mut held, || stop.load(Relaxed)));
            let value = per_call(time, call, batch);
            stop.store(true, Relaxed);
            (value, writing.join().unwrap())
        })
    };
    let (ns, writes) = beside(&mut at_hand, 64);
    add("get beside a writer, key at hand, ns", ns);
    add("writes/s beside get", writes);
    add("get beside a writer, key built for the call, ns", beside(&mut built, 64).0);
    let (ns, writes) = beside(&mut |_| drop(black_box(reader.state())), 1);
    add("snapshot beside a writer, ns", ns);
    add("writes/s beside snapshots", writes);
}
