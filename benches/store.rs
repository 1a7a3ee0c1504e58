//! The store against kube-runtime's and client-go's, doing the same work in one run: `cargo bench --bench store`.
//!
//! The rivals are programs of their own `peers/store-*`, built on first use; one that cannot be built is left out.
//! Every program prints lines of `measure TAB objects TAB value`. Without `--bench` it only checks that it runs.

use futures::StreamExt;
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use listwatch::{Event, Fold, IntoFold, Store, store::StoreFold};
use std::{
    collections::BTreeMap,
    hint::black_box,
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

/// Set to `1000,100000` or the like.
const SIZES: &str = "STORE_BENCH_OBJECTS";

fn main() {
    let bench = std::env::args().any(|arg| arg == "--bench");
    let sizes = std::env::var(SIZES).unwrap_or_else(|_| if bench { "1000,100000,1000000" } else { "1000" }.into());
    let sizes: Vec<usize> = sizes.split(',').map(|size| size.parse().expect("a number of objects")).collect();
    let time = Duration::from_millis(if bench { 1000 } else { 20 });
    let mut table = Table::default();
    for &size in &sizes {
        table.add("listwatch", ours(size, time));
    }
    if bench {
        let list = sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers");
        let mut cargo = Command::new("cargo");
        cargo.args(["run", "-q", "--release"]).current_dir(peers.join("store-kube-runtime"));
        table.peer("kube-runtime", &mut cargo, &list);
        table.peer("client-go", Command::new("go").args(["run", "./store-client-go"]).current_dir(peers), &list);
    }
    table.print(&sizes);
}

#[derive(Default)]
struct Table {
    libraries: Vec<&'static str>,
    values: BTreeMap<(String, usize), BTreeMap<&'static str, f64>>,
}

type Figures = Vec<(String, usize, f64)>;

impl Table {
    fn add(&mut self, library: &'static str, figures: Figures) {
        if !self.libraries.contains(&library) {
            self.libraries.push(library);
        }
        for (measure, size, value) in figures {
            self.values.entry((measure, size)).or_default().insert(library, value);
        }
    }

    fn peer(&mut self, library: &'static str, command: &mut Command, sizes: &str) {
        match command.env(SIZES, sizes).output() {
            Ok(done) if done.status.success() => {
                let text = String::from_utf8_lossy(&done.stdout).into_owned();
                let figures = text.lines().filter_map(|line| {
                    let mut fields = line.split('\t');
                    Some((fields.next()?.to_string(), fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
                });
                self.add(library, figures.collect());
            }
            Ok(done) => eprintln!("{library} is left out:\n{}", String::from_utf8_lossy(&done.stderr)),
            Err(error) => eprintln!("{library} is left out: {error}"),
        }
    }

    fn print(&self, sizes: &[usize]) {
        print!("{:52}{:>9}", "", "objects");
        self.libraries.iter().for_each(|library| print!("{library:>16}"));
        println!();
        let mut measures: Vec<_> = self.values.keys().map(|(measure, _)| measure.clone()).collect();
        measures.dedup();
        for measure in measures {
            for &size in sizes {
                let Some(values) = self.values.get(&(measure.clone(), size)) else { continue };
                print!("{measure:52}{size:>9}");
                for library in &self.libraries {
                    match values.get(library) {
                        Some(value) => print!("{value:>16.0}"),
                        None => print!("{:>16}", "-"),
                    }
                }
                println!();
            }
        }
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

/// xorshift: the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

struct World {
    store: Store<ConfigMap>,
    keys: Vec<(String, String)>,
    /// Two states of each object; a write puts the one that is not held.
    states: [Vec<Arc<ConfigMap>>; 2],
}

impl World {
    fn new(size: usize) -> (Self, StoreFold<ConfigMap>) {
        let store = Store::new();
        let states = [1, 2].map(|version| (0..size).map(|i| Arc::new(object(i, version))).collect::<Vec<_>>());
        let keys = states[0].iter().map(|o| (o.metadata.namespace.clone().unwrap(), o.metadata.name.clone().unwrap()));
        let mut fold = (&store).into_fold();
        drop(fold.fold(Event::SnapshotStart));
        states[0].iter().for_each(|object| drop(fold.fold(Event::Listed(Arc::clone(object)))));
        drop(fold.fold(Event::SnapshotEnd("1".into())));
        (World { keys: keys.collect(), store, states }, fold)
    }

    /// Writes until told to stop; writes per second.
    fn write(&self, fold: &mut StoreFold<ConfigMap>, held: &mut [bool], stop: impl Fn() -> bool) -> f64 {
        let (mut random, mut writes, start) = (Random(9), 0u64, tokio::time::Instant::now());
        while !stop() {
            let i = random.below(held.len());
            held[i] = !held[i];
            let object = Arc::clone(&self.states[usize::from(held[i])][i]);
            fold.fold(Event::Modified(object)).expect("in place").for_each(drop);
            writes += 1;
        }
        writes as f64 / start.elapsed().as_secs_f64()
    }
}

/// Nanoseconds a call, over this time.
fn per_call(time: Duration, mut call: impl FnMut(usize)) -> f64 {
    let (start, mut calls) = (tokio::time::Instant::now(), 0usize);
    while start.elapsed() < time {
        for _ in 0..64 {
            call(calls);
            calls += 1;
        }
    }
    start.elapsed().as_nanos() as f64 / calls as f64
}

fn ours(size: usize, time: Duration) -> Figures {
    let (world, mut fold) = World::new(size);
    let (mut held, mut figures) = (vec![false; size], Figures::new());
    let mut add = |measure: &str, value| figures.push((measure.to_string(), size, value));
    let mut random = Random(7);
    let mut get = |_| {
        let (namespace, name) = &world.keys[random.below(size)];
        black_box(world.store.get((namespace.as_str(), name.as_str())).is_some());
    };
    let alone = per_call(time, &mut get);
    add("get, key at hand, ns", alone);
    add("get, key built for the call, ns", alone);
    let timed = |time: Duration| {
        let start = tokio::time::Instant::now();
        move || start.elapsed() >= time
    };
    add("writes/s, alone", world.write(&mut fold, &mut held, timed(time)));
    let stop = AtomicBool::new(false);
    let mut beside = |call: &mut (dyn FnMut(usize) + Send)| {
        stop.store(false, Relaxed);
        thread::scope(|scope| {
            let writer = scope.spawn(|| world.write(&mut fold, &mut held, || stop.load(Relaxed)));
            let value = per_call(time, call);
            stop.store(true, Relaxed);
            (value, writer.join().expect("the writer"))
        })
    };
    let (ns, writes) = beside(&mut get);
    add("get beside a writer, key at hand, ns", ns);
    add("get beside a writer, key built for the call, ns", ns);
    add("writes/s beside get", writes);
    let (ns, writes) = beside(&mut |_| drop(black_box(world.store.snapshot())));
    add("snapshot beside a writer, ns", ns);
    add("writes/s beside snapshots", writes);
    for (label, subscribers, stuck) in
        [("0", 0, 0), ("1 stuck", 1, 1), ("10, 1 of them stuck", 10, 1), ("1000, 1 of them stuck", 1000, 1)]
    {
        if size > 100_000 && subscribers > 10 {
            continue; // a thousand replays of a million objects are another measurement
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("a runtime");
        let mut stuck: Vec<_> = (0..stuck).map(|_| world.store.subscribe()).collect();
        stuck
            .iter_mut()
            .for_each(|s| runtime.block_on(async { s.by_ref().take(size + 1).for_each(async |_| {}).await }));
        let ready = Arc::new(tokio::sync::Semaphore::new(0));
        let moving = subscribers - stuck.len();
        for _ in 0..moving {
            let (mut changes, ready) = (world.store.subscribe(), Arc::clone(&ready));
            runtime.spawn(async move {
                changes.by_ref().take(size + 1).for_each(async |_| {}).await;
                ready.add_permits(1);
                changes.for_each(async |_| {}).await;
            });
        }
        drop(runtime.block_on(ready.acquire_many(moving as u32)));
        add(&format!("writes/s, subscribers: {label}"), world.write(&mut fold, &mut held, timed(time)));
        runtime.shutdown_background();
    }
    // What is replaced is freed on a runtime's blocking threads.
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let _entered = runtime.enter();
    let start = tokio::time::Instant::now();
    drop(fold.fold(Event::SnapshotStart));
    let states = (0..size).map(|i| Arc::new(object(i, 3))).collect::<Vec<_>>();
    let made = start.elapsed();
    states.into_iter().for_each(|object| drop(fold.fold(Event::Listed(object))));
    add("relist, all changed, ns an object", (start.elapsed() - made).as_nanos() as f64 / size as f64);
    let start = tokio::time::Instant::now();
    let changes = fold.fold(Event::SnapshotEnd("3".into()));
    add("relist, all changed: its end, us", start.elapsed().as_nanos() as f64 / 1000.0);
    let start = tokio::time::Instant::now();
    drop(changes);
    add("relist, all changed: dropping what it tells, us", start.elapsed().as_nanos() as f64 / 1000.0);
    figures
}
