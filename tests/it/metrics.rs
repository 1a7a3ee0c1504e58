//! What the `metrics` facade is told.

use crate::objects::config_map;
use futures::StreamExt;
use listwatch::{Error, Status, source::ListWatch, source::WireEvent, testing::ScriptedApi};
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// Notes each metric's last or summed value under its name, and the labels it came with.
#[derive(Clone, Default)]
struct Noted(Arc<Mutex<BTreeMap<String, f64>>>);

struct Cell(Noted, String);

impl Cell {
    fn edit(&self, edit: impl FnOnce(&mut f64)) {
        edit(self.0.0.lock().unwrap().entry(self.1.clone()).or_default());
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
    fn cell(&self, key: &Key) -> Arc<Cell> {
        let labels: Vec<_> = key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        assert_eq!(labels, ["name=maps", "resource="]);
        Arc::new(Cell(self.clone(), key.name().to_owned()))
    }
}
impl Recorder for Noted {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.cell(key))
    }
    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.cell(key))
    }
    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.cell(key))
    }
}

#[test]
fn the_facade_is_told_what_the_figures_gain() {
    let noted = Noted::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    metrics::with_local_recorder(&noted, || {
        runtime.block_on(async {
            let busy = WireEvent::Error(Error::from_event(Status::from_code(429)));
            let api = ScriptedApi::new()
                .without_watch_list()
                .on_list("7", [config_map("a", "5"), config_map("b", "6")])
                .on_watch([WireEvent::added(config_map("c", "8")), busy])
                .on_watch([]);
            let items = api.events().name("maps").take(7).count().await;
            assert_eq!(items, 7);
        });
    });
    let told = noted.0.lock().unwrap();
    let value = |name: &str| told.get(name).copied();
    assert_eq!(value("reflector_lists_total"), Some(1.0));
    assert_eq!(value("reflector_items_per_list"), Some(2.0));
    assert_eq!(value("reflector_watches_total"), Some(1.0));
    assert_eq!(value("reflector_events_total"), Some(1.0));
    assert_eq!(value("reflector_errors_total"), Some(1.0));
    assert_eq!(value("reflector_last_resource_version"), Some(8.0));
    assert_eq!(value("reflector_short_watches_total"), None);
}
