//! What is drawn, by a terminal that only remembers.

use super::{
    super::{table::Columns, tone::Tone, waits::Wait},
    Action, Model, draw,
};
use k8s_openapi::jiff::Timestamp;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use listwatch::{Change, Error, Event, Fold, IntoFold, Recovery, State, Status, Store, source::Stats};
use ratatui::{Terminal, backend::TestBackend, buffer::Buffer, style::Color};
use serde_json::json;
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

fn pod(name: &str, phase: &str) -> DynamicObject {
    let value = json!({
        "metadata": {"namespace": "shop", "name": name, "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"nodeName": "node-1"}, "status": {"phase": phase},
    });
    serde_json::from_value(value).expect("an object")
}

fn store(pods: impl IntoIterator<Item = DynamicObject>) -> Store<DynamicObject> {
    let store = Store::new();
    let mut fold = (&store).into_fold();
    let listed = pods.into_iter().map(Event::listed);
    for event in [Event::SnapshotStart].into_iter().chain(listed).chain([Event::SnapshotEnd("7".into())]) {
        fold.fold(event).expect("in order");
    }
    drop(fold);
    store
}

fn model(store: &Store<DynamicObject>) -> Model {
    let pods = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Pod"));
    let mut model = Model::new("pods", Columns::of(&pods, true));
    model.state = State::Live;
    model.show(&store.snapshot());
    model
}

fn drawn(model: &mut Model, now: Instant, width: u16, height: u16) -> (Vec<String>, Buffer) {
    let clock: Timestamp = "2026-01-01T00:01:30Z".parse().expect("a time");
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    terminal.draw(|frame| draw(frame, model, now, clock)).expect("drawn");
    let buffer = terminal.backend().buffer().clone();
    let lines = buffer.content.chunks(usize::from(width.max(1)));
    (lines.map(|cells| cells.iter().map(|cell| cell.symbol()).collect()).collect(), buffer)
}

fn words(line: &str) -> Vec<&str> {
    line.split(|c: char| c.is_whitespace() || "│║█┌┐".contains(c)).filter(|word| !word.is_empty()).collect()
}

/// The colour of the place where this text stands.
fn colour(lines: &[String], buffer: &Buffer, text: &str) -> Color {
    let (row, line) = lines.iter().enumerate().find(|(_, line)| line.contains(text)).expect("the text is there");
    let column = line[..line.find(text).expect("it is")].chars().count();
    buffer[(u16::try_from(column).expect("small"), u16::try_from(row).expect("small"))].fg
}

#[tokio::test(start_paused = true)]
async fn objects_with_status_and_age() {
    let store = store([pod("cart", "Running"), pod("search", "Failed"), pod("arch\x1b[2Jive", "Pending")]);
    let mut model = model(&store);
    let (lines, buffer) = drawn(&mut model, Instant::now(), 100, 30);
    assert!(lines[0].contains("pods   3 objects") && lines[0].contains(" live "), "{}", lines[0]);
    let table: Vec<_> = lines[8..12].iter().map(|line| words(line)).collect();
    assert_eq!(table[0], ["NAMESPACE", "NAME", "STATUS", "NODE", "AGE"]);
    assert_eq!(table[1], ["shop", "arch[2Jive", "Pending", "node-1", "90s"], "nothing controls the terminal");
    assert_eq!(table[2], ["shop", "cart", "Running", "node-1", "90s"]);
    assert_eq!(colour(&lines, &buffer, "Running"), Color::Green);
    assert_eq!(colour(&lines, &buffer, "Failed"), Color::Red);
    assert!(lines.iter().any(|line| line.contains("none")), "no errors");
}

#[tokio::test(start_paused = true)]
async fn filtered_as_one_types() {
    let store = store([pod("cart", "Running"), pod("search", "Failed"), pod("till", "Running")]);
    let mut model = model(&store);
    let mut types = |text: &str, expected: &[&str]| {
        text.chars().for_each(|letter| model.act(Action::Type(letter)));
        assert!(model.is_stale());
        model.show(&store.snapshot());
        let names: Vec<_> = model.shown.iter().filter_map(|pod| pod.metadata.name.as_deref()).collect();
        assert_eq!(names, expected);
    };
    types("RUN", &["cart", "till"]);
    types(" shop/t", &["till"]);
    let (lines, _) = drawn(&mut model, Instant::now(), 100, 30);
    assert!(lines[7].contains("1 of 3") && lines[7].contains("filter: RUN shop/t"), "{}", lines[7]);
    model.act(Action::Clear);
    model.show(&store.snapshot());
    assert_eq!(model.shown.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn the_stream_and_its_errors() {
    let (now, mut model) = (Instant::now(), model(&store([])));
    let busy = Error::from_status(Status::from_code(503)).with_recovery(Recovery::Relist);
    model.note(&Err(busy), now);
    model.note(&Err(Error::interrupted("cut").with_recovery(Recovery::Relist)), now);
    model.wait = Some(Wait { until: now + Duration::from_millis(1500), failures: 2 });
    let (lines, _) = drawn(&mut model, now, 100, 30);
    assert!(lines[2].contains("LIST in 1.5 s, after 2 failures"), "{}", lines[2]);
    let latest = lines.iter().position(|line| line.contains("cut")).expect("the second");
    assert!(lines[latest + 1].contains("503"), "the first is below it: {lines:#?}");

    model.wait = None;
    model.note(&Ok(Change::Synced { resource_version: "8".into(), initial: true }), now);
    let mut stats = Stats::default();
    (stats.last_version, stats.watches) = ("8".into(), 1);
    model.sample(stats, now);
    let (lines, _) = drawn(&mut model, now, 100, 30);
    assert!(lines[2].contains("WATCH from version 8"), "{}", lines[2]);
    assert!(lines[4].contains("1 watch,"), "{}", lines[4]);
}

#[tokio::test(start_paused = true)]
async fn events_of_each_second() {
    let (start, mut model) = (Instant::now(), model(&store([])));
    let mut at = |millis, events| {
        let mut stats = Stats::default();
        stats.events = events;
        model.sample(stats, start + Duration::from_millis(millis));
        model.seconds.iter().copied().collect::<Vec<_>>()
    };
    assert!(at(0, 100).is_empty());
    assert!(at(900, 104).is_empty());
    assert_eq!(at(1000, 107), [7]);
    assert_eq!(at(2100, 107), [7, 0]);
    assert_eq!(at(5000, 114), [7, 0, 3, 2, 2], "a pause of three seconds");
    let (lines, _) = drawn(&mut model, start, 100, 30);
    assert!(lines[1].contains("2 events/s, peak 7"), "{}", lines[1]);
    assert!(
        lines[2..6].iter().any(|line| line.trim_end_matches(['│', ' ']).ends_with(['▁', '▂', '▃', '▄'])),
        "{lines:#?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_change_is_marked_for_a_while() {
    let (now, mut model) = (Instant::now(), model(&store([pod("cart", "Running")])));
    let (old, new) = (Arc::new(pod("cart", "Pending")), Arc::new(pod("cart", "Running")));
    model.note(&Ok(Change::Updated { old, new: Arc::clone(&new) }), now);
    assert_eq!(model.mark(&new), Some(Tone::Changed));
    model.sample(Stats::default(), now + Duration::from_secs(3));
    assert_eq!(model.mark(&new), None);
}

#[tokio::test(start_paused = true)]
async fn any_size_of_terminal() {
    let mut model = model(&store((0..200).map(|number| pod(&format!("pod-{number:03}"), "Running"))));
    for (width, height) in [(1, 1), (0, 0), (20, 5), (80, 17), (80, 18), (300, 100)] {
        drawn(&mut model, Instant::now(), width, height);
    }
    let (lines, _) = drawn(&mut model, Instant::now(), 80, 10);
    assert_eq!(words(&lines[3])[1], "pod-000");
    model.act(Action::Page(1));
    model.act(Action::Scroll(1));
    let (lines, _) = drawn(&mut model, Instant::now(), 80, 10);
    assert_eq!(words(&lines[3])[1], "pod-006", "five fit");
    model.act(Action::Bottom);
    let (lines, _) = drawn(&mut model, Instant::now(), 80, 10);
    assert_eq!(words(&lines[7])[1], "pod-199");
    for _ in 0..3 {
        model.act(Action::Type('x'));
    }
    model.show(&store([]).snapshot());
    let (lines, _) = drawn(&mut model, Instant::now(), 80, 10);
    assert!(lines[1].contains("0 of 0"), "{}", lines[1]);
}
