//! What the `metrics` facade is told, and that the documentation and the dashboard speak of exactly that.

use crate::objects::config_map;
use futures::StreamExt;
use listwatch::{
    DecodeError, Error, Status, Unreadable, UnreadableAs,
    source::{ListWatch, WireEvent},
    testing::{ScriptedApi, Step},
};
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit,
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

/// What a recorder is told of one metric.
#[derive(Clone, Debug, Default)]
struct Told {
    kind: &'static str,
    described: bool,
    /// The last value of a gauge, the sum of the others.
    value: Option<f64>,
    records: u64,
}

/// Notes everything by name, for streams named `maps`.
#[derive(Clone, Default)]
struct Noted(Arc<Mutex<BTreeMap<String, Told>>>);

struct Cell(Noted, String);

impl Cell {
    fn edit(&self, edit: impl FnOnce(&mut f64)) {
        let mut told = self.0.0.lock().unwrap();
        let told = told.entry(self.1.clone()).or_default();
        told.records += 1;
        edit(told.value.get_or_insert_default());
    }
}
impl CounterFn for Cell {
    fn increment(&self, value: u64) {
        self.edit(|sum| *sum += value as f64);
    }
    fn absolute(&self, value: u64) {
        self.edit(|sum| *sum = value as f64);
    }
}
impl GaugeFn for Cell {
    fn increment(&self, value: f64) {
        self.edit(|sum| *sum += value);
    }
    fn decrement(&self, value: f64) {
        self.edit(|sum| *sum -= value);
    }
    fn set(&self, value: f64) {
        self.edit(|sum| *sum = value);
    }
}
impl HistogramFn for Cell {
    fn record(&self, value: f64) {
        self.edit(|sum| *sum += value);
    }
}
impl Noted {
    fn cell(&self, key: &Key, kind: &'static str) -> Arc<Cell> {
        let labels: Vec<_> = key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        assert_eq!(labels, ["name=maps", "resource="]);
        self.0.lock().unwrap().entry(key.name().to_owned()).or_default().kind = kind;
        Arc::new(Cell(self.clone(), key.name().to_owned()))
    }

    fn describe(&self, name: &KeyName, unit: Option<Unit>) {
        let in_seconds = name.as_str().ends_with("_seconds");
        assert_eq!(unit, in_seconds.then_some(Unit::Seconds), "{name:?}");
        self.0.lock().unwrap().entry(name.as_str().to_owned()).or_default().described = true;
    }
}
impl Recorder for Noted {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&name, unit);
    }
    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&name, unit);
    }
    fn describe_histogram(&self, name: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&name, unit);
    }
    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.cell(key, "counter"))
    }
    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.cell(key, "gauge"))
    }
    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.cell(key, "histogram"))
    }
}

/// A list, a watch that brings an object, one that does not decode and an error, and a watch that ends at once.
fn told() -> BTreeMap<String, Told> {
    let noted = Noted::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    metrics::with_local_recorder(&noted, || {
        runtime.block_on(async {
            let busy = WireEvent::Error(Error::from_event(Status::from_code(429)));
            let watch = [Ok(WireEvent::added(config_map("c", "8"))), Err(unreadable()), Ok(busy)];
            let api = ScriptedApi::new()
                .without_watch_list()
                .on_list("7", [config_map("a", "5"), config_map("b", "6")])
                .on_watch_steps(watch.map(Step::Item))
                .on_watch([])
                .on_watch([]);
            let _: Vec<_> = api.events().name("maps").take(9).collect().await;
        });
    });
    let told = noted.0.lock().unwrap();
    told.clone()
}

fn unreadable() -> Error {
    let object = Unreadable::new(UnreadableAs::Added, "ns", "d").with_identity("uid-d", "9");
    Error::unreadable(object, DecodeError::new("a number where text should be"))
}

/// The rows of the documented table: name and kind.
fn documented() -> BTreeMap<&'static str, &'static str> {
    let rows = include_str!("../../src/source/metrics.md").lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("| `")?.split_once("` | ")?;
        Some((name, rest.split_once(" | ")?.0))
    });
    rows.collect()
}

#[test]
fn the_facade_is_told_what_the_figures_gain() {
    let told = told();
    let value = |name: &str| told[name].value;
    assert_eq!(value("reflector_lists_total"), Some(1.0));
    assert_eq!(value("reflector_items_per_list"), Some(2.0));
    assert_eq!(value("reflector_watches_total"), Some(2.0));
    assert_eq!(value("reflector_items_per_watch"), Some(2.0));
    assert_eq!(told["reflector_watch_duration_seconds"].records, 2);
    assert_eq!(value("reflector_events_total"), Some(2.0));
    assert_eq!(value("reflector_errors_total"), Some(3.0));
    assert_eq!(value("reflector_skipped_objects_total"), Some(1.0));
    assert_eq!(value("reflector_last_resource_version"), Some(9.0));
    assert_eq!(value("reflector_short_watches_total"), Some(1.0));
}

#[test]
fn the_table_is_what_is_told() {
    let told = told();
    let seen: BTreeMap<_, _> = told.iter().map(|(name, told)| (name.as_str(), told.kind)).collect();
    assert_eq!(seen, documented());
    assert!(told.values().all(|told| told.described && told.value.is_some()), "{told:#?}");
}

#[test]
fn the_dashboard_queries_what_is_documented() {
    let dashboard: Value = serde_json::from_str(include_str!("../../examples/grafana.json")).expect("JSON");
    let mut queries = Vec::new();
    collect(&dashboard, &mut queries);
    assert!(queries.len() > 8, "{queries:#?}");
    let metrics = documented();
    let mut used = BTreeSet::new();
    for query in queries {
        for word in query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            if !word.starts_with("reflector_") {
                continue;
            }
            let part = ["_sum", "_count"].iter().find_map(|end| word.strip_suffix(end));
            let (name, histogram) = part.map_or((word, false), |name| (name, true));
            let kind = metrics.get(name).unwrap_or_else(|| panic!("{query}: no metric {word}"));
            assert_eq!(*kind == "histogram", histogram, "{query}: {word} is of a {kind}");
            used.insert(name);
        }
    }
    assert_eq!(used, metrics.keys().copied().collect(), "every metric is on it");
    let panels = dashboard["panels"].as_array().expect("panels");
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64().expect("an id")).collect();
    assert_eq!(ids.len(), panels.len(), "each panel has an id of its own");
}

/// What panels ask Prometheus, and what the variables are filled from.
fn collect<'a>(value: &'a Value, queries: &mut Vec<&'a str>) {
    match value {
        Value::Object(map) => {
            queries.extend(["expr", "definition"].iter().filter_map(|name| map.get(*name)?.as_str()));
            map.values().for_each(|value| collect(value, queries));
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, queries)),
        _ => {}
    }
}
