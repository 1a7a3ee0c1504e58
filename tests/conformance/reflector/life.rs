//! R1 to R5, R11, R19, R29: when it begins, stops and replays.

use crate::play::{MS, S, added, api, cm, during, held, mirror, until, without_watch_list};
use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Change, Error, Event, EventStreamExt, Fold, Recovery, Status, Store,
    source::{Body, ListBody, ListMeta, ListParams, ListPart, ListWatch, WatchBody, WatchParams, WireEvent},
};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Lists nothing at version 1; its watches are channels, as client-go's fake ones are: accepting an event means that
/// it was read, and a stopped stream accepts none.
#[derive(Clone, Default)]
struct Channels(Arc<Mutex<Vec<Sender>>>);

type Sender = mpsc::Sender<Result<WireEvent<ConfigMap>, Error>>;

impl Channels {
    fn opened(&self) -> Vec<Sender> {
        self.0.lock().unwrap().clone()
    }
}

impl ListWatch for Channels {
    type Object = ConfigMap;
    async fn list_page(&self, _: ListParams) -> Result<ListBody<ConfigMap>, Error> {
        Ok(Body::new(stream::iter([Ok(ListPart::Meta(ListMeta::new("1")))])))
    }
    async fn open_watch(&self, _: WatchParams) -> Result<WatchBody<ConfigMap>, Error> {
        let (sender, mut receiver) = mpsc::channel(1);
        self.0.lock().unwrap().push(sender);
        Ok(Body::new(stream::poll_fn(move |cx| receiver.poll_recv(cx))))
    }
    fn supports_watch_list(&self) -> bool {
        false
    }
}

#[tokio::test(start_paused = true)]
async fn r01_an_error_event_closes_the_watch_also_where_it_carries_no_status() {
    let source = Channels::default();
    let mut events = source.clone().events();
    until(&mut events, "watching 1").await;
    let stream = source.opened()[0].clone();
    stream.send(Ok(WireEvent::Error(Error::from_event(Status::default())))).await.unwrap();
    let error = events.next().await.unwrap().unwrap_err();
    assert_eq!(error.recovery(), Recovery::Relist);
    assert!(stream.is_closed());
}

#[tokio::test(start_paused = true)]
async fn r02_it_runs_until_it_is_cancelled() {
    let (source, token, store) = (Channels::default(), CancellationToken::new(), Store::new());
    let changes = mirror(source.clone().events(), &store).until(token.clone());
    let run = tokio::spawn(changes.for_each(|_| async {}));
    tokio::time::sleep(S).await;
    let stream = source.opened()[0].clone();
    stream.send(Ok(added("bar@2"))).await.unwrap();
    tokio::time::sleep(MS).await;
    assert_eq!(held(&store), "bar@2", "the event was read");
    token.cancel();
    run.await.unwrap();
    assert!(stream.is_closed());
    assert!(stream.send(Ok(added("baz@3"))).await.is_err(), "no further event is accepted");
    assert_eq!(source.opened().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn r03_the_resync_timer_fires() {
    let (store, start) = (Store::new(), tokio::time::Instant::now());
    let events = without_watch_list().on_list("1", [cm("a@1")]).events();
    let mut changes = events.resync(MS).reflect(&store);
    until(&mut changes, "resynced a@1").await;
    assert!(start.elapsed() <= MS * 3, "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn r04_cancelled_before_it_began_it_asks_nothing() {
    let (api, token) = (api(), CancellationToken::new());
    token.cancel();
    let mut watch = api.clone().watch_from("1").unwrap().until(token.clone());
    assert!(watch.next().await.is_none());
    let mut events = api.clone().events().until(token);
    assert!(events.next().await.is_none());
    assert!(api.calls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn r05_cancelled_while_it_watches_it_stops_the_one_stream_it_made() {
    let (source, token) = (Channels::default(), CancellationToken::new());
    let mut watch = source.clone().watch_from("1").unwrap().until(token.clone());
    let cancel = async {
        tokio::time::sleep(MS * 10).await;
        token.cancel();
    };
    let (told, ()) = tokio::join!(during(&mut watch, S * 100), cancel);
    assert_eq!(told, ["over"]);
    assert_eq!(source.opened().len(), 1);
    drop(watch);
    assert!(source.opened()[0].is_closed());
}

#[tokio::test(start_paused = true)]
async fn r11_cancelled_it_reads_no_event() {
    let token = CancellationToken::new();
    token.cancel();
    let events = stream::iter([Ok::<_, Error>(Event::added(cm("a@1")))]).chain(stream::pending());
    let mut events = Box::pin(events).until(token);
    assert!(futures::FutureExt::now_or_never(events.next()).expect("at once").is_none());
}

/// Fails at its second resync.
struct Resyncs(usize);
impl Fold<ConfigMap> for Resyncs {
    type Changes = Option<Change<ConfigMap>>;
    type Error = &'static str;
    fn fold(&mut self, event: Event<ConfigMap>) -> Result<Self::Changes, Self::Error> {
        if matches!(event, Event::Resync) {
            self.0 += 1;
            if self.0 == 2 {
                return Err("the second resync");
            }
        }
        Ok(match event {
            Event::Added(object) => Some(Change::Added { object, initial: false }),
            _ => None,
        })
    }
}

#[tokio::test(start_paused = true)]
async fn r19_a_resync_that_fails_is_an_item_and_the_watch_goes_on() {
    let source = Channels::default();
    let mut fold = Resyncs(0);
    let mut changes = source.clone().events().resync(MS).reflect(&mut fold);
    let error = changes.next().await.unwrap().unwrap_err();
    assert!(error.is_refused() && error.recovery() == Recovery::Skip, "{error:?}");
    source.opened()[0].send(Ok(added("a@2"))).await.unwrap();
    assert_eq!(until(&mut changes, "added a@2").await, ["added a@2"]);
    during(&mut changes, MS * 10).await;
    drop(changes);
    assert!(fold.0 > 2, "the timer goes on: {}", fold.0);
    assert_eq!(source.opened().len(), 1, "the same watch, no relist");
}

#[tokio::test(start_paused = true)]
async fn r29_the_watch_timeout_is_drawn_from_its_minimum_up_to_twice_that() {
    for (minimum, low, high) in [(None, 300, 600), (Some(1), 1, 2), (Some(1800), 1800, 3600)] {
        for _ in 0..20 {
            let api = without_watch_list().on_list("1", []);
            let mut events = api.clone().events();
            if let Some(minimum) = minimum {
                events = events.watch_timeout(S * minimum);
            }
            during(&mut events, MS).await;
            let asked = api.calls()[1].watch().expect("a watch").timeout_seconds();
            assert!((low..=high).contains(&asked), "{minimum:?}: {asked}");
        }
    }
}
