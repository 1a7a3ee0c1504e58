use futures::{StreamExt, stream};
use listwatch::{Error, Event, EventStreamExt, Grammar, Raw, Recover, Recovery, testing};

fn listed() -> Event<Raw> {
    Event::listed(testing::raw("a", "1"))
}
fn end() -> Event<Raw> {
    Event::SnapshotEnd("1".into())
}
fn void() -> Error {
    Error::interrupted("cut")
}
fn skip() -> Error {
    Error::refused("no")
}

/// The names of what comes out; an error of validate's own is `"skipped"` or `"voids"`.
async fn names(items: impl IntoIterator<Item = Result<Event<Raw>, Error>>) -> Vec<&'static str> {
    let out: Vec<_> = stream::iter(items.into_iter().collect::<Vec<_>>()).validate().collect().await;
    let mut grammar = Grammar::Start;
    for item in &out {
        match item {
            Ok(event) => grammar.event(event).expect("what comes out keeps the grammar"),
            Err(error) => grammar.error(error.recovery()),
        }
    }
    let name = |item: &Result<Event<Raw>, Error>| match item {
        Ok(event) => event.name(),
        Err(error) if !error.is_grammar() => "err",
        Err(error) if error.recovery() == Recovery::Skip => "skipped",
        Err(_) => "voids",
    };
    out.iter().map(name).collect()
}

#[tokio::test]
async fn a_stream_that_keeps_the_grammar_passes() {
    let items = [
        Err(void()),
        Ok(Event::SnapshotStart),
        Ok(listed()),
        Err(skip()),
        Ok(Event::deleted(testing::raw("a", "2"))),
        Ok(end()),
        Ok(Event::Resync),
        Err(void()),
        Ok(Event::Bookmark("2".into())),
        Ok(Event::SnapshotStart),
        Err(void()),
        Err(skip()),
        Ok(Event::SnapshotStart),
        Ok(end()),
    ];
    let names = names(items).await;
    assert!(!names.contains(&"skipped") && !names.contains(&"voids") && names.len() == 14, "{names:?}");
}

#[tokio::test]
async fn an_event_out_of_place_is_left_out() {
    let names = names([
        Ok(listed()),
        Ok(end()),
        Ok(Event::SnapshotStart),
        Ok(Event::Resync),
        Ok(Event::added(testing::raw("a", "1"))),
        Ok(listed()),
        Err(void()),
        Ok(listed()),
        Ok(end()),
        Ok(Event::SnapshotStart),
        Ok(end()),
    ]);
    assert_eq!(
        names.await,
        [
            "skipped",
            "skipped",
            "snapshot_start",
            "skipped",
            "skipped",
            "listed",
            "err",
            "skipped",
            "skipped",
            "snapshot_start",
            "snapshot_end",
        ]
    );
}

#[tokio::test]
async fn a_snapshot_within_a_snapshot_voids_it() {
    let items = [Ok(Event::SnapshotStart), Ok(listed()), Ok(Event::SnapshotStart), Ok(listed()), Ok(end())];
    assert_eq!(names(items).await, ["snapshot_start", "listed", "voids", "snapshot_start", "listed", "snapshot_end"]);
    let items = [Ok(Event::SnapshotStart), Ok(Event::SnapshotStart)];
    assert_eq!(names(items).await, ["snapshot_start", "voids", "snapshot_start"], "also as the last item");
}

#[tokio::test]
async fn an_error_type_that_voids_is_heeded() {
    let items = [Ok(Event::SnapshotStart), Ok(Event::Resync), Ok(listed()), Ok(Event::SnapshotStart), Ok(listed())];
    let out: Vec<Result<Event<Raw>, String>> = stream::iter(items).validate().collect().await;
    assert_eq!(String::new().recovery(), Recovery::Resume);
    let ok: Vec<_> = out.iter().map(|item| item.as_ref().map_or("err", |event| event.name())).collect();
    assert_eq!(ok, ["snapshot_start", "err", "err", "snapshot_start", "listed"]);
}
